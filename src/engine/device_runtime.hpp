// Is a GPU runtime loaded in this process? Then any buffer may be device memory, which the host cannot read.
#pragma once

#include <string>

namespace hocket::engine {

/// Name of the library, or empty. What a program loads after MPI_Init is not seen.
std::string loaded_device_runtime();

}  // namespace hocket::engine
