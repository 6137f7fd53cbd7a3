#include "engine/aggregation/spoken.hpp"

namespace hocket::engine::aggregation {

using executors::Operation;
using ir::Collective;

Status Spoken::bcast(void* data, int bytes, int root) noexcept {
  Operation operation;
  operation.collective = Collective::bcast;
  operation.root = root;
  operation.input = operation.output = data;
  operation.in_place = true;
  operation.agreed_bytes = operation.own_bytes = static_cast<std::size_t>(bytes);
  return say("knomial", operation);
}

Status Spoken::barrier() noexcept {
  return say("message_dissemination", {});
}

Status Spoken::gather(int root, const void* sent, void* received, int bytes) noexcept {
  Operation operation;
  operation.collective = Collective::gather;
  operation.root = root;
  operation.input = sent;
  operation.output = received;
  operation.agreed_bytes = operation.own_bytes = operation.output_blocks.size =
      static_cast<std::size_t>(bytes);
  return say("linear", operation);
}

}  // namespace hocket::engine::aggregation
