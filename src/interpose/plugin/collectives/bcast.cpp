#include "interpose/plugin/collectives/collectives.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/collectives/native.hpp"
#include "interpose/plugin/collectives/sides.hpp"

namespace hocket::interpose {

namespace {

/// The one block that all ranks have in the end.
class CommonBlock {
 public:
  CommonBlock(Communicator& c, int root) : c_(c), sends_(c.rank == root) {
    call_.function = Function::bcast;
    call_.collective = ir::Collective::bcast;
    call_.root = root;
  }

  /// False: leave the call to the MPI.
  template <class N>
  bool prepare(const Part<N>& part) {
    if (!is_rank(c_, call_.root) || !block_.open(part, c_, side()) || !block_.is_there()) return false;
    call_.agreed_bytes = call_.own_bytes = block_.bytes();
    call_.in_place = true;
    return true;
  }

  const Call& call() const { return call_; }
  bool is_plain() const { return block_.is_plain(); }
  void pack() {
    call_.output = sends_ ? const_cast<void*>(block_.packed(side().image)) : block_.landing(side().image);
    call_.input = call_.output;
  }
  int deliver() const { return sends_ ? MPI_SUCCESS : block_.deliver(call_.output); }

 private:
  Side& side() { return sends_ ? c_.sent : c_.received; }

  Communicator& c_;
  const bool sends_;
  Block block_;
  Call call_;
};

}  // namespace

template <class N>
int bcast(void* buffer, N count, MPI_Datatype type, int root, MPI_Comm comm) try {
  const auto native = HOCKET_NATIVE(Bcast, buffer, count, type, root, comm);
  Communicator* c = enter(comm, Function::bcast, HOCKET_RETURN_ADDRESS);
  if (!c) return native();
  const CallShape shape{.function = Function::bcast, .root = root, .count = count, .type = type};
  if (const Outcome outcome = buffer ? repeat(*c, shape, buffer, buffer, true) : Outcome::forgotten;
      outcome != Outcome::forgotten)
    return finish(*c, outcome, native);
  CommonBlock block(*c, root);
  if (!block.prepare(Part<N>{buffer, count, type})) return leave(*c, Function::bcast, native);
  return run(*c, shape, block, native);
}
HOCKET_EDGE(bcast)

HOCKET_BOTH_FORMS(bcast)

}  // namespace hocket::interpose
