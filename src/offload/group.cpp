#include "offload/group.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "offload/elements.hpp"

namespace hocket::offload {

namespace {

bool is_shortage(int error) noexcept {
  return error == SHARP_COLL_EGROUP_ALLOC || error == SHARP_COLL_EQUOTA || error == SHARP_COLL_ELOCK_FAILED ||
         error == SHARP_COLL_ENO_RESOURCE;
}

/// A shortage only if there is nothing worse.
int worst(std::span<const int> errors) noexcept {
  int found = SHARP_COLL_SUCCESS;
  for (const int error : errors)
    if (error != SHARP_COLL_SUCCESS && (found == SHARP_COLL_SUCCESS || is_shortage(found))) found = error;
  return found;
}

const std::byte* at(const void* data, std::size_t offset) noexcept {
  return data ? static_cast<const std::byte*>(data) + offset : nullptr;
}

sharp_coll_data_desc described(const registration::Lease& memory, const std::byte* data,
                               std::size_t bytes) noexcept {
  sharp_coll_data_desc described{};
  described.type = SHARP_DATA_BUFFER;
  described.mem_type = SHARP_MEM_TYPE_HOST;
  described.buffer.ptr = const_cast<std::byte*>(data);  // SHARP has one kind of buffer for both
  described.buffer.length = bytes;
  described.buffer.mem_handle = memory.handle();
  return described;
}

}  // namespace

GroupOrReason Group::make(std::shared_ptr<Context> context, const Member& self, OutOfBand& members) {
  std::unique_ptr<Group> group(new Group(std::move(context), self));
  const Speaking speaking(group->members_, members);
  const int error = agree(members, self, group->init(), worst).value_or(SHARP_COLL_EOOB);
  if (error == SHARP_COLL_SUCCESS) return {std::move(group), error, {}, false};
  return {nullptr, error, group->context_->library->words_of(error), is_shortage(error)};
}

int Group::init() noexcept {
  sharp_coll_comm_init_spec spec{};
  spec.rank = self_.rank;
  spec.size = self_.size;
  spec.oob_ctx = &members_;
  sharp_coll_comm* comm = nullptr;
  const int error = sharp().comm_init(context_->handle, &spec, &comm);
  if (error == SHARP_COLL_SUCCESS) comm_ = comm;
  return error;
}

Group::~Group() {
  if (!is_broken()) break_up(SHARP_COLL_ERROR);
}

Status Group::post(const Aggregation& what, Request& request) noexcept {
  const bool combines = what.kind == Kind::allreduce || what.kind == Kind::reduce;
  const std::optional<Reduction> reduction = reduction_of(what.op, what.type);
  request.what_ = what;
  request.reduction_ = reduction.value_or(Reduction{});
  request.posted_ = 0;
  request.is_posted_ = false;
  request.error_ = error_;
  request.status_ = is_broken() ? Status::failed : Status::ok;
  if (is_broken() || (what.bytes == 0 && what.kind != Kind::barrier)) return request.status_;

  request.status_ = Status::pending;
  request.before_ = last_;
  request.behind_ = nullptr;
  (last_ ? last_->behind_ : first_) = &request;
  last_ = &request;
  if (!waiting_) waiting_ = &request;
  if (combines && !reduction) {
    break_up(SHARP_COLL_ENOT_SUPP);
  } else {
    hold_memory(request);
    post_waiting();
  }
  return request.status_;
}

Status Group::test(Request& request) noexcept {
  if (request.status_ != Status::pending) return request.status_;
  if (waiting_) make_room();
  post_waiting();
  if (request.status_ == Status::pending) look(request);
  return request.status_;
}

pollfd Group::alarm() const noexcept {
  pollfd alarm{-1, 0, 0};
  if (comm_ && sharp().alarm) sharp().alarm(comm_, &alarm);
  return alarm;
}

/// What is over of others keeps room, too, until it is taken.
void Group::make_room() noexcept {
  for (Request* one = first_; one && waiting_;) {
    Request& request = *one;
    one = one == waiting_ ? nullptr : one->behind_;
    look(request);
  }
}

void Group::look(Request& request) noexcept {
  take_parts(request);
  if (request.error_ != SHARP_COLL_SUCCESS)
    break_up(request.error_);
  else if (request.is_over())
    end(request, Status::ok);
}

/// Members post the same in the same order, whenever each of them comes to it.
void Group::post_waiting() noexcept {
  while (waiting_ && post_next_part(*waiting_))
    if (waiting_->is_posted_) waiting_ = waiting_->behind_;
}

/// False: not now, or the group is broken.
bool Group::post_next_part(Request& request) noexcept {
  void** const free = std::ranges::find(request.parts_, nullptr);
  if (free == request.parts_.end()) return false;
  const std::size_t bytes = std::min(request.what_.bytes - request.posted_, context_->longest_part);
  const int error = post_part(request, bytes, *free);
  if (error != SHARP_COLL_SUCCESS) {
    *free = nullptr;
    if (error != SHARP_COLL_ENO_RESOURCE || parts_on_the_way_ == 0) break_up(error);
    return false;
  }
  ++parts_on_the_way_;
  request.posted_ += bytes;
  request.is_posted_ = request.posted_ == request.what_.bytes;
  return true;
}

int Group::post_part(const Request& request, std::size_t bytes, void*& part) noexcept {
  switch (request.what_.kind) {
    case Kind::barrier:
      return sharp().do_barrier_nb(comm_, &part);
    case Kind::bcast:
      return post_bcast(request, bytes, part);
    default:
      return post_reduction(request, bytes, part);
  }
}

int Group::post_reduction(const Request& request, std::size_t bytes, void*& part) noexcept {
  const Aggregation& what = request.what_;
  const bool is_for_all = what.kind == Kind::allreduce;
  sharp_coll_reduce_spec spec{};
  spec.root = what.root;
  spec.sbuf_desc = described(request.source_, at(what.source, request.posted_), bytes);
  if (is_for_all || what.root == self_.rank)
    spec.rbuf_desc = described(request.target_, at(what.target, request.posted_), bytes);
  spec.dtype = request.reduction_.type;
  spec.op = request.reduction_.op;
  spec.tag_dtype = request.reduction_.tag_type;
  spec.length = bytes / request.reduction_.element_bytes;
  spec.aggr_mode = SHARP_AGGREGATION_NONE;
  if (is_for_all) return sharp().do_allreduce_nb(comm_, &spec, &part);
  return sharp().do_reduce_nb ? sharp().do_reduce_nb(comm_, &spec, &part) : SHARP_COLL_ENOT_SUPP;
}

int Group::post_bcast(const Request& request, std::size_t bytes, void*& part) noexcept {
  const Aggregation& what = request.what_;
  sharp_coll_bcast_spec spec{};
  spec.root = what.root;
  spec.buf_desc = what.root == self_.rank
                      ? described(request.source_, at(what.source, request.posted_), bytes)
                      : described(request.target_, at(what.target, request.posted_), bytes);
  spec.size = bytes;
  return sharp().do_bcast_nb ? sharp().do_bcast_nb(comm_, &spec, &part) : SHARP_COLL_ENOT_SUPP;
}

/// Registered memory is for whoever reads or writes it here.
void Group::hold_memory(Request& request) noexcept {
  Registrar* const registrar = context_->registrar.get();
  const Aggregation& what = request.what_;
  if (!registrar || what.kind == Kind::barrier) return;
  const bool is_root = what.root == self_.rank, is_bcast = what.kind == Kind::bcast;
  if (!is_bcast || is_root) request.source_ = registrar->lease(what.source, what.bytes);
  if (what.kind == Kind::allreduce || is_bcast != is_root)
    request.target_ = registrar->lease(what.target, what.bytes);
}

/// Those that are over.
void Group::take_parts(Request& request) noexcept {
  for (void*& part : request.parts_) {
    const int outcome = part ? sharp().req_test(part) : 0;
    if (outcome == 0) continue;
    sharp().req_free(part);
    part = nullptr;
    --parts_on_the_way_;
    if (outcome < 0) request.error_ = outcome;
  }
}

void Group::end(Request& request, Status status) noexcept {
  (request.before_ ? request.before_->behind_ : first_) = request.behind_;
  (request.behind_ ? request.behind_->before_ : last_) = request.before_;
  request.source_.end();
  request.target_.end();
  request.status_ = status;
  if (status != Status::ok && request.error_ == SHARP_COLL_SUCCESS) request.error_ = error_;
}

/// What has ended well by now has; the rest is let go, and ended by leaving the tree.
void Group::break_up(int error) noexcept {
  error_ = error;
  waiting_ = nullptr;
  for (Request* one = first_; one; one = one->behind_) let_go(*one);
  if (comm_) sharp().comm_destroy(comm_);
  comm_ = nullptr;
  while (first_) end(*first_, first_->error_ == SHARP_COLL_SUCCESS ? Status::ok : Status::failed);
}

void Group::let_go(Request& request) noexcept {
  take_parts(request);
  if (!request.is_over() && request.error_ == SHARP_COLL_SUCCESS) request.error_ = error_;
  for (void*& part : request.parts_) {
    if (part) sharp().req_free(part);
    part = nullptr;
  }
}

}  // namespace hocket::offload
