// What scatter and scatterv have in common: one block per rank in, on one rank, and the own block out.
#pragma once

#include "interpose/plugin/collectives/aliases.hpp"
#include "interpose/plugin/collectives/sides.hpp"
#include "interpose/plugin/handles/used_handles.hpp"

namespace hocket::interpose {

template <class Blocks>
class ScatteredBlocks {
 public:
  ScatteredBlocks(Communicator& c, Sides& sides, Function function) : c_(c), sides_(sides) {
    call_.function = function;
    call_.collective = ir::Collective::scatter;
  }

  /// False: leave the call to the MPI. `sent` means nothing where nothing is sent.
  template <class Sent, class Received>
  bool prepare(const Sent& sent, const Received& received, int root) {
    call_.root = root;
    sends_ = c_.rank == root;
    in_place_ = received.buffer == MPI_IN_PLACE;
    if (!is_rank(c_, call_.root) || (in_place_ && !sends_)) return false;
    if (sends_ && (!all_.open(sent, c_, sides_.sent) || !all_.is_there())) return false;
    if (in_place_)
      own_ = all_.block(c_.rank);
    else if (!own_.open(received, c_, sides_.received) || !own_.is_there())
      return false;
    if (sends_ && (!fits() || (are_alike(sent, received) && is_aliased()))) return false;
    describe_sizes();
    return true;
  }

  const Call& call() const { return call_; }
  /// The data lie in the program's buffers as they are, each in its own.
  bool is_plain() const { return !in_place_ && own_.is_plain() && (!sends_ || all_.is_plain()); }
  UsedHandles handles() const { return {{own_.used_type(), all_.used_type()}}; }
  void pack() {
    call_.in_place = in_place_;
    call_.input = sends_ ? all_.packed(sides_.sent.image) : nullptr;
    call_.output = in_place_ ? const_cast<void*>(call_.input) : own_.landing(sides_.received.image);
  }
  int deliver() const { return in_place_ ? MPI_SUCCESS : own_.deliver(call_.output); }

 private:
  bool fits() const { return all_.block_bytes(c_.rank) == own_.bytes(); }

  /// MPICH compares the buffers in scatter, the own block's places in scatterv.
  bool is_aliased() const {
    const int compared = Blocks::are_equal ? 0 : c_.rank;
    return !in_place_ && is_aliased_error(all_.place(compared), own_.buffer, own_.bytes());
  }

  void describe_sizes() {
    call_.own_bytes = own_.bytes();
    if constexpr (Blocks::are_equal)
      call_.agreed_bytes = call_.input_blocks.size = own_.bytes();
    else if (sends_)
      call_.input_blocks = all_.blocks();
  }

  Communicator& c_;
  Sides& sides_;
  bool sends_ = false;
  bool in_place_ = false;
  Block own_;
  Blocks all_;
  Call call_;
};

}  // namespace hocket::interpose
