// What allreduce, reduce, scan and exscan have in common: one vector in, one vector out, operands combined by
// an operation.
#pragma once

#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/packing.hpp"
#include "interpose/plugin/reductions.hpp"

namespace hocket::interpose {

class ReducedVector {
 public:
  ReducedVector(Communicator& c, Function function, ir::Collective collective) : c_(c) {
    call_.function = function;
    call_.collective = collective;
  }

  /// False: leave the call to the MPI. `receives`: this rank gets a result (else `out` means nothing).
  template <class N>
  bool prepare(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op, int root, bool receives) {
    if (count < 0 || !is_rank(c_, root) || !reducer_.prepare(c_, type, op)) return false;
    count_ = static_cast<std::size_t>(count);
    call_.root = root;
    call_.reduction = reducer_.reduction();
    call_.agreed_bytes = call_.own_bytes = count_ * reducer_.unit();
    return place(in, out, receives);
  }

  const Call& call() const { return call_; }

  bool is_plain() const { return !reducer_.packs(); }

  int deliver() const {
    if (!receives_ || !reducer_.packs()) return reducer_.result();
    const int code = interpose::deliver(call_.output, out_, elements());
    return reducer_.result() != MPI_SUCCESS ? reducer_.result() : code;
  }
  int result() const { return reducer_.result(); }

 private:
  Elements elements() const { return {reducer_.type(), count_, c_.handle}; }

  bool place(const void* in, void* out, bool receives) {
    const bool in_place = in == MPI_IN_PLACE;
    if (in_place && !receives) return false;
    if (receives && !in_place && is_aliased_error(in, out, call_.own_bytes)) return false;
    const void* source = in_place ? out : in;
    if (!reducer_.packs() &&
        (!is_buffer(source, call_.own_bytes) || (receives && !is_buffer(out, call_.own_bytes))))
      return false;
    receives_ = receives;
    out_ = out;
    if (reducer_.packs()) {
      call_.input = bytes_of(source, elements(), c_.sent.image);
      call_.output = receives ? landing(out, elements(), c_.received.image) : nullptr;
    } else {
      call_.input = source;
      call_.output = receives ? out : nullptr;
      call_.in_place = receives && source == out;
    }
    return true;
  }

  Communicator& c_;
  Call call_;
  Reducer reducer_;
  std::size_t count_ = 0;
  void* out_ = nullptr;
  bool receives_ = false;
};

}  // namespace hocket::interpose
