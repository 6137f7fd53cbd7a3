// Where members come in: who connects has some seconds to show that it has the key. Who does not is seen off,
// and so is the one that has been here longest when too many come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>

#include "base/clock.hpp"
#include "switch/groups/statistics.hpp"
#include "switch/sockets/intake.hpp"
#include "switch/sockets/loop.hpp"
#include "switch/wire/handshake.hpp"
#include "tcp/connection.hpp"
#include "tcp/key.hpp"

namespace hocket::aggregation {

class Entrance final : private Watched {
 public:
  /// Of a member with the key, that has not been welcomed.
  using Admit = std::function<void(Descriptor connection, const wire::Hello& hello)>;

  /// Listens there. Throws Error.
  Entrance(Loop& loop, const tcp::Place& place, const tcp::Key& key, Statistics& statistics, Admit admit);
  ~Entrance() override;

  const Descriptor& listener() const noexcept { return listener_; }
  /// From time to time, and when sockets are done: those whose time is over, or who are through.
  void sweep();

  static constexpr std::size_t most_applicants = 64;
  static constexpr double patience_seconds = 3;

 private:
  class Applicant final : private Watched {
   public:
    Applicant(Entrance& entrance, Descriptor connection);
    ~Applicant() override;
    bool is_done() const noexcept { return step_ == Step::done; }
    bool is_late() const noexcept { return end_.passed(); }

   private:
    enum class Step : std::uint8_t { greeting, proof, done };

    void ready(std::uint32_t events) override;
    void go_on();
    void hear_greeting();
    void hear_proof();
    void see_off() noexcept;

    Entrance& entrance_;
    Descriptor connection_;
    const Deadline end_{patience_seconds};
    Step step_ = Step::greeting;
    Intake intake_;
    wire::Greeting greeting_;
    tcp::Challenge challenge_{};
  };

  void ready(std::uint32_t events) override;
  void let_in(Descriptor connection);

  Loop& loop_;
  const Descriptor listener_;
  const tcp::Key key_;
  Statistics& statistics_;
  const Admit admit_;
  std::list<Applicant> applicants_;  ///< the oldest first
};

}  // namespace hocket::aggregation
