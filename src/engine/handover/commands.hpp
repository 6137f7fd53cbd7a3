// What a rank tells its worker, as it goes through the stream: communicators and calls once, with a number
// each, and then for every operation little more than that number.
//
// Both sides are of one build (Desks::attach), so values go as they lie in memory. The reader checks every
// length: what cannot be read is an Error, never a touch outside of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/call.hpp"
#include "engine/internet_addresses.hpp"
#include "engine/shared_memory.hpp"
#include "executors/operation.hpp"
#include "ir/request.hpp"
#include "transports/mpi/envelope.hpp"

namespace hocket::engine::handover {

using Bytes = std::vector<std::byte>;

enum class CommandKind : std::uint32_t {
  none,
  connect,
  open,
  define,
  start,
  start_elsewhere,
  abandon,
  forget,
  close,
  share,
  leave
};

/// As short as starts are.
struct CommandHead {
  CommandKind kind : 4;
  std::uint32_t bytes : 28;  ///< that follow
};
static_assert(sizeof(CommandHead) == 4);
inline constexpr std::uint32_t longest_command = (1U << 28U) - 1;

/// The workers of all nodes, and who is served by which: once, by one rank of each node.
struct Connect {
  std::vector<Bytes> addresses;
  std::vector<std::uint32_t> process_of;   ///< of each world rank
  std::vector<InternetAddresses> hosts{};  ///< of each worker; empty: not known
};

/// A communicator, as far as its operations by workers go.
struct Open {
  std::uint32_t number = 0;
  transports::mpi::CommunicatorId id;
  Rank rank = 0;
  std::vector<Rank> members;  ///< world ranks
  /// Where they are (passes::Neighbourhood): of its rows, one after the other, each member's group. Empty:
  /// nobody knows.
  std::uint32_t rows = 0;
  std::vector<std::uint32_t> groups{};
  std::vector<std::uint32_t> sockets{};  ///< likewise
};

/// A call with its buffers, that may be started many times.
struct Define {
  std::uint32_t number = 0;
  std::uint32_t communicator = 0;
  std::string recipe;         ///< as rules write it
  bool copies_input = false;  ///< of in-place calls
  transports::mpi::CallWords words;
  /// Input and output are addresses in the rank; the tables are those below; without a reduction.
  executors::Operation operation;
  struct Table {
    std::vector<std::size_t> sizes;  ///< empty: none, as in executors::Blocks
    std::vector<std::ptrdiff_t> offsets;
  };
  Table input_table, output_table;
  // Of a reduction by a predefined operation: kernels::OpKind and ElementType.
  std::uint8_t kernel_operation = 0, kernel_type = 0;
};

/// The next operation of its communicator: both sides count, each its own way (worker/slices.hpp).
struct Start {
  std::uint32_t definition = 0;
  std::uint32_t completion = 0;  ///< at the desk, or any number beyond
  std::uint32_t signature = 0;
};

/// All words at the desk are in use (word.hpp).
struct StartElsewhere {
  Start start;
  std::uint64_t word = 0;  ///< the address of a byte in the rank
};

/// Of an operation that has not ended: nobody needs it, and its buffers are not touched any more when its
/// completion says so.
struct Abandon {
  std::uint32_t completion = 0;
};

struct Forget {
  std::uint32_t definition = 0;
};

struct Close {
  std::uint32_t communicator = 0;
};

/// Memory of the rank that the worker may map, before calls whose buffers are there.
struct Share {
  SharedRange range;
};

/// The rank needs its worker no more; one that ends without saying so has died.
struct Leave {
  std::uint32_t rank = 0;
};

/// With their heads.
Bytes encode(const Connect& command);
Bytes encode(const Open& command);
Bytes encode(const Define& command);
Bytes encode(const Start& command);
Bytes encode(const StartElsewhere& command);
Bytes encode(const Abandon& command);
Bytes encode(const Forget& command);
Bytes encode(const Close& command);
Bytes encode(const Share& command);
Bytes encode(const Leave& command);

/// Of what follows the head. Throws Error.
template <class Command>
Command decode(std::span<const std::byte> body);

/// The call's operation, without what only its rank can use. False: it reduces by the program's own function.
bool describe(const executors::Operation& operation, Rank ranks, Define& define);
/// The other way: its pointers are into `define`, its buffers those of the rank. Throws Error for a kernel
/// that is none.
executors::Operation described(const Define& define);

}  // namespace hocket::engine::handover
