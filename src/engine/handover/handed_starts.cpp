#include "engine/handover/handed_starts.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "engine/call_kind.hpp"
#include "engine/fingerprint.hpp"

namespace hocket::engine::handover {

namespace {

/// Of the ranks' own messages, instead of a persistent request's number: there are not that many.
constexpr std::uint32_t alone = ~std::uint32_t{0};

/// A worker that cannot be told anything has gone.
class Gone final : public Error {
 public:
  using Error::Error;
};

}  // namespace

HandedStarts::HandedStarts(std::unique_ptr<Employer> employer, Client& client, std::uint32_t request)
    : employer_(std::move(employer)),
      client_(client),
      id_(id_of_starts(employer_->id(), request)),
      alone_id_(id_of_starts(id_, alone)) {
  employer_->registry().add(*this);
}

/// Whoever frees a communicator has waited for what was under way.
HandedStarts::~HandedStarts() {
  employer_->registry().remove(*this, sequence_.last_start());
  if (communicator_ != 0) client_.try_to_tell(Close{communicator_});
}

void HandedStarts::tell(const Bytes& command) {
  if (!client_.tell(command)) throw Gone(client_.trouble());
}

void HandedStarts::open() {
  if (communicator_ != 0) return;
  const std::uint32_t number = client_.next_number();
  const std::span<const Rank> members = employer_->members();
  Open command{number, id_, employer_->rank(), {members.begin(), members.end()}};
  if (const passes::Neighbourhood* near = employer_->near()) {
    command.rows = static_cast<std::uint32_t>(near->rows());
    for (std::size_t row = 0; row < near->rows(); ++row)
      std::ranges::copy(near->groups(row), std::back_inserter(command.groups));
    std::ranges::copy(near->sockets(), std::back_inserter(command.sockets));
  }
  tell(encode(command));
  communicator_ = number;
}

void HandedStarts::forget_oldest() {
  const Known& oldest = recent_.back();
  tell(encode(Forget{oldest.number}));
  by_hash_.erase(oldest.hash);
  recent_.pop_back();
}

std::uint32_t HandedStarts::remember(std::uint64_t hash, Bytes definition, Define& define) {
  if (recent_.size() >= most_known) forget_oldest();
  define.number = client_.next_number();
  const Bytes command = encode(define);
  if (!client_.share_memory()) throw Gone(client_.trouble());
  tell(command);
  employer_->report().count_handed_buffers(command.size());
  recent_.push_front({hash, std::move(definition), define.number});
  by_hash_[hash] = recent_.begin();
  return define.number;
}

/// All that the worker is told of a call, but for its number, is compared: addresses, sizes, tables.
std::uint32_t HandedStarts::number_of(const Prepared& prepared, const Call& call) {
  Define define;
  define.communicator = communicator_;
  if (!prepared.path.handed) throw Error("a call that is not handed over");
  define.recipe = prepared.path.handed->text;
  define.copies_input = prepared.path.copies_input;
  define.words = words_of(CallMark::of(prepared.kind));
  if (!describe(call, static_cast<Rank>(employer_->members().size()), define))
    throw Error("the program's own operation cannot be handed over");
  Bytes definition = encode(define);
  const std::uint64_t hash =
      hash_of(std::string_view(reinterpret_cast<const char*>(definition.data()), definition.size()));
  if (const auto found = by_hash_.find(hash); found != by_hash_.end()) {
    if (found->second->definition == definition) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return found->second->number;
    }
    tell(encode(Forget{found->second->number}));
    recent_.erase(found->second);
    by_hash_.erase(found);
  }
  return remember(hash, std::move(definition), define);
}

HandedOperation& HandedStarts::unused() {
  if (unused_.empty()) {
    operations_.push_back(std::make_unique<HandedOperation>(*this));
    unused_.reserve(operations_.size());
    unused_.push_back(operations_.back().get());
  }
  HandedOperation& operation = *unused_.back();
  unused_.pop_back();
  return operation;
}

SpreadOperation& HandedStarts::unused_alone() {
  if (unused_alone_.empty()) {
    alone_.push_back(
        std::make_unique<SpreadOperation>(employer_->ground(), alone_id_, nullptr, &unused_alone_));
    unused_alone_.reserve(alone_.size());
    unused_alone_.push_back(alone_.back().get());
  }
  SpreadOperation& operation = *unused_alone_.back();
  unused_alone_.pop_back();
  return operation;
}

