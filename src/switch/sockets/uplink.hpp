// The way to the parent: connects, shows the key, and does so again after it was lost, without ever waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "switch/groups/limits.hpp"
#include "switch/sockets/address.hpp"
#include "switch/sockets/intake.hpp"
#include "switch/sockets/loop.hpp"
#include "switch/wire/handshake.hpp"
#include "tcp/key.hpp"

namespace hocket::aggregation {

class Uplink final : private Watched {
 public:
  using Reached = std::function<void(Descriptor connection)>;

  /// `addresses`: tried in turn, from now on.
  Uplink(Loop& loop, std::vector<Address> addresses, const tcp::Key& key, const Limits& limits,
         Reached reached)
      : loop_(loop),
        addresses_(std::move(addresses)),
        key_(key),
        limits_(limits),
        reached_(std::move(reached)) {}
  ~Uplink() override { give_up(""); }

  /// From time to time while there is no parent.
  void look_at_clock();
  /// For people: why the last try has failed; empty: none has.
  const std::string& why_not() const noexcept { return why_not_; }
  std::string name() const { return name_of(addresses_.front()); }

 private:
  enum class Step : std::uint8_t { resting, connecting, reply, welcome };

  void ready(std::uint32_t events) override;
  void go_on();
  void greet();
  void hear();
  void hear_reply();
  void hear_welcome();
  void begin();
  void give_up(const std::string& why);
  void check(const wire::Welcome& welcome) const;

  Loop& loop_;
  const std::vector<Address> addresses_;
  const tcp::Key key_;
  const Limits limits_;
  const Reached reached_;
  std::size_t tried_ = 0;
  Step step_ = Step::resting;
  std::optional<Deadline> end_;  ///< of the step
  Descriptor connection_;
  Intake intake_;
  wire::Greeting greeting_;
  std::string why_not_;
};

}  // namespace hocket::aggregation
