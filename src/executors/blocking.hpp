// The blocking executor: the calling rank runs its plan to the end, waiting as the communicator waits.
#pragma once

#include "executors/machine.hpp"
#include "transports/waiting.hpp"

namespace hocket::executors {

Status run_blocking(Machine& machine, const transports::Waiting& waiting) noexcept;

}  // namespace hocket::executors