/// The same schedule that the worker runs.
Path HandedStarts::path_alone(const Prepared& prepared, const Call& call) {
  Path path;
  const auto ranks = static_cast<Rank>(employer_->members().size());
  path.plan =
      plans_.get(prepared.path.handed.value_or(Handed{}).recipe,
                 request_of(prepared.kind, call.collective, ranks, employer_->rank()), employer_->near());
  path.copies_input = prepared.path.copies_input;
  return path;
}

void HandedStarts::hand_over(HandedOperation& operation, const Prepared& prepared, const Call& call) try {
  if (takeover_) return operation.start_alone();
  open();
  if (!operation.start(number_of(prepared, call))) throw Gone(client_.trouble());
} catch (const Gone&) {
  if (!take_over()) throw;
}

Outstanding* HandedStarts::start(const Prepared& prepared, const Call& call) noexcept {
  const CallTurn turn{sequence_.next_start(), CallMark::of(prepared.kind)};
  sequence_.add(prepared.signature);
  try {
    HandedOperation& operation = unused();
    operation.prepare(prepared, call, turn, sequence_.history);
    hand_over(operation, prepared, call);
    return &operation;
  } catch (const Error& error) {  // on this rank alone: the others cannot know, unless they are told
    employer_->fail(error.what());
  } catch (...) {
    employer_->fail(turn, Status::no_memory);
  }
  return nullptr;
}

void HandedStarts::report_stall(const CallTurn& turn, std::uint64_t waited_ns) noexcept {
  const Host& host = employer_->host();
  if (!host.say || std::exchange(stall_is_reported_, true)) return;
  try {
    host.say(host.context, "call " + std::to_string(turn.counted()) + " of a communicator of " +
                               std::to_string(employer_->members().size()) +
                               " ranks has been with the node's worker for " +
                               std::to_string(waited_ns / 1'000'000'000U) + " s: rank " +
                               std::to_string(employer_->rank()) + ": " + turn.mark.text());
  } catch (...) {
    return;  // no memory for the message: the wait matters more
  }
}

bool HandedStarts::take_over() noexcept {
  if (takeover_) return true;
  if (employer_->hears_of_failure()) return false;
  if (takeover_) return true;  // another rank has just said so
  try {
    if (!employer_->goes_on_alone())
      throw Error((client_.is_well() ? "the worker of another node has gone" : client_.trouble()) +
                  ", and inside of this MPI's own calls nothing else goes on (HOCKET_PROGRESS=thread does)");
    takeover_ = std::make_unique<Takeover>(employer_->members().size());
    takeover_began_ns_ = monotonic_ns();
    say_what_has_ended();
    employer_->note_takeover();
    return true;
  } catch (const Error& error) {
    employer_->fail(error.what());
  } catch (...) {
    employer_->fail("no memory to go on without a worker");
  }
  return false;
}

void HandedStarts::say_what_has_ended() {
  Account account{sequence_.last_start(), {}};
  for (const auto& operation : operations_) {
    operation->withdraw();
    if (operation->is_unfinished()) account.unfinished.push_back(operation->number());
  }
  if (!employer_->network().notify(id_, employer_->members(), encode(account)))
    throw Error("a worker has gone, and the other ranks cannot be told");
  takeover_->hear(static_cast<std::size_t>(employer_->rank()), std::move(account));
}

void HandedStarts::hear(Rank from, const Account& account) noexcept {
  const auto members = employer_->members();
  const auto found = std::ranges::find(members, from);
  if (found == members.end() || !take_over()) return;
  try {
    takeover_->hear(static_cast<std::size_t>(found - members.begin()), account);
  } catch (...) {
    employer_->fail("no memory to go on without a worker");
  }
}

void HandedStarts::fail_for_silence() noexcept {
  try {
    const Rank silent = takeover_ ? takeover_->awaited() : -1;
    employer_->fail("a worker has gone, and " + (silent < 0 ? "a rank" : employer_->name_of(silent)) +
                    " has not said which operations have ended");
  } catch (...) {
    employer_->fail("a worker has gone");
  }
}

}  // namespace hocket::engine::handover
