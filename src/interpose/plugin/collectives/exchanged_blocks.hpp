// What alltoall and alltoallv have in common: one block per rank in, and one out.
#pragma once

#include "interpose/plugin/collectives/aliases.hpp"
#include "interpose/plugin/collectives/sides.hpp"
#include "interpose/plugin/handles/used_handles.hpp"

namespace hocket::interpose {

template <class Blocks>
class ExchangedBlocks {
 public:
  ExchangedBlocks(Communicator& c, Sides& sides, Function function) : c_(c), sides_(sides) {
    call_.function = function;
    call_.collective = ir::Collective::alltoall;
  }

  /// False: leave the call to the MPI.
  template <class Given>
  bool prepare(const Given& sent, const Given& received) {
    in_place_ = sent.buffer == MPI_IN_PLACE;
    const Given& source = in_place_ ? received : sent;
    if (!to_all_.open(source, c_, sides_.sent) || !to_all_.is_there()) return false;
    if (!from_all_.open(received, c_, sides_.received) || !from_all_.is_there()) return false;
    if (to_all_.block_bytes(c_.rank) != from_all_.block_bytes(c_.rank)) return false;
    if (!in_place_ && are_alike(sent, received) &&
        is_aliased_error(sent.buffer, received.buffer, to_all_.bytes()))
      return false;
    describe_sizes();
    return true;
  }

  const Call& call() const { return call_; }
  /// The data lie in the program's buffers as they are, each in its own.
  bool is_plain() const { return !in_place_ && to_all_.is_plain() && from_all_.is_plain(); }
  UsedHandles handles() const { return {{to_all_.used_type(), from_all_.used_type()}}; }
  void pack() {
    call_.input = to_all_.packed(sides_.sent.image);
    call_.output = from_all_.landing(sides_.received.image);
    // Blocks of unequal places may share a buffer without being the same ones.
    call_.in_place = call_.input == call_.output && (in_place_ || Blocks::are_equal);
  }
  int deliver() const { return from_all_.deliver(call_.output); }

 private:
  void describe_sizes() {
    call_.input_blocks = to_all_.blocks();
    call_.output_blocks = from_all_.blocks();
    if constexpr (Blocks::are_equal) call_.agreed_bytes = call_.own_bytes = call_.input_blocks.size;
  }

  Communicator& c_;
  Sides& sides_;
  bool in_place_ = false;
  Blocks to_all_, from_all_;
  Call call_;
};

}  // namespace hocket::interpose
