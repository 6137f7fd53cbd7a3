// The host's half of a remote worker: where ranks find it, what of them is sent on, and the door to their
// memory. It carries out no schedule.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "engine/handover/stream.hpp"
#include "worker/glances.hpp"
#include "worker/local_process.hpp"
#include "worker/reception.hpp"
#include "worker/remote/memory_server.hpp"
#include "worker/remote/setup.hpp"

namespace hocket::worker::remote {

class Forwarder {
 public:
  /// Throws Error.
  Forwarder(const Employment& employment, Hired hired);

  /// Until no rank is left. False: the worker has gone before, and the ranks have none. Throws Error for what
  /// no worker of this build says.
  bool run();

 private:
  struct Guest {
    Guest(engine::handover::Desk& desk, pid_t process)
        : process(std::make_shared<LocalProcess>(desk, process)), commands(desk.commands) {}
    std::shared_ptr<LocalProcess> process;
    engine::handover::StreamReader commands;
    std::uint64_t unread = 0;          ///< bytes that the worker has not taken
    std::optional<Deadline> patience;  ///< since its process has ended
  };

  void look_around();
  void welcome(const Reception::Guest& guest);
  bool has_ended(std::uint32_t desk, Guest& guest) const;
  void see_off_the_dead();
  void give_up(std::uint32_t desk);
  bool forward();
  bool forward_of(std::uint32_t desk, Guest& guest);
  bool hear();
  void carry_out(const Frame& frame);
  void share(Guest& guest, const Frame& frame);
  std::shared_ptr<RankProcess> process_at(std::uint32_t desk) const noexcept;
  void rest();
  void say_farewell();

  MemoryServer memory_;
  Reception reception_;
  std::map<std::uint32_t, Guest> guests_;  ///< by desk
  std::unique_ptr<Link> link_;
  Glances glances_;
};

}  // namespace hocket::worker::remote
