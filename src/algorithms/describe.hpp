// The catalog as a page of documentation: docs/algorithms.md is this text, and a test compares the two.
#pragma once

#include <string>

namespace hocket::algorithms {

std::string markdown();

}  // namespace hocket::algorithms
