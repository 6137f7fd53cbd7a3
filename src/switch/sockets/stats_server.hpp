// A second socket, where anybody may ask how the switch is (stats_page.hpp says what is answered). Who is
// slow, or one of too many, is seen off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "switch/sockets/loop.hpp"
#include "tcp/connection.hpp"

namespace hocket::aggregation {

class StatsServer final : private Watched {
 public:
  using Answer = std::function<std::string(std::string_view request)>;

  /// Listens there. Throws Error.
  StatsServer(Loop& loop, const tcp::Place& place, Answer answer);
  ~StatsServer() override;

  const Descriptor& listener() const noexcept { return listener_; }
  /// From time to time, and when sockets are done.
  void sweep();

  static constexpr std::size_t most_clients = 16;
  static constexpr double patience_seconds = 5;

 private:
  class Client final : private Watched {
   public:
    Client(StatsServer& server, Descriptor connection);
    ~Client() override;
    bool is_done() const noexcept { return is_done_ || end_.passed(); }

   private:
    void ready(std::uint32_t events) override;
    void hear();
    void answer();

    StatsServer& server_;
    const Descriptor connection_;
    const Deadline end_{patience_seconds};
    std::string request_, answer_;
    std::size_t sent_ = 0;
    bool is_done_ = false;
  };

  void ready(std::uint32_t events) override;

  Loop& loop_;
  const Descriptor listener_;
  const Answer answer_;
  std::list<Client> clients_;
};

}  // namespace hocket::aggregation
