// Random collective calls with known answers, for any number of ranks: the same call on all ranks, each with
// its own data.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <random>
#include <vector>

#include "engine/call.hpp"

namespace hocket::harness {

/// What a reduction does to 64-bit elements.
enum class Operator : std::uint8_t {
  sum,
  maximum,
  compose
};  ///< compose: affine maps modulo 2^32, associative, not commutative

/// The calls of MPI that a collective's algorithms run; all there are.
std::vector<engine::Function> functions_of(ir::Collective collective);
std::vector<engine::Function> all_functions();

struct CallPlan {
  engine::Function function = engine::Function::barrier;
  engine::Rank ranks = 1;
  engine::Rank root = 0;
  bool in_place = false;  ///< where MPI has it; ignored elsewhere
  Operator op = Operator::sum;
  std::vector<std::size_t> counts;  ///< elements of the vector (one entry), or of each block (ranks entries;
                                    ///< alltoallv: ranks * ranks)
  std::uint64_t salt = 0;           ///< varies the data

  bool is_v() const;
  std::size_t elements(engine::Rank from, engine::Rank to) const;  ///< of one block
};

/// Sizes up to `most` elements per vector or block; small ones are as frequent as large ones.
CallPlan random_call(std::mt19937_64& random, engine::Function function, engine::Rank ranks,
                     std::size_t most);

/// One rank's buffers for a call, and what they must hold afterwards.
class CallData {
 public:
  /// Buffers are where `memory` says.
  CallData(const CallPlan& plan, engine::Rank rank,
           std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  const engine::Call& call() const { return call_; }
  /// Empty when everything is right, else what is wrong. Guards around the buffers are checked too.
  std::string check() const;

 private:
  void fill();
  void expect();
  void describe();
  void point_behind_the_first_block();

  CallPlan plan_;
  engine::Rank rank_;
  std::pmr::vector<std::uint64_t> input_, input_before_, output_;
  std::vector<std::uint64_t> expected_;
  std::vector<bool> checked_;  ///< output elements with a defined value
  std::vector<std::size_t> in_sizes_, out_sizes_;
  std::vector<std::ptrdiff_t> in_offsets_, out_offsets_;
  engine::Call call_;
};

}  // namespace hocket::harness
