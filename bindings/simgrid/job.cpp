#include "job.hpp"

#include <memory>
#include <string>
#include <unordered_map>

#include "base/error.hpp"

namespace hocket::bindings {

namespace {

namespace s4u = simgrid::s4u;
namespace simulated = executors::simulated;
using Kind = simulated::Step::Kind;
using simulated::Rank;

/// One rank as the simulated executor defines it: sends are eager and in order, receives are posted with
/// their round and awaited at its end.
class RankActor {
 public:
  RankActor(const Job& job, Rank rank, double& finish) : job_(job), rank_(rank), finish_(finish) {}

  void operator()() {
    for (const simulated::Round& round : trace().rounds) {
      for (std::uint32_t i = 0; i < round.repeats; ++i) run(round.end);
      begin_ = round.end;
    }
    finish_ = 1e9 * s4u::Engine::get_clock();
  }

 private:
  const simulated::Trace& trace() const { return job_.traces[static_cast<std::size_t>(rank_)]; }
  Rank ranks() const { return static_cast<Rank>(job_.traces.size()); }
  Rank peer(const simulated::Step& step) const {
    return static_cast<Rank>((std::int64_t{rank_} + step.distance) % ranks());
  }

  void run(std::uint32_t end) {
    std::vector<s4u::CommPtr> coming;
    double work = 0;
    for (std::uint32_t i = begin_; i < end; ++i)
      if (trace().steps[i].kind == Kind::recv) coming.push_back(post(trace().steps[i], work));
    for (std::uint32_t i = begin_; i < end; ++i) execute(trace().steps[i]);
    for (const auto& comm : coming) comm->wait();
    spend(work);
  }

  double overhead(const simulated::Step& step) const {
    return job_.network.between(rank_, peer(step)).at(step.amount).overhead(step.amount);
  }

  s4u::CommPtr post(const simulated::Step& step, double& work) {
    work += overhead(step);
    const Rank from = peer(step);
    auto& box = boxes_in_[from];
    if (!box) {
      box = mailbox(from, rank_);
      box->set_receiver(s4u::Actor::self());  // a message travels whether or not it is awaited
    }
    return box->get_async<void>(&nothing_);
  }

  void execute(const simulated::Step& step) {
    switch (step.kind) {
      case Kind::copy:
        return spend(static_cast<double>(step.amount) * job_.network.copy);
      case Kind::reduce:
        return spend(static_cast<double>(step.amount) * job_.network.reduce);
      case Kind::send:
        return send(step);
      case Kind::recv:
        return;
      case Kind::aggregate:
      case Kind::settle:
        throw Error("SimGrid knows messages only here, and this schedule needs switches that reduce");
      default:
        throw Error("SimGrid knows messages only, and this schedule needs memory that ranks share");
    }
  }

  void send(const simulated::Step& step) {
    spend(overhead(step));
    auto& box = boxes_out_[peer(step)];
    if (!box) box = mailbox(rank_, peer(step));
    box->put_init(&nothing_, step.amount)->detach();
  }

  static void spend(double ns) {
    if (ns > 0) s4u::this_actor::sleep_for(1e-9 * ns);
  }

  static s4u::Mailbox* mailbox(Rank from, Rank to) {
    return s4u::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
  }

  const Job& job_;
  Rank rank_;
  double& finish_;
  std::uint32_t begin_ = 0;
  void* nothing_ = nullptr;
  std::unordered_map<Rank, s4u::Mailbox*> boxes_in_, boxes_out_;
};

}  // namespace

void start(const Job& job, Times& times) {
  times.finish.assign(job.traces.size(), 0);
  for (std::size_t rank = 0; rank < job.traces.size(); ++rank)
    s4u::Actor::create("rank", job.hosts[rank], [&job, rank, &finish = times.finish[rank]] {
      RankActor(job, static_cast<Rank>(rank), finish)();
    });
}

void start_other(const std::vector<s4u::Host*>& hosts, std::uint64_t bytes) {
  for (std::size_t i = 0; i < hosts.size(); ++i)
    s4u::Actor::create("other", hosts[i], [hosts, i, bytes] {
      for (std::size_t places = 1;; places = places % (hosts.size() - 1) + 1)
        s4u::Comm::sendto(hosts[i], hosts[(i + places) % hosts.size()], bytes);
    })->daemonize();
}

}  // namespace hocket::bindings
