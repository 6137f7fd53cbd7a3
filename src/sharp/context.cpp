#include "sharp/context.hpp"

#include <algorithm>
#include <exception>

#include "base/clock.hpp"
#include "sharp/refusal.hpp"
#include "sharp/speech.hpp"
#include "sharp/waiting.hpp"

namespace hocket::sharp {

namespace {

/// For all that a switch is asked before it runs.
constexpr double longest_patience_seconds = 20;
/// For lost trees, all together: who makes a communicator has other ways to live than this one.
constexpr double patience_with_lost_seconds = 0.5;
/// So many times as long as a switch was waited for in vain it is left alone then: programs that make
/// communicators all the time go on meanwhile.
constexpr double rest_share = 5, longest_rest_seconds = 30;
/// So many bytes has the longest element; a tree that gives less is none for reductions.
constexpr std::uint32_t least_payload = 16;

}  // namespace

Context::Context(const sharp_coll_init_spec& spec) : spec_(spec) {
  const OutOfBand ranks(spec.oob_colls, spec.oob_ctx, spec.world_rank, spec.world_size);
  job_ = spec.job_id;
  ranks.broadcast(job_);
  enter_trees(ranks);
}

Context::~Context() {
  communicators_.clear();  // they leave through their trees
}

/// What hinders one rank is all ranks' verdict.
void Context::enter_trees(const OutOfBand& ranks) {
  Terms own;
  std::string words = "another rank is refused";
  try {
    own = own_terms(ranks);
  } catch (const Refusal& refusal) {
    own.error = refusal.code();
    words = refusal.what();
  } catch (const std::exception& error) {
    own.error = SHARP_COLL_EJOB_CREATE;
    words = error.what();
  }
  terms_ = ranks.agree(own, Terms::of_all);
  if (terms_.error != SHARP_COLL_SUCCESS) throw Refusal(static_cast<sharp_error_no>(terms_.error), words);
}

Terms Context::own_terms(const OutOfBand& ranks) {
  settings_ = Settings::from_environment(ranks.rank());
  if (settings_.places.empty()) throw Refusal(SHARP_COLL_ENOTREE, "HOCKET_SWITCH is not set");
  if (settings_.faults.job) throw Refusal(SHARP_COLL_EJOB_CREATE, "refused, as HOCKET_SHARP_FAULTS says");
  hello_.job = job_;
  hello_.rank = static_cast<std::uint32_t>(ranks.rank());
  hello_.size = static_cast<std::uint32_t>(ranks.size());
  std::vector<wire::Welcome> welcomes;
  for (const tcp::Place& place : settings_.places) {
    trees_.push_back(
        std::make_unique<Tree>(wire::enter(place, settings_.key, hello_, Deadline(patience_seconds()))));
    welcomes.push_back(trees_.back()->welcome());
  }
  const Terms terms = Terms::of(settings_, welcomes);
  if (terms.payload < least_payload || terms.operations_per_group == 0)
    throw Refusal(SHARP_COLL_ENO_RESOURCE, "the tree gives nothing to reduce with");
  return terms;
}

std::unique_lock<std::mutex> Context::guard() {
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  if (spec_.enable_thread_support != 0) lock.lock();
  return lock;
}

bool Context::progress() {
  bool has_news = false;
  for (const std::unique_ptr<Tree>& tree : trees_) has_news |= tree->progress();
  return has_news;
}

void Context::destroy(Communicator& communicator) {
  std::erase_if(communicators_, [&](const Made& one) { return one.get() == &communicator; });
}

void Context::suffer_faults(Communicator& communicator) {
  const Faults& faults = settings_.faults;
  for (std::uint32_t ms = 0; ms < faults.delay_ms; ++ms) sleep_ns(1'000'000);
  if (faults.disconnect_after && statistics_.requests - requests_before_ >= *faults.disconnect_after)
    communicator.tree().cut();
}

double Context::patience_seconds() const noexcept {
  const int timeout = spec_.config.coll_timeout;
  return timeout > 0 ? std::min<double>(timeout, longest_patience_seconds) : longest_patience_seconds;
}

std::vector<Tree*> Context::lost_trees() {
  std::vector<Tree*> lost;
  for (const std::unique_ptr<Tree>& tree : trees_)
    if (tree->is_lost()) lost.push_back(tree.get());
  return lost;
}

/// Other threads go on meanwhile.
void Context::reach_lost_trees() {
  std::vector<Tree*> lost;
  {
    const auto lock = guard();
    if (rests()) return;
    lost = lost_trees();
  }
  if (lost.empty()) return;
  const double began = monotonic_seconds();
  const Deadline end(patience_with_lost_seconds);
  for (Tree* const tree : lost) reach(*tree, end);
  const auto lock = guard();
  if (!lost_trees().empty()) rest_after(monotonic_seconds() - began);
}

void Context::rest_after(double seconds_in_vain) {
  rest_.emplace(std::min(rest_share * seconds_in_vain, longest_rest_seconds));
}

void Context::reach(Tree& tree, const Deadline& end) {
  try {
    wire::Admitted admitted = wire::enter(tree.place(), settings_.key, hello_, end);
    if (!terms_.are_kept_by(admitted.welcome)) throw Error("it gives less than it gave");
    const auto lock = guard();
    if (!tree.is_lost()) return;  // another thread was here
    tree.go_on_with(std::move(admitted));
    requests_before_ = statistics_.requests;
  } catch (const std::exception& error) {  // the others wait for this rank's verdict
    if (!hides_errors()) say_error("a lost switch", SHARP_COLL_ECONN_TREE, error.what());
  }
}

/// Nothing: there was no answer in time.
std::optional<int> Context::answer(const std::function<std::optional<int>()>& ask) {
  for (const Deadline end(patience_seconds()); !end.passed();) {
    {
      const auto lock = guard();
      progress();
      if (const std::optional<int> found = ask()) return found;
    }
    await_news(*this, 0.1);
  }
  return std::nullopt;
}

}  // namespace hocket::sharp
