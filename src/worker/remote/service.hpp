// hocketd --listen: gives each host that comes with the key a worker, in a process of its own.
#pragma once

#include <sys/types.h>

#include <list>
#include <optional>

#include "base/clock.hpp"
#include "tcp/connection.hpp"
#include "tcp/key.hpp"

namespace hocket::worker::remote {

class Service {
 public:
  /// Listens there. Throws Error.
  Service(const tcp::Place& place, const tcp::Key& key) : listener_(tcp::listen_at(place)), key_(key) {}

  std::string name() const { return tcp::name_of(listener_); }
  /// Until SIGTERM or SIGINT; all its workers end with this process.
  void run();

 private:
  struct Worker {
    pid_t process = 0;
    Descriptor connection;        ///< to its host; the process has another of it
    std::optional<Deadline> end;  ///< its host has gone: until when it should have ended by itself
  };

  /// Who only connects has a process for some seconds.
  static constexpr std::size_t most_workers = 256;
  bool has_room() const noexcept { return workers_.size() < most_workers; }
  void wait();
  void start_worker(Descriptor connection);
  [[noreturn]] void become_worker(pid_t service, Descriptor connection);
  void reap();
  void end_late_ones();

  const Descriptor listener_;
  const tcp::Key key_;
  std::list<Worker> workers_;
};

}  // namespace hocket::worker::remote
