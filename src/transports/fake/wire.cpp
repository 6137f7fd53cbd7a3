#include "transports/fake/wire.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace hocket::transports::fake {

using ir::Rank;
using mpi::Port;

namespace {

constexpr Rank anybody = -1;

/// What a ticket, or a place that listens, waits for.
struct Completion {
  bool done = false;
  bool seen = false;  ///< by a look
  Rank from = anybody;
};

}  // namespace

struct Wire::Message {
  Rank from;
  std::uint32_t tag;
  const std::byte* data;            ///< the sender's, or
  std::vector<std::byte> buffered;  ///< what it has left behind
  std::size_t bytes;
  std::shared_ptr<Completion> sent;
};

struct Wire::Receive {
  Rank from;
  std::uint32_t tag;
  std::byte* data;
  std::size_t bytes;
  std::shared_ptr<Completion> received;
};

class Wire::WirePort final : public Port {
 public:
  WirePort(Wire& wire, Rank rank) : wire_(wire), rank_(rank) {}
  ~WirePort() override {
    const std::lock_guard lock(wire_.mutex_);
    wire_.receives_[static_cast<std::size_t>(rank_)].clear();
    drop([&](const Message& m) { return m.from == rank_; });
  }

  Rank rank() const noexcept override { return rank_; }
  Rank ranks() const noexcept override { return wire_.ranks_; }
  std::uint32_t last_tag() const noexcept override { return wire_.settings_.last_tag; }
  std::size_t longest_heard() const noexcept override { return wire_.settings_.longest_heard; }
  bool any_thread() const noexcept override { return true; }

  Status send(const void* data, std::size_t bytes, Rank to, std::uint32_t tag,
              Ticket& ticket) noexcept override {
    const std::lock_guard lock(wire_.mutex_);
    if (wire_.settings_.fail_after != 0 && ++wire_.sends_ > wire_.settings_.fail_after) return Status::failed;
    const auto* from = static_cast<const std::byte*>(data);
    Message message{rank_, tag, from, {}, bytes, std::make_shared<Completion>()};
    if (bytes <= wire_.settings_.buffered_bytes) {
      message.buffered.assign(from, from + bytes);
      message.sent->done = true;
      message.sent->seen = !wire_.delayed();  // as most have left at once
    }
    tickets_[ticket = ++last_ticket_] = message.sent;
    wire_.under_way_[static_cast<std::size_t>(to)].push_back(std::move(message));
    return Status::ok;
  }

  Status receive(void* data, std::size_t bytes, Rank from, std::uint32_t tag,
                 Ticket& ticket) noexcept override {
    const std::lock_guard lock(wire_.mutex_);
    tickets_[ticket = ++last_ticket_] = post(data, bytes, from, tag);
    return Status::ok;
  }

  Status look() noexcept override {
    const std::lock_guard lock(wire_.mutex_);
    ++wire_.looks_;
    wire_.match(rank_);
    bool has_seen = false;
    const auto see = [&](Completion& c) {
      if (c.seen || !c.done || wire_.delayed()) return;
      has_seen = c.seen = true;
    };
    for (const auto& [ticket, completion] : tickets_) see(*completion);
    for (const auto& listener : listening_)
      if (listener) see(*listener);
    return has_seen ? Status::ok : Status::pending;
  }

  Status test(Ticket ticket) noexcept override {
    if (!tickets_.at(ticket)->seen) return Status::pending;
    tickets_.erase(ticket);
    return Status::ok;
  }

  void abandon(Ticket ticket) noexcept override {
    const std::lock_guard lock(wire_.mutex_);
    const auto given_up = tickets_.at(ticket);
    wire_.receives_[static_cast<std::size_t>(rank_)].remove_if(
        [&](const Receive& r) { return r.received == given_up; });
    if (!wire_.settings_.reads_abandoned) drop([&](const Message& m) { return m.sent == given_up; });
    tickets_.erase(ticket);
  }

  Status listen(std::uint32_t place, void* data, std::size_t bytes) noexcept override {
    const std::lock_guard lock(wire_.mutex_);
    listening_[place] = post(data, bytes, anybody, 0);
    return Status::ok;
  }

  bool heard(std::uint32_t& place, Rank& from) noexcept override {
    for (place = 0; place < places; ++place) {
      if (!listening_[place] || !listening_[place]->seen) continue;
      from = listening_[place]->from;
      listening_[place].reset();
      return true;
    }
    return false;
  }

 private:
  std::shared_ptr<Completion> post(void* data, std::size_t bytes, Rank from, std::uint32_t tag) {
    auto received = std::make_shared<Completion>();
    wire_.receives_[static_cast<std::size_t>(rank_)].push_back(
        {from, tag, static_cast<std::byte*>(data), bytes, received});
    return received;
  }

  /// Messages that would have to be read from memory that may have gone.
  template <class Which>
  void drop(Which which) {
    for (auto& messages : wire_.under_way_)
      messages.remove_if([&](const Message& m) { return !m.sent->done && which(m); });
  }

  Wire& wire_;
  const Rank rank_;
  Ticket last_ticket_ = 0;
  std::map<Ticket, std::shared_ptr<Completion>> tickets_;
  std::array<std::shared_ptr<Completion>, places> listening_;
};

Wire::Wire(Rank ranks, const WireSettings& settings)
    : ranks_(ranks),
      settings_(settings),
      random_(settings.seed),
      under_way_(static_cast<std::size_t>(ranks)),
      receives_(static_cast<std::size_t>(ranks)) {}

Wire::~Wire() = default;

std::unique_ptr<Port> Wire::port(Rank rank) {
  return std::make_unique<WirePort>(*this, rank);
}

bool Wire::delayed() noexcept {
  return static_cast<double>(random_() >> 11U) * 0x1p-53 < settings_.delay;
}

/// Messages of one sender and tag are taken in their order, and meet receives in theirs; a message that is
/// delayed holds back those that must not overtake it.
void Wire::match(Rank receiver) {
  auto& messages = under_way_[static_cast<std::size_t>(receiver)];
  auto& receives = receives_[static_cast<std::size_t>(receiver)];
  std::map<std::pair<Rank, std::uint32_t>, bool> held;
  for (auto m = messages.begin(); m != messages.end();) {
    bool& is_held = held[{m->from, m->tag}];
    const auto r = std::ranges::find_if(receives, [&](const Receive& posted) {
      return posted.tag == m->tag && (posted.from == anybody || posted.from == m->from);
    });
    if (is_held || r == receives.end() || delayed()) {
      is_held = true;
      ++m;
      continue;
    }
    if (m->bytes != 0) std::memcpy(r->data, m->buffered.empty() ? m->data : m->buffered.data(), m->bytes);
    r->received->done = m->sent->done = true;
    r->received->from = m->from;
    receives.erase(r);
    m = messages.erase(m);
  }
}

}  // namespace hocket::transports::fake
