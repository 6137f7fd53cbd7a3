// The MPI's own point-to-point, on a communicator that nobody else has.
#pragma once

#include <vector>

#include "interpose/plugin/host.hpp"
#include "transports/mpi/port.hpp"

namespace hocket::interpose {

class MpiPort final : public transports::mpi::Port {
 public:
  using Rank = transports::mpi::Rank;

  explicit MpiPort(MPI_Comm comm);
  ~MpiPort() override;
  MpiPort(const MpiPort&) = delete;
  MpiPort& operator=(const MpiPort&) = delete;

  Rank rank() const noexcept override { return rank_; }
  Rank ranks() const noexcept override { return ranks_; }
  std::uint32_t last_tag() const noexcept override { return last_tag_; }
  bool any_thread() const noexcept override { return any_thread_; }

  Status send(const void* data, std::size_t bytes, Rank to, std::uint32_t tag,
              Ticket& ticket) noexcept override;
  Status receive(void* data, std::size_t bytes, Rank from, std::uint32_t tag,
                 Ticket& ticket) noexcept override;
  Status test(Ticket ticket) noexcept override;
  void abandon(Ticket ticket) noexcept override;
  Status listen(std::uint32_t place, void* data, std::size_t bytes) noexcept override;
  Status heard(std::uint32_t& place, Rank& from) noexcept override;

 private:
  /// In MPICH over libfabric's TCP, receives for anybody that are posted while messages wait already may
  /// never get one (5.0.2; docs/design/0009-several-nodes.md). Asking what has come always finds it.
#if defined(HOCKET_ABI_OMPI)
  static constexpr bool probes = false;
#else
  static constexpr bool probes = true;
#endif
  Status probe(std::uint32_t& place, Rank& from) noexcept;
  Status test_any(std::uint32_t& place, Rank& from) noexcept;
  bool take_ticket(Ticket& ticket) noexcept;
  void give_back(Ticket ticket) noexcept { free_.push_back(ticket); }
  Status started(int result, Ticket ticket) noexcept;

  MPI_Comm comm_;
  Rank rank_ = 0;
  Rank ranks_ = 0;
  std::uint32_t last_tag_ = 32767;
  bool any_thread_ = false;
  const MPI_Datatype byte_;
  std::vector<MPI_Request> requests_;  ///< by ticket
  std::vector<bool> receives_;
  std::vector<Ticket> free_;
  MPI_Request listening_[places];
  struct Offer {
    void* data = nullptr;
    std::size_t bytes = 0;
  };
  Offer offered_[places];  ///< where probing puts what it hears
};

}  // namespace hocket::interpose
