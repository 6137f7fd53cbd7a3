// What the engine needs of the MPI below, and of whoever listens.
#pragma once

#include <string>
#include <string_view>

namespace hocket::engine {

/// What the MPI edge (or a test) gives the engine.
struct Host {
  /// Called while waiting: progresses the MPI below, so that a peer's rendezvous to this rank does not stall,
  /// and other operations that are under way. Whether there are any.
  bool (*poke)(void* context) noexcept = nullptr;
  /// A message for people: stalls, set-up notes. The engine itself never prints.
  void (*say)(void* context, const std::string& text) = nullptr;
  void* context = nullptr;
  /// The launcher that comes with this MPI, as in JobIdentity::source; empty: unknown.
  std::string_view launcher;
};

}  // namespace hocket::engine
