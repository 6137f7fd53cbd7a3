// Hocket's entry in LD_PRELOAD. It is taken out once MPI is up, so that what the program starts (system,
// popen) does not inherit it, and put back around MPI_Comm_spawn, whose children are ranks.
#pragma once

#include <string>

namespace hocket::interpose {

void leave_preload();

class PreloadAround {
 public:
  PreloadAround();
  ~PreloadAround();
  PreloadAround(const PreloadAround&) = delete;
};

/// LD_PRELOAD as the children should have it; empty if there is none.
std::string whole_preload();

}  // namespace hocket::interpose
