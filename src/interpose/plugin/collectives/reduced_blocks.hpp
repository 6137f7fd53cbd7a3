// What reduce_scatter and reduce_scatter_block have in common: a vector of one block per rank in, the own
// block out.
#pragma once

#include "interpose/plugin/collectives/aliases.hpp"
#include "interpose/plugin/collectives/block_layout.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/packing.hpp"
#include "interpose/plugin/reductions.hpp"

namespace hocket::interpose {

class ReducedBlocks {
 public:
  ReducedBlocks(Communicator& c, Sides& sides, Function function) : c_(c), sides_(sides) {
    call_.function = function;
    call_.collective = ir::Collective::reduce_scatter;
  }

  bool prepare(MPI_Datatype type, MPI_Op op) {
    const bool ours = reducer_.prepare(c_, sides_, type, op);
    call_.reduction = reducer_.reduction();
    return ours;
  }
  /// Blocks of so many elements, one for each rank. False: leave the call to the MPI.
  template <class N>
  bool place_blocks(const void* in, void* out, const N* counts) {
    BlockLayout layout(sides_.sent.layout, c_.size);
    if (!layout.measure(counts, unit())) return false;
    layout.line_up();
    call_.input_blocks = layout.blocks();
    call_.agreed_bytes = layout.total();
    return place(in, out, layout.total() / unit(), static_cast<std::size_t>(counts[c_.rank]));
  }
  bool place_equal_blocks(const void* in, void* out, std::size_t each) {
    call_.input_blocks.size = call_.agreed_bytes = each * unit();
    return place(in, out, each * static_cast<std::size_t>(c_.size), each);
  }

  const Call& call() const { return call_; }

  bool is_plain() const { return !reducer_.packs(); }
  UsedHandles handles() const { return reducer_.handles(); }

  void pack() {
    call_.input = reducer_.packs() ? bytes_of(source_, elements(all_), sides_.sent.image) : source_;
    call_.output = reducer_.packs() ? landing(out_, elements(own_), sides_.received.image) : out_;
    call_.in_place = call_.input == call_.output;
  }

  int deliver() const {
    if (!reducer_.packs()) return reducer_.result();
    const int code = interpose::deliver(call_.output, out_, elements(own_));
    return reducer_.result() != MPI_SUCCESS ? reducer_.result() : code;
  }

 private:
  std::size_t unit() const { return reducer_.unit(); }

  /// Elements of all blocks together, and of the own one.
  bool place(const void* in, void* out, std::size_t all, std::size_t own) {
    const bool in_place = in == MPI_IN_PLACE;
    const void* source = in_place ? out : in;
    own_ = own;
    out_ = out;
    call_.own_bytes = own * unit();
    if (!in_place && is_aliased_error(in, out, call_.own_bytes)) return false;
    if (!reducer_.packs() && (!is_buffer(source, all * unit()) || !is_buffer(out, call_.own_bytes)))
      return false;
    source_ = source;
    all_ = all;
    return true;
  }

  Elements elements(std::size_t count) const { return {reducer_.type(), count, c_.handle}; }

  Communicator& c_;
  Sides& sides_;
  Call call_;
  Reducer reducer_;
  std::size_t all_ = 0, own_ = 0;  ///< elements
  const void* source_ = nullptr;
  void* out_ = nullptr;
};

}  // namespace hocket::interpose
