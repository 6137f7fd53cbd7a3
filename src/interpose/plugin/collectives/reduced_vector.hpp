// What allreduce, reduce, scan and exscan have in common: one vector in, one vector out, operands combined by
// an operation.
#pragma once

#include "interpose/plugin/collectives/aliases.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/packing.hpp"
#include "interpose/plugin/reductions.hpp"

namespace hocket::interpose {

class ReducedVector {
 public:
  ReducedVector(Communicator& c, Sides& sides, Function function, ir::Collective collective)
      : c_(c), sides_(sides) {
    call_.function = function;
    call_.collective = collective;
  }

  /// False: leave the call to the MPI. `receives`: this rank gets a result (else `out` means nothing).
  template <class N>
  bool prepare(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op, int root, bool receives) {
    if (count < 0 || !is_rank(c_, root) || !reducer_.prepare(c_, sides_, type, op)) return false;
    count_ = static_cast<std::size_t>(count);
    call_.root = root;
    call_.reduction = reducer_.reduction();
    call_.agreed_bytes = call_.own_bytes = count_ * reducer_.unit();
    in_place_ = in == MPI_IN_PLACE;
    source_ = in_place_ ? out : in;
    receives_ = receives;
    out_ = out;
    return are_buffers_right();
  }

  const Call& call() const { return call_; }

  bool is_plain() const { return !reducer_.packs(); }
  UsedHandles handles() const { return reducer_.handles(); }

  void pack() {
    if (reducer_.packs()) {
      call_.input = bytes_of(source_, elements(), sides_.sent.image);
      call_.output = receives_ ? landing(out_, elements(), sides_.received.image) : nullptr;
    } else {
      call_.input = source_;
      call_.output = receives_ ? out_ : nullptr;
      call_.in_place = receives_ && source_ == out_;
    }
  }

  int deliver() const {
    if (!has_result() || !reducer_.packs()) return reducer_.result();
    const int code = interpose::deliver(call_.output, out_, elements());
    return reducer_.result() != MPI_SUCCESS ? reducer_.result() : code;
  }

 protected:
  int own_rank() const { return c_.rank; }

 private:
  Elements elements() const { return {reducer_.type(), count_, c_.handle}; }

  /// Rank 0 of an in-place exscan has a buffer, which stays as it is.
  bool has_result() const {
    return receives_ && !(call_.collective == ir::Collective::exscan && c_.rank == 0);
  }

  bool are_buffers_right() const {
    if (in_place_ && !receives_) return false;
    if (receives_ && !in_place_ && is_aliased_error(source_, out_, call_.own_bytes)) return false;
    return reducer_.packs() ||
           (is_buffer(source_, call_.own_bytes) && (!receives_ || is_buffer(out_, call_.own_bytes)));
  }

  Communicator& c_;
  Sides& sides_;
  Call call_;
  Reducer reducer_;
  std::size_t count_ = 0;
  const void* source_ = nullptr;
  void* out_ = nullptr;
  bool in_place_ = false;
  bool receives_ = false;
};

}  // namespace hocket::interpose
