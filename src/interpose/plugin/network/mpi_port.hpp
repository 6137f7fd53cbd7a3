// The MPI's own point-to-point, on a communicator that nobody else has.
#pragma once

#include <vector>

#include "interpose/plugin/host.hpp"
#include "transports/mpi/heard_places.hpp"
#include "transports/mpi/port.hpp"
#include "transports/mpi/tickets.hpp"

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
  std::size_t longest_heard() const noexcept override;
  bool any_thread() const noexcept override { return any_thread_; }

  Status send(const void* data, std::size_t bytes, Rank to, std::uint32_t tag,
              Ticket& ticket) noexcept override;
  Status receive(void* data, std::size_t bytes, Rank from, std::uint32_t tag,
                 Ticket& ticket) noexcept override;
  Status look() noexcept override;
  Status test(Ticket ticket) noexcept override;
  void abandon(Ticket ticket) noexcept override;
  Status listen(std::uint32_t place, void* data, std::size_t bytes) noexcept override;
  bool heard(std::uint32_t& place, Rank& from) noexcept override;

 private:
  /// In MPICH over libfabric's TCP, receives for anybody that are posted while messages wait already may
  /// never get one (5.0.2; docs/design/0009-several-nodes.md). Asking what has come always finds it.
#if defined(HOCKET_ABI_OMPI)
  static constexpr bool probes = false, goes_on_last = true;
#else
  static constexpr bool probes = true, goes_on_last = false;
#endif
  static constexpr std::uint32_t listeners = probes ? 0 : places;

  /// A send or receive, by its ticket.
  struct Flight {
    enum class State : std::uint8_t { under_way, complete, failed };
    State state = State::under_way;
    bool receives = false;
    std::uint32_t at = 0;  ///< in requests_, while it is under way
  };
  struct Offer {
    void* data = nullptr;
    std::size_t bytes = 0;
  };

  void grow();
  bool take_ticket(Ticket& ticket) noexcept;
  void set_off(Ticket ticket, MPI_Request request, bool receives) noexcept;
  void forget_complete() noexcept;
  Status test_some(int& found) noexcept;
  Status probe() noexcept;

  MPI_Comm comm_;
  Rank rank_ = 0;
  Rank ranks_ = 0;
  std::uint32_t last_tag_ = 32767;
  bool any_thread_ = false;
  const MPI_Datatype byte_;

  // What the MPI is asked about: receives of the places that listen, then what is under way, whose tickets
  // are in the same order. `found_` and `statuses_` are as long: its answers.
  std::vector<MPI_Request> requests_;
  std::vector<Ticket> tickets_;
  std::vector<int> found_;
  std::vector<MPI_Status> statuses_;

  transports::mpi::Tickets<Flight> flights_;
  Offer offered_[places];  ///< where probing puts what it hears
  transports::mpi::HeardPlaces heard_;
};

}  // namespace hocket::interpose
