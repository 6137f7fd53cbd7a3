// A port whose own allocations are not counted: those of the network in one process
// (transports/fake/wire.hpp), which allocates for each message, beside an engine that must not.
#pragma once

#include <memory>
#include <utility>

#include "harness/count_allocations.hpp"
#include "transports/mpi/port.hpp"

namespace hocket::harness {

class UncountedPort final : public transports::mpi::Port {
 public:
  explicit UncountedPort(std::unique_ptr<transports::mpi::Port> port) : port_(std::move(port)) {}

  ir::Rank rank() const noexcept override { return port_->rank(); }
  ir::Rank ranks() const noexcept override { return port_->ranks(); }
  std::uint32_t last_tag() const noexcept override { return port_->last_tag(); }
  std::size_t longest_heard() const noexcept override { return port_->longest_heard(); }
  bool any_thread() const noexcept override { return port_->any_thread(); }

  Status send(const void* data, std::size_t bytes, ir::Rank to, std::uint32_t tag,
              Ticket& ticket) noexcept override {
    const Uncounted uncounted;
    return port_->send(data, bytes, to, tag, ticket);
  }
  Status receive(void* data, std::size_t bytes, ir::Rank from, std::uint32_t tag,
                 Ticket& ticket) noexcept override {
    const Uncounted uncounted;
    return port_->receive(data, bytes, from, tag, ticket);
  }
  Status look() noexcept override {
    const Uncounted uncounted;
    return port_->look();
  }
  Status test(Ticket ticket) noexcept override {
    const Uncounted uncounted;
    return port_->test(ticket);
  }
  void abandon(Ticket ticket) noexcept override {
    const Uncounted uncounted;
    port_->abandon(ticket);
  }
  Status listen(std::uint32_t place, void* data, std::size_t bytes) noexcept override {
    const Uncounted uncounted;
    return port_->listen(place, data, bytes);
  }
  bool heard(std::uint32_t& place, ir::Rank& from) noexcept override {
    const Uncounted uncounted;
    return port_->heard(place, from);
  }

 private:
  std::unique_ptr<transports::mpi::Port> port_;
};

}  // namespace hocket::harness
