// Each collective's arguments as the engine sees them: what its blocking, non-blocking and persistent forms
// have in common. N is int, or MPI_Count for the large-count forms.
//
// describe() takes the arguments of the blocking form without the communicator; false: leave the call to the
// MPI, which also raises the errors.
#pragma once

#include "interpose/plugin/collectives/block_layout.hpp"
#include "interpose/plugin/collectives/common_block.hpp"
#include "interpose/plugin/collectives/exchanged_blocks.hpp"
#include "interpose/plugin/collectives/gathered_blocks.hpp"
#include "interpose/plugin/collectives/reduced_blocks.hpp"
#include "interpose/plugin/collectives/reduced_vector.hpp"
#include "interpose/plugin/collectives/scattered_blocks.hpp"

namespace hocket::interpose {

struct Barrier {
  static constexpr Function function = Function::barrier;
  Barrier(Communicator&, Sides&) {}
  bool describe() { return true; }
  const Call& call() const { return call_; }
  bool is_plain() const { return true; }
  UsedHandles handles() const { return {}; }
  void pack() {}
  int deliver() const { return MPI_SUCCESS; }

 private:
  Call call_;
};

template <class N>
struct Bcast : CommonBlock {
  static constexpr Function function = Function::bcast;
  Bcast(Communicator& c, Sides& sides) : CommonBlock(c, sides) {}
  bool describe(void* buffer, N count, MPI_Datatype type, int root) {
    return prepare(Part<N>{buffer, count, type}, root);
  }
};

template <class N>
struct Reduce : ReducedVector {
  static constexpr Function function = Function::reduce;
  Reduce(Communicator& c, Sides& sides) : ReducedVector(c, sides, function, ir::Collective::reduce) {}
  bool describe(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op, int root) {
    return prepare(in, out, count, type, op, root, own_rank() == root);
  }
};

template <class N>
struct Allreduce : ReducedVector {
  static constexpr Function function = Function::allreduce;
  Allreduce(Communicator& c, Sides& sides) : ReducedVector(c, sides, function, ir::Collective::allreduce) {}
  bool describe(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op) {
    return prepare(in, out, count, type, op, 0, true);
  }
};

template <class N>
struct Scan : ReducedVector {
  static constexpr Function function = Function::scan;
  Scan(Communicator& c, Sides& sides) : ReducedVector(c, sides, function, ir::Collective::scan) {}
  bool describe(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op) {
    return prepare(in, out, count, type, op, 0, true);
  }
};

/// Rank 0 receives nothing: its receive buffer stays as it is.
template <class N>
struct Exscan : ReducedVector {
  static constexpr Function function = Function::exscan;
  Exscan(Communicator& c, Sides& sides) : ReducedVector(c, sides, function, ir::Collective::exscan) {}
  bool describe(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op) {
    return prepare(in, out, count, type, op, 0, own_rank() > 0 || in == MPI_IN_PLACE);
  }
};

template <class N>
struct ReduceScatter : ReducedBlocks {
  static constexpr Function function = Function::reduce_scatter;
  ReduceScatter(Communicator& c, Sides& sides) : ReducedBlocks(c, sides, function) {}
  bool describe(const void* in, void* out, const N* counts, MPI_Datatype type, MPI_Op op) {
    return counts && prepare(type, op) && place_blocks(in, out, counts);
  }
};

template <class N>
struct ReduceScatterBlock : ReducedBlocks {
  static constexpr Function function = Function::reduce_scatter_block;
  ReduceScatterBlock(Communicator& c, Sides& sides) : ReducedBlocks(c, sides, function) {}
  bool describe(const void* in, void* out, N count, MPI_Datatype type, MPI_Op op) {
    return count >= 0 && prepare(type, op) && place_equal_blocks(in, out, static_cast<std::size_t>(count));
  }
};

template <class N>
struct Gather : GatheredBlocks<EqualBlocks> {
  static constexpr Function function = Function::gather;
  Gather(Communicator& c, Sides& sides) : GatheredBlocks(c, sides, function, ir::Collective::gather) {}
  bool describe(const void* in, N in_count, MPI_Datatype in_type, void* out, N out_count,
                MPI_Datatype out_type, int root) {
    return prepare(Part<N>{in, in_count, in_type}, Part<N>{out, out_count, out_type}, root);
  }
};

template <class N>
struct Gatherv : GatheredBlocks<UnequalBlocks<N>> {
  static constexpr Function function = Function::gatherv;
  Gatherv(Communicator& c, Sides& sides)
      : GatheredBlocks<UnequalBlocks<N>>(c, sides, function, ir::Collective::gather) {}
  bool describe(const void* in, N in_count, MPI_Datatype in_type, void* out, const N* counts,
                const Displacement<N>* displacements, MPI_Datatype out_type, int root) {
    return this->prepare(Part<N>{in, in_count, in_type}, Parts<N>{out, counts, displacements, out_type},
                         root);
  }
};

template <class N>
struct Scatter : ScatteredBlocks<EqualBlocks> {
  static constexpr Function function = Function::scatter;
  Scatter(Communicator& c, Sides& sides) : ScatteredBlocks(c, sides, function) {}
  bool describe(const void* in, N in_count, MPI_Datatype in_type, void* out, N out_count,
                MPI_Datatype out_type, int root) {
    return prepare(Part<N>{in, in_count, in_type}, Part<N>{out, out_count, out_type}, root);
  }
};

template <class N>
struct Scatterv : ScatteredBlocks<UnequalBlocks<N>> {
  static constexpr Function function = Function::scatterv;
  Scatterv(Communicator& c, Sides& sides) : ScatteredBlocks<UnequalBlocks<N>>(c, sides, function) {}
  bool describe(const void* in, const N* counts, const Displacement<N>* displacements, MPI_Datatype in_type,
                void* out, N out_count, MPI_Datatype out_type, int root) {
    return this->prepare(Parts<N>{in, counts, displacements, in_type}, Part<N>{out, out_count, out_type},
                         root);
  }
};

template <class N>
struct Allgather : GatheredBlocks<EqualBlocks> {
  static constexpr Function function = Function::allgather;
  Allgather(Communicator& c, Sides& sides) : GatheredBlocks(c, sides, function, ir::Collective::allgather) {}
  bool describe(const void* in, N in_count, MPI_Datatype in_type, void* out, N out_count,
                MPI_Datatype out_type) {
    return prepare(Part<N>{in, in_count, in_type}, Part<N>{out, out_count, out_type});
  }
};

template <class N>
struct Allgatherv : GatheredBlocks<UnequalBlocks<N>> {
  static constexpr Function function = Function::allgatherv;
  Allgatherv(Communicator& c, Sides& sides)
      : GatheredBlocks<UnequalBlocks<N>>(c, sides, function, ir::Collective::allgather) {}
  bool describe(const void* in, N in_count, MPI_Datatype in_type, void* out, const N* counts,
                const Displacement<N>* displacements, MPI_Datatype out_type) {
    return this->prepare(Part<N>{in, in_count, in_type}, Parts<N>{out, counts, displacements, out_type});
  }
};

template <class N>
struct Alltoall : ExchangedBlocks<EqualBlocks> {
  static constexpr Function function = Function::alltoall;
  Alltoall(Communicator& c, Sides& sides) : ExchangedBlocks(c, sides, function) {}
  bool describe(const void* in, N in_count, MPI_Datatype in_type, void* out, N out_count,
                MPI_Datatype out_type) {
    return prepare(Part<N>{in, in_count, in_type}, Part<N>{out, out_count, out_type});
  }
};

template <class N>
struct Alltoallv : ExchangedBlocks<UnequalBlocks<N>> {
  static constexpr Function function = Function::alltoallv;
  Alltoallv(Communicator& c, Sides& sides) : ExchangedBlocks<UnequalBlocks<N>>(c, sides, function) {}
  bool describe(const void* in, const N* in_counts, const Displacement<N>* in_displacements,
                MPI_Datatype in_type, void* out, const N* out_counts,
                const Displacement<N>* out_displacements, MPI_Datatype out_type) {
    return this->prepare(Parts<N>{in, in_counts, in_displacements, in_type},
                         Parts<N>{out, out_counts, out_displacements, out_type});
  }
};

}  // namespace hocket::interpose
