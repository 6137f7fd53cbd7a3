// What callers specify, as the reductions and broadcasts that the tree knows. Sizes are those of the buffers:
// of what else a spec says about them callers do not agree. Throw Refusal for what cannot be done.
#pragma once

#include <memory>

#include "sharp/communicator.hpp"
#include "sharp/request.hpp"

namespace hocket::sharp {

using RequestPointer = std::unique_ptr<Request>;

RequestPointer barrier();
RequestPointer allreduce(const Communicator& communicator, const sharp_coll_reduce_spec& spec);
RequestPointer reduce(const Communicator& communicator, const sharp_coll_reduce_spec& spec);
RequestPointer broadcast(const Communicator& communicator, const sharp_coll_bcast_spec& spec);
/// A reduction per member: its block.
RequestPointer reduce_scatter(const Communicator& communicator, const sharp_coll_reduce_spec& spec);
/// A broadcast per member. The own block is copied at once.
RequestPointer allgather(const Communicator& communicator, const sharp_coll_gather_spec& spec);

}  // namespace hocket::sharp
