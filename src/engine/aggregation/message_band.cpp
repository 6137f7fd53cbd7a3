#include "engine/aggregation/message_band.hpp"

#include "executors/blocking.hpp"

namespace hocket::engine::aggregation {

using executors::Operation;
using ir::Collective;

Status MessageBand::bcast(void* data, int bytes, int root) noexcept {
  Operation operation;
  operation.collective = Collective::bcast;
  operation.root = root;
  operation.input = operation.output = data;
  operation.in_place = true;
  operation.agreed_bytes = operation.own_bytes = static_cast<std::size_t>(bytes);
  return run("knomial", operation);
}

Status MessageBand::barrier() noexcept {
  return run("message_dissemination", {});
}

Status MessageBand::gather(int root, const void* sent, void* received, int bytes) noexcept {
  Operation operation;
  operation.collective = Collective::gather;
  operation.root = root;
  operation.input = sent;
  operation.output = received;
  operation.agreed_bytes = operation.own_bytes = operation.output_blocks.size =
      static_cast<std::size_t>(bytes);
  return run("linear", operation);
}

Status MessageBand::run(std::string_view algorithm, const Operation& operation) noexcept {
  try {
    return executors::run_blocking(members_.lay(algorithm, operation), waiting_);
  } catch (...) {
    return Status::no_memory;
  }
}

}  // namespace hocket::engine::aggregation
