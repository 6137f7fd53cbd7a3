// Point-to-point of one rank over UCX's tagged messages (docs/design/0016-worker-processes.md). All ports of
// a fabric progress together.
#pragma once

#include <array>

#include "transports/mpi/envelope.hpp"
#include "transports/mpi/heard_places.hpp"
#include "transports/mpi/tickets.hpp"
#include "worker/tag.hpp"
#include "worker/ucx_fabric.hpp"

namespace hocket::worker {

class UcxPort final : public transports::mpi::Port {
 public:
  UcxPort(UcxFabric& fabric, Rank self, Rank ranks) : fabric_(fabric), rank_(self), ranks_(ranks) {}
  ~UcxPort() override;
  UcxPort(const UcxPort&) = delete;
  UcxPort& operator=(const UcxPort&) = delete;

  Rank rank() const noexcept override { return rank_; }
  Rank ranks() const noexcept override { return ranks_; }
  std::uint32_t last_tag() const noexcept override { return Tag::last_number; }
  /// Where UCX asks the receiver all the same, receiver and sender answer as long as they look.
  std::size_t longest_heard() const noexcept override { return longest_packet; }
  /// The fabric is one thread's.
  bool any_thread() const noexcept override { return false; }

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
  /// A send or receive, by its ticket: one message of UCX's, or a long one's rest and its head.
  struct Flight {
    std::array<void*, 2> requests{};  ///< UCX's, while they are under way
    Rank peer = 0;
    bool receives = false;
  };
  struct Listener {
    UcxPort* port = nullptr;
    void* data = nullptr;
    std::size_t bytes = 0;
    void* request = nullptr;
    ucs_status_t status = UCS_OK;  ///< an error: nothing has come, and nothing will
  };

  std::size_t head_of(std::size_t bytes, std::uint32_t tag, Rank peer) const noexcept;
  template <class Start>
  Status set_off(const Flight& flight, std::size_t head, std::size_t bytes, Ticket& ticket,
                 Start start) noexcept;
  Status outcome(Flight& flight) noexcept;
  Status outcome(const Flight& flight, void*& request) noexcept;
  void give_up(Flight& flight) noexcept;
  void end_listening(Listener& listener) noexcept;
  Status listen_again() noexcept;
  void hear(const Listener& listener, std::uint64_t tag) noexcept;
  static void on_message(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* listener);

  UcxFabric& fabric_;
  const Rank rank_;
  const Rank ranks_;
  transports::mpi::Tickets<Flight> flights_;
  std::array<Listener, places> listeners_{};
  transports::mpi::HeardPlaces heard_;
  std::uint32_t found_ = 0;  ///< of those heard, by the last look
  bool lacks_listeners_ = false;
};

}  // namespace hocket::worker
