// Hocket's entry in LD_PRELOAD. It is taken out once MPI is up, so that what the program starts (system,
// popen) does not inherit it, and put back around MPI_Comm_spawn, whose children are ranks.
#pragma once

namespace hocket::interpose {

void leave_preload();

class PreloadAround {
 public:
  PreloadAround();
  ~PreloadAround();
  PreloadAround(const PreloadAround&) = delete;
};

}  // namespace hocket::interpose
