// How the arena's descriptor gets from local rank 0 to the others.
//
// Local rank 0 listens on an abstract Unix address made from the job's identity, before the native MPI_Init;
// the others connect after it. Nobody blocks: connections and requests wait in the kernel's queue. Both sides
// check that the other has the same user. Where the ranks see each other's /proc, a rank that has connected
// opens the descriptor of local rank 0 there, so that it need not wait until local rank 0, which may be
// computing, answers.
#pragma once

#include <string>

#include "base/descriptor.hpp"

namespace hocket::engine {

/// Name of the job's memfd and of its socket: a hash of the key, which may be long or secret.
std::string arena_name(const std::string& key);

/// Throws Error if the address is taken or abstract addresses do not work here.
Descriptor offer_arena(const std::string& name);

/// Local rank 0: answers everybody who waits. Never blocks.
void serve_arena(const Descriptor& listener, int arena_file) noexcept;

/// The other ranks: one connection to local rank 0, made and kept until the arena has come.
class ArenaRequest {
 public:
  explicit ArenaRequest(std::string name) : name_(std::move(name)) {}

  /// Takes a high descriptor. Before the MPI starts threads: afterwards the kernel lets a growing table of
  /// descriptors wait for all CPUs (10 ms measured).
  void prepare();

  /// Never blocks; again later if it is not there yet. Throws Error if whoever holds the address is somebody
  /// else.
  Descriptor poll();
  /// What it waits for, for people.
  const char* waits_for() const;

 private:
  bool connect();
  Descriptor answer();

  std::string name_;
  Descriptor socket_;
  bool is_connected_ = false;
};

}  // namespace hocket::engine
