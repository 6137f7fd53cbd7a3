// What the plugin knows about this process: stage 0, the engine, whether Hocket is switched on, and how MPI
// was started.
#pragma once

#include <atomic>
#include <memory>

#include "engine/engine.hpp"
#include "interpose/abi.h"

namespace hocket::interpose {

struct Process {
  const hocket_stage0* stage0 = nullptr;
  std::atomic<bool> on{false};  ///< hocket_control; false also before MPI is started and after it has ended
  bool wanted = true;           ///< what hocket_control asked for
  bool reporting = false;       ///< HOCKET_REPORT is set: count what is left to the MPI too
  bool world = false;           ///< MPI_Init has been called (as opposed to sessions only)
  bool one_at_a_time = false;   ///< its thread level lets no two threads call MPI at once
  std::unique_ptr<engine::Engine> engine;
  engine::Rank rank = -1;  ///< in the world; -1: not known yet
};

extern Process& process;

}  // namespace hocket::interpose
