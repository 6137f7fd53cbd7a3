// A communicator: a group of the tree, and the requests of this rank in it. Requests start in the order in
// which they were posted, and number their operations as they start: so all members number alike, whenever a
// verdict on the lock comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "sharp/operations.hpp"
#include "sharp/request.hpp"
#include "sharp/statistics.hpp"
#include "sharp/streaming_lock.hpp"
#include "sharp/terms.hpp"
#include "switch/wire/frames.hpp"

namespace hocket::sharp {

class Context;
class Tree;

class Communicator {
 public:
  struct Place {
    std::uint32_t group = 0;  ///< its number in the tree
    int rank = 0, size = 0;
  };

  Communicator(Context& context, Tree& tree, const Terms& terms, const Place& place);
  /// Leaves the group. It ends for all members if something is outstanding.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  Context& context() const noexcept { return context_; }
  Tree& tree() const noexcept { return tree_; }
  const Terms& terms() const noexcept { return terms_; }
  int rank() const noexcept { return place_.rank; }
  int size() const noexcept { return place_.size; }
  std::uint32_t group() const noexcept { return place_.group; }

  void join(std::uint64_t job);
  /// Asks, if it is not asked for.
  void ask_for_lock();
  /// The lock is never given: a fault.
  void refuse_locks() noexcept { refuses_locks_ = true; }
  /// SHARP's error of what was asked last, or success. Nothing: no answer yet.
  std::optional<int> verdict_on_joining() const noexcept;
  std::optional<int> verdict_on_lock() noexcept;

  /// 0: `request` is taken, and ends when it is over. Else SHARP's error: it is not.
  int post(std::unique_ptr<Request>& request);
  /// All that is outstanding ends with this error of SHARP's, and so does what is posted later.
  void fail(int error) noexcept;
  /// The same, and the other members are told: without this rank's part they would wait for ever.
  void give_up();

  // for the tree
  Operations& operations() noexcept { return operations_; }
  void landed(std::uint32_t operation, std::uint64_t up_to);
  void joined(wire::Error verdict) noexcept;
  void locked(wire::Error verdict);
  void lost(const wire::Failure& failure) noexcept;
  bool is_dead() const noexcept { return error_ != SHARP_COLL_SUCCESS; }
  /// It has something of the tree.
  bool is_in_tree() const noexcept { return !is_dead() && !has_been_left_; }

 private:
  enum class Decision : std::uint8_t { made, later, refused };

  bool is_idle() const noexcept { return waiting_.empty() && operations_.is_idle(); }
  void start_waiting();
  Decision decide(Request& request);
  bool needs_tree(const Request& request) const noexcept;
  bool wants_to_stream(const Request& request) const noexcept;
  void start_next_part(Request& request);
  void end(Request& request, int how) noexcept;

  Context& context_;
  Tree& tree_;
  Statistics& statistics_;
  const Terms terms_;
  const Place place_;
  Operations operations_;
  StreamingLock lock_;
  bool refuses_locks_ = false, has_joined_ = false;
  bool has_been_left_ = false;      ///< by a member: the tree does nothing for it any more
  int error_ = SHARP_COLL_SUCCESS;  ///< the group is dead
  std::deque<Request*> waiting_;    ///< not started, or only some of it; theirs who posted them
};

}  // namespace hocket::sharp
