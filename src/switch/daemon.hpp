// hocket-switch: one thread that waits for all its sockets. Who is connected is its affair; what they say is
// the groups'.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "switch/groups/groups.hpp"
#include "switch/settings.hpp"
#include "switch/sockets/entrance.hpp"
#include "switch/sockets/neighbour.hpp"
#include "switch/sockets/stats_server.hpp"
#include "switch/sockets/uplink.hpp"

namespace hocket::aggregation {

class Daemon {
 public:
  /// Listens from now on. Throws Error.
  explicit Daemon(const Settings& settings);

  /// "127.0.0.1:4711".
  std::string name() const { return name_of(own_address(entrance_.listener())); }
  /// Empty: nowhere.
  std::string stats_name() const;

  /// Until stop(). Members are told that it ends.
  void run();
  /// For other threads and signal handlers, too.
  void stop() const noexcept;

  /// As served; for this thread.
  const Statistics& statistics();

 private:
  using Neighbours = std::list<std::unique_ptr<Neighbour>>;

  /// Written to, it ends a wait.
  class Bell final : public Watched {
   public:
    explicit Bell(Loop& loop);
    void ring() const noexcept;
    bool has_rung() const noexcept { return has_rung_; }

   private:
    void ready(std::uint32_t /*events*/) override { has_rung_ = true; }
    Descriptor event_;
    bool has_rung_ = false;
  };

  tcp::Key key() const;
  void open_uplink(const tcp::Place& parent);
  void demand_loopback(const Address& address) const;
  void admit(Descriptor connection, const wire::Hello& hello);
  wire::Error reserve(const wire::Hello& hello);
  void reach_parent(Descriptor connection, const std::string& address);
  void turn();
  void look_at_clocks();
  void look_for_parent(Uplink& uplink);
  void settle();
  bool see_off_those_who_have_ended();
  void see_off(Neighbour& child, const Neighbour::End& end);
  void lose_parent(const Neighbour::End& end);
  void flush();
  void say_farewell();
  void say(const std::string& words) const;

  const Settings settings_;
  Loop loop_;
  Bell bell_{loop_};
  Site site_;
  Neighbours children_;
  std::unique_ptr<Neighbour> parent_;
  Groups groups_{site_};  ///< they know the connections, so they end before them
  Entrance entrance_;
  std::optional<Uplink> uplink_;
  std::optional<StatsServer> stats_;
  std::string why_alone_;  ///< as told
  std::uint64_t looked_ns_ = 0;
};

}  // namespace hocket::aggregation
