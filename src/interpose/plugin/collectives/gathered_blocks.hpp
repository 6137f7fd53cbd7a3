// What gather, allgather and their v-forms have in common: the own block in, one block per rank out, on one
// rank or on all.
#pragma once

#include "interpose/plugin/collectives/aliases.hpp"
#include "interpose/plugin/collectives/sides.hpp"
#include "interpose/plugin/handles/used_handles.hpp"

namespace hocket::interpose {

template <class Blocks>
class GatheredBlocks {
 public:
  /// `collective`: gather or allgather.
  GatheredBlocks(Communicator& c, Sides& sides, Function function, ir::Collective collective)
      : c_(c), sides_(sides) {
    call_.function = function;
    call_.collective = collective;
  }

  /// False: leave the call to the MPI. `received` means nothing where nothing is received. Allgather has no
  /// root.
  template <class Sent, class Received>
  bool prepare(const Sent& sent, const Received& received, int root = 0) {
    call_.root = root;
    receives_ = !is_rooted() || c_.rank == root;
    in_place_ = sent.buffer == MPI_IN_PLACE;
    if (!is_rank(c_, call_.root) || (in_place_ && !receives_)) return false;
    if (receives_ && (!all_.open(received, c_, sides_.received) || !all_.is_there())) return false;
    if (in_place_)
      own_ = all_.block(c_.rank);
    else if (!own_.open(sent, c_, sides_.sent) || !own_.is_there())
      return false;
    if (receives_ && (!fits() || (are_alike(sent, received) && is_aliased()))) return false;
    describe_sizes();
    return true;
  }

  const Call& call() const { return call_; }
  /// The data lie in the program's buffers as they are, each in its own.
  bool is_plain() const { return !in_place_ && own_.is_plain() && (!receives_ || all_.is_plain()); }
  UsedHandles handles() const { return {{own_.used_type(), all_.used_type()}}; }
  void pack() {
    call_.output = receives_ ? all_.landing(sides_.received.image) : nullptr;
    call_.in_place = receives_ && own_.is_plain() && all_.is_plain() && own_.buffer == all_.place(c_.rank);
    call_.input = call_.in_place ? call_.output : own_.packed(sides_.sent.image);
  }
  int deliver() const { return receives_ ? all_.deliver(call_.output) : MPI_SUCCESS; }

 private:
  bool is_rooted() const { return call_.collective == ir::Collective::gather; }

  bool fits() const { return all_.block_bytes(c_.rank) == own_.bytes(); }

  /// MPICH compares the buffers in gather, the own block's places elsewhere.
  bool is_aliased() const {
    const int compared = is_rooted() && Blocks::are_equal ? 0 : c_.rank;
    return !in_place_ && is_aliased_error(own_.buffer, all_.place(compared), own_.bytes());
  }

  void describe_sizes() {
    call_.own_bytes = own_.bytes();
    if constexpr (Blocks::are_equal) {
      call_.agreed_bytes = call_.output_blocks.size = own_.bytes();
    } else if (receives_) {
      call_.output_blocks = all_.blocks();
      call_.agreed_bytes = is_rooted() ? 0 : all_.bytes();
    }
  }

  Communicator& c_;
  Sides& sides_;
  bool receives_ = false;
  bool in_place_ = false;
  Block own_;
  Blocks all_;
  Call call_;
};

}  // namespace hocket::interpose
