#include "engine/aggregation/message_band.hpp"

#include "executors/blocking.hpp"

namespace hocket::engine::aggregation {

Status MessageBand::say(std::string_view algorithm, const executors::Operation& operation) noexcept {
  try {
    return executors::run_blocking(members_.lay(algorithm, operation), waiting_);
  } catch (...) {
    return Status::no_memory;
  }
}

}  // namespace hocket::engine::aggregation
