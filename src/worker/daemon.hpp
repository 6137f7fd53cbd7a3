// A node's worker, beside its ranks: they come to its desks, and it serves them.
#pragma once

#include "worker/glances.hpp"
#include "worker/reception.hpp"
#include "worker/served_ranks.hpp"

namespace hocket::worker {

class Daemon final : private ServedRanks::Front {
 public:
  /// Throws Error.
  explicit Daemon(const Employment& employment);

  /// Until no rank is left.
  void run();

 private:
  void beat() noexcept override { reception_.beat(); }
  void connected() noexcept override { reception_.say_connected(); }
  void given_up(std::uint32_t desk) override { reception_.refuse(desk, 0); }

  void look_around();
  void see_off_the_dead();
  bool is_needed();
  void rest();

  Reception reception_;
  ServedRanks ranks_;
  Glances glances_;
};

}  // namespace hocket::worker
