// The catalog: every algorithm, one row each (catalog.def). A row is declaration, look-up table, test matrix,
// documentation and accepted option value at once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/builder.hpp"
#include "ir/request.hpp"
#include "ir/schedule.hpp"

namespace hocket::algorithms {

using ir::Collective;
using ir::Request;

enum class Order : std::uint8_t {
  any,     ///< operands may change places: commutative operations only
  ranked,  ///< operands stay in the order of ranks: right for every operation
};

enum class Access : std::uint8_t {
  none,        ///< moves nothing between ranks
  one_sided,   ///< staging, signal and wait: the ranks share memory
  two_sided,   ///< send and recv: any transport
  in_network,  ///< aggregate and settle: a network that reduces
};

enum class Blocks : std::uint8_t {
  any,    ///< a rank needs to know only the sizes of its own blocks
  known,  ///< every rank knows the size of every block (not so in gatherv, scatterv, alltoallv)
  equal,  ///< all blocks have one size
};

struct Parameter {
  std::string_view name;
  std::int32_t preset = 0, least = 0, most = 0;
};

/// A claim or property that follows from the request.
using Property = std::uint32_t (*)(const Request&);
using WindowOf = ir::Window (*)(const Request&);

struct Algorithm {
  Collective collective;
  std::string_view name;
  void (*build)(const Request&, ir::Builder&);

  Access access = Access::two_sided;
  Order order = Order::any;
  Blocks blocks = Blocks::any;
  bool in_place = true;  ///< right when output is the input buffer (else the engine copies the input first)
  bool single_copy = false;  ///< reads peers' user memory: only where the ranks have agreed that they can
  bool (*fits)(const Request&) = nullptr;  ///< null: fits always
  Property chunks = nullptr;   ///< N of a vector collective; null: 1. Block collectives have N = ranks.
  WindowOf staging = nullptr;  ///< staging of request.rank; null: none. Callable for any rank.
  Property scratch_planes = nullptr;  ///< null: none
  std::span<const Parameter> parameters = {};

  Property rounds = nullptr;  ///< claim: rounds in which a rank communicates, at most
  Property received =
      nullptr;  ///< claim: chunks that a rank takes from others (recv, remote sources), at most
  std::string_view summary;
  std::string_view source;  ///< the paper, or the first implementation
};

std::span<const Algorithm> catalog();
/// Null if there is none of that name.
const Algorithm* find(Collective collective, std::string_view name);

std::uint32_t chunks_of(const Algorithm& algorithm, const Request& request);
bool fits(const Algorithm& algorithm, const Request& request);
/// The preset parameters of a row.
ir::Parameters presets(const Algorithm& algorithm);
/// The value of a parameter; `otherwise` if the row has none of that name. `segments` is applied to the built
/// schedule by passes::segment, all others by the builder.
std::int32_t parameter(const Algorithm& algorithm, const ir::Parameters& values, std::string_view name,
                       std::int32_t otherwise);
/// One rank's schedule.
ir::Schedule build(const Algorithm& algorithm, const Request& request);

}  // namespace hocket::algorithms
