// Prints docs/algorithms.md as the catalog has it.
#include <cstdio>

#include "algorithms/describe.hpp"

int main() {
  std::fputs(hocket::algorithms::markdown().c_str(), stdout);
}
