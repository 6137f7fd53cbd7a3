// Whether the archive is one: rank 0 decompresses it and compares it with the files.
#pragma once

#include <mpi.h>

#include <string>

#include "compress/archive.hpp"
#include "compress/input.hpp"

namespace compress {

bool gives_back(const Archive& archive, const Input& input);

// FNV-1a: blocks are compressed on their own, so that the archive is the same for all forms and numbers of
// ranks.
std::string checksum(const Archive& archive);

}  // namespace compress
