// The one block that all ranks have in the end: bcast.
#pragma once

#include "interpose/plugin/collectives/sides.hpp"
#include "interpose/plugin/handles/used_handles.hpp"

namespace hocket::interpose {

class CommonBlock {
 public:
  CommonBlock(Communicator& c, Sides& sides) : c_(c), sides_(sides) {
    call_.function = Function::bcast;
    call_.collective = ir::Collective::bcast;
  }

  /// False: leave the call to the MPI.
  template <class N>
  bool prepare(const Part<N>& part, int root) {
    call_.root = root;
    sends_ = c_.rank == root;
    if (!is_rank(c_, root) || !block_.open(part, c_, side()) || !block_.is_there()) return false;
    call_.agreed_bytes = call_.own_bytes = block_.bytes();
    call_.in_place = true;
    return true;
  }

  const Call& call() const { return call_; }
  bool is_plain() const { return block_.is_plain(); }
  UsedHandles handles() const { return {{block_.used_type()}}; }
  void pack() {
    call_.output = sends_ ? const_cast<void*>(block_.packed(side().image)) : block_.landing(side().image);
    call_.input = call_.output;
  }
  int deliver() const { return sends_ ? MPI_SUCCESS : block_.deliver(call_.output); }

 private:
  Side& side() { return sends_ ? sides_.sent : sides_.received; }

  Communicator& c_;
  Sides& sides_;
  bool sends_ = false;
  Block block_;
  Call call_;
};

}  // namespace hocket::interpose
