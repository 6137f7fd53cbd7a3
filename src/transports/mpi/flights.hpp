// Messages whose sender sees to them until they have left: data outside of their envelope, straight between
// the program's buffers where they are contiguous, else through scratch memory, in parts that an int can
// count; and packets that the MPI may not send at once.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "transports/mpi/envelope.hpp"
#include "transports/transport.hpp"

namespace hocket::transports::mpi {

struct Flight {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::size_t done = 0;
  std::size_t part = 0;  ///< under way
  Rank peer = 0;
  std::uint32_t tag = 0;
  bool receives = false;
  Port::Ticket ticket = 0;
  const void* owner = nullptr;     ///< null: not in use
  std::vector<std::byte> scratch;  ///< if the data are not contiguous; stays for the next

  std::byte* scratch_of(std::size_t size) {
    if (scratch.size() < size) scratch.resize(size);
    return scratch.data();
  }
};

class Flights {
 public:
  /// `longest_part`: of the data that one message of MPI carries.
  Flights(Port& port, std::size_t longest_part) : port_(port), longest_part_(longest_part) {}

  struct Route {
    Rank peer = 0;
    std::uint32_t tag = 0;
    bool receives = false;
  };
  /// Starts with the pieces' data. ok: `index` is the flight's.
  Status begin(const Route& route, std::span<const Piece> pieces, std::size_t bytes, const void* owner,
               std::uint32_t& index) noexcept;
  /// Sends an envelope with its data in it, as a packet.
  Status begin(const Envelope& envelope, Rank to, std::span<const Piece> pieces, const void* owner,
               std::uint32_t& index) noexcept;
  /// ok: everything has arrived where it belongs, and the flight is over.
  Status advance(std::uint32_t index, std::span<const Piece> pieces) noexcept;
  /// Ends all of this owner's.
  void abandon(const void* owner) noexcept;
  void abandon_all() noexcept;
  bool none() const noexcept { return under_way_ == 0; }

 private:
  Status start(const Route& route, std::byte* data, std::size_t bytes, const void* owner,
               std::uint32_t index) noexcept;
  Status start_part(Flight& flight) noexcept;
  Status move_on(Flight& flight) noexcept;
  void end(std::uint32_t index) noexcept;
  void grow();
  std::uint32_t unused();

  Port& port_;
  std::size_t longest_part_;
  std::deque<Flight> flights_;
  std::vector<std::uint32_t> free_;
  std::uint32_t under_way_ = 0;  ///< that nobody has given up
};

/// Where the pieces begin if they follow each other, else null.
std::byte* contiguous(std::span<const Piece> pieces) noexcept;
/// Copies between a message in one piece and its pieces.
void gather_pieces(std::span<const Piece> pieces, std::byte* to) noexcept;
void scatter_pieces(const std::byte* from, std::span<const Piece> pieces) noexcept;

}  // namespace hocket::transports::mpi
