#include "sharp/context.hpp"

#include <algorithm>
#include <exception>

#include "base/clock.hpp"
#include "sharp/refusal.hpp"
#include "sharp/waiting.hpp"

namespace hocket::sharp {

namespace {

/// For all that a switch is asked before it runs.
constexpr double patience_seconds = 20;
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
  wire::Hello hello;
  hello.job = job_;
  hello.rank = static_cast<std::uint32_t>(ranks.rank());
  hello.size = static_cast<std::uint32_t>(ranks.size());
  std::vector<wire::Welcome> welcomes;
  for (const tcp::Place& place : settings_.places) {
    trees_.push_back(
        std::make_unique<Tree>(wire::enter(place, settings_.key, hello, Deadline(patience_seconds))));
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
  if (faults.disconnect_after && statistics_.requests >= *faults.disconnect_after) communicator.tree().cut();
}

/// Nothing: there was no answer in time.
std::optional<int> Context::answer(const std::function<std::optional<int>()>& ask) {
  for (const Deadline end(patience_seconds); !end.passed();) {
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
