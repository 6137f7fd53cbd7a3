// Who in this process hands operations to the worker, by the name under which other ranks know it: for what
// these say when a worker has gone. It remembers those that have gone for a while, since others may still
// want to know what has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "engine/handover/takeover.hpp"
#include "transports/mpi/network.hpp"

namespace hocket::engine::handover {

class Registry {
 public:
  using Id = transports::mpi::CommunicatorId;

  class Entry {
   public:
    virtual const Id& id() const noexcept = 0;
    /// The first word tells it that workers are not to be relied on any more. `from`: in the world.
    virtual void hear(Rank from, const Account& account) noexcept = 0;

   protected:
    ~Entry() = default;
  };

  /// Hears what has come for it before.
  void add(Entry& entry);
  /// All that it has started, up to the number `last`, has ended.
  void remove(const Entry& entry, std::uint32_t last) noexcept;
  /// Takes in what has come.
  void hear(transports::mpi::Network& network) noexcept;

 private:
  static constexpr std::size_t most_removed = 4096;
  static constexpr std::size_t most_early = 4096;

  struct Removed {
    Id id;
    std::uint32_t last;
  };
  using Notice = transports::mpi::Network::Notice;

  static void tell(Entry& entry, const Notice& notice) noexcept;
  void take_in(transports::mpi::Network& network, Notice& notice);
  const Removed* removed(const Id& id) const noexcept;

  std::recursive_mutex mutex_;  ///< who hears something takes in what else has come
  std::vector<Entry*> entries_;
  std::deque<Removed> removed_;  ///< the last ones
  std::deque<Notice> early_;     ///< for who is not there yet
};

}  // namespace hocket::engine::handover
