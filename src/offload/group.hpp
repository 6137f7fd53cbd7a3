// Some ranks of the job that let the network do something together, in the same order on each.
//
// A group belongs to one thread at a time. Nothing here waits, but for making a group; and nothing allocates.
#pragma once

#include <poll.h>

#include <cstddef>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "offload/aggregation.hpp"
#include "offload/context.hpp"
#include "offload/request.hpp"

namespace hocket::offload {

class Group;

/// The group, or why there is none: the same on all members.
struct GroupOrReason {
  std::unique_ptr<Group> group;
  int error = 0;
  std::string words;
  /// There may be room when other groups, of this job or of others, have gone.
  bool is_shortage = false;
};

class Group {
 public:
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Begins it. Ok: it is over already; pending: test() says more; failed. The request stays where it is
  /// while it is pending. What SHARP's library has no room for now is posted later, in order, by test() of
  /// any of the group's requests: so as many may be pending as one likes.
  Status post(const Aggregation& what, Request& request) noexcept;
  /// Goes on. Ok: the target has the result, and the source is free.
  ///
  /// A group of which one request failed is broken: it has left the tree, so that the other members fail,
  /// too. Nothing is pending any more: what was not over has failed, and no memory is touched. The same goes
  /// for a group that is destroyed.
  Status test(Request& request) noexcept;

  /// What poll(2) may wait for when a test has found nothing new. No descriptor (-1): nothing tells.
  pollfd alarm() const noexcept;

  bool is_broken() const noexcept { return comm_ == nullptr; }
  /// SHARP's; 0 while it is not broken.
  int error() const noexcept { return error_; }
  std::string words() const { return context_->library->words_of(error_); }

 private:
  friend class Tree;
  Group(std::shared_ptr<Context> context, const Member& self) noexcept
      : context_(std::move(context)), self_(self) {}
  static GroupOrReason make(std::shared_ptr<Context> context, const Member& self, OutOfBand& members);

  const Library::Functions& sharp() const noexcept { return context_->library->functions(); }
  int init() noexcept;

  void post_waiting() noexcept;
  bool post_next_part(Request& request) noexcept;
  int post_part(const Request& request, std::size_t bytes, void*& part) noexcept;
  int post_reduction(const Request& request, std::size_t bytes, void*& part) noexcept;
  int post_bcast(const Request& request, std::size_t bytes, void*& part) noexcept;
  void hold_memory(Request& request) noexcept;

  void make_room() noexcept;
  void look(Request& request) noexcept;
  void take_parts(Request& request) noexcept;
  void end(Request& request, Status status) noexcept;
  void break_up(int error) noexcept;
  void let_go(Request& request) noexcept;

  const std::shared_ptr<Context> context_;
  const Member self_;
  OutOfBandContext members_;
  sharp_coll_comm* comm_ = nullptr;
  int error_ = 0;
  int parts_on_the_way_ = 0;
  Request *first_ = nullptr, *last_ = nullptr;  ///< pending, in the order in which they were posted
  Request* waiting_ = nullptr;                  ///< the first that is not all posted
};

}  // namespace hocket::offload
