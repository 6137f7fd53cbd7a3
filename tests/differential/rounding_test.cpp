// Sums that round: every row of the catalog that reduces, run by the engine, gives the bits that the
// reference interpreter gets from the same schedule. So the order of the operands is the schedule's, whatever
// executor, compiled plan or kernel does the work.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "algorithms/catalog.hpp"
#include "harness/in_process.hpp"
#include "ir/interpret.hpp"
#include "kernels/kernels.hpp"
#include "passes/segment.hpp"

namespace hocket {
namespace {

using algorithms::Algorithm;
using engine::Function;
using engine::Rank;
using ir::Collective;

using Numbers = std::vector<double>;

struct Case {
  const Algorithm& row;
  Rank ranks;
  std::size_t elements;  ///< of the vector, or of one block

  bool of_blocks() const { return ir::is_blocks(row.collective); }
  std::size_t input_elements() const {
    return elements * (of_blocks() ? static_cast<std::size_t>(ranks) : 1);
  }
  ir::Request request() const { return {row.collective, ranks, 0, 0, true, algorithms::presets(row)}; }
};

/// Of one rank. All digits, many magnitudes: nearly every order of a sum has bits of its own.
Numbers input_of(const Case& c, Rank rank) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) * 1009 + c.elements);
  Numbers numbers(c.input_elements());
  for (double& x : numbers) x = std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 8));
  return numbers;
}

std::vector<ir::Schedule> schedules_of(const Case& c) {
  std::vector<ir::Schedule> all;
  for (Rank r = 0; r < c.ranks; ++r) all.push_back(algorithms::build(c.row, c.request().seen_by(r)));
  const std::int32_t segments = algorithms::parameter(c.row, c.request().parameters, "segments", 1);
  if (segments > 1 && passes::can_segment(all))
    for (ir::Schedule& s : all) s = passes::segment(s, {static_cast<std::uint32_t>(segments)});
  return all;
}

/// Chunks of a vector differ by an element at most.
std::vector<std::size_t> chunk_bytes(const Case& c, std::size_t chunks) {
  if (c.of_blocks()) return std::vector<std::size_t>(chunks, c.elements * sizeof(double));
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < chunks; ++i)
    sizes.push_back((c.elements * (i + 1) / chunks - c.elements * i / chunks) * sizeof(double));
  return sizes;
}

void add(std::span<std::byte> left, std::span<const std::byte> right) {
  for (std::size_t at = 0; at < left.size(); at += sizeof(double)) {
    double a = 0;
    double b = 0;
    std::memcpy(&a, &left[at], sizeof a);
    std::memcpy(&b, &right[at], sizeof b);
    a += b;
    std::memcpy(&left[at], &a, sizeof a);
  }
}

/// What each rank gets, by the interpreter.
std::vector<Numbers> expected_of(const Case& c) {
  const std::vector<ir::Schedule> schedules = schedules_of(c);
  std::vector<Numbers> inputs;
  std::vector<Numbers> outputs(static_cast<std::size_t>(c.ranks), Numbers(c.input_elements()));
  for (Rank r = 0; r < c.ranks; ++r) inputs.push_back(input_of(c, r));
  std::vector<ir::UserBuffers> users(inputs.size());
  const std::vector<std::size_t> sizes = chunk_bytes(c, schedules.front().chunks);
  for (std::size_t r = 0; r < users.size(); ++r) {
    for (const std::span<std::byte> chunk : ir::cut(std::as_writable_bytes(std::span(inputs[r])), sizes))
      users[r].input.emplace_back(chunk);
    users[r].output = ir::cut(std::as_writable_bytes(std::span(outputs[r])), sizes);
  }
  ir::interpret(schedules, users, add);
  for (std::size_t r = 0; r < outputs.size() && c.of_blocks(); ++r)
    outputs[r] = Numbers(outputs[r].begin() + static_cast<std::ptrdiff_t>(r * c.elements),
                         outputs[r].begin() + static_cast<std::ptrdiff_t>((r + 1) * c.elements));
  return outputs;
}

Function function_of(Collective collective) {
  switch (collective) {
    case Collective::reduce:
      return Function::reduce;
    case Collective::allreduce:
      return Function::allreduce;
    case Collective::scan:
      return Function::scan;
    case Collective::exscan:
      return Function::exscan;
    default:
      return Function::reduce_scatter_block;
  }
}

engine::Call call_of(const Case& c, const Numbers& input, Numbers& output) {
  engine::Call call;
  call.function = function_of(c.row.collective);
  call.collective = c.row.collective;
  call.input = input.data();
  call.output = output.data();
  call.own_bytes = call.agreed_bytes = c.elements * sizeof(double);
  if (c.of_blocks()) call.input_blocks.size = call.output_blocks.size = call.agreed_bytes;
  call.reduction.element_bytes = sizeof(double);
  call.reduction.operation = 1;
  call.reduction.kernel = kernels::find(kernels::OpKind::sum, kernels::ElementType::f64);
  return call;
}

/// What each rank gets, by the engine; empty where it leaves the call to the MPI.
std::vector<Numbers> found_of(const Case& c) {
  std::vector<Numbers> outputs(static_cast<std::size_t>(c.ranks));
  harness::Ranks setting;
  setting.ranks = c.ranks;
  setting.options.force = std::string(ir::name_of(c.row.collective)) + ":" + std::string(c.row.name);
  harness::run_ranks(setting, [&](Rank rank, engine::Communicator& communicator, engine::Engine&) {
    const Numbers input = input_of(c, rank);
    Numbers output(c.elements);
    const engine::Outcome outcome = communicator.run(call_of(c, input, output));
    if (is_timed(outcome)) communicator.ended();
    if (is_done(outcome)) outputs[static_cast<std::size_t>(rank)] = output;
  });
  return outputs;
}

bool has_result(const Case& c, Rank rank) {
  return !(c.row.collective == Collective::reduce && rank != 0) &&
         !(c.row.collective == Collective::exscan && rank == 0);
}

class EveryReduction : public testing::TestWithParam<const Algorithm*> {};

TEST_P(EveryReduction, HasTheBitsOfItsSchedule) {
  for (const Rank ranks : {2, 3, 4, 5, 7, 8})
    for (const std::size_t elements : {std::size_t{1}, std::size_t{7}, std::size_t{100}, std::size_t{3001}}) {
      const Case c{*GetParam(), ranks, elements};
      if (!algorithms::fits(c.row, c.request())) continue;
      const std::vector<Numbers> expected = expected_of(c);
      const std::vector<Numbers> found = found_of(c);
      for (Rank r = 0; r < ranks; ++r) {
        if (!has_result(c, r)) continue;
        const auto i = static_cast<std::size_t>(r);
        EXPECT_EQ(expected[i], found[i]) << ranks << " ranks, " << elements << " elements, rank " << r;
      }
    }
}

std::vector<const Algorithm*> reductions() {
  std::vector<const Algorithm*> all;
  for (const Algorithm& a : algorithms::catalog())
    if (ir::is_reduction(a.collective) && a.access != algorithms::Access::in_network) all.push_back(&a);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryReduction, testing::ValuesIn(reductions()), [](const auto& info) {
  return std::string(ir::name_of(info.param->collective)) + "_" + std::string(info.param->name);
});

}  // namespace
}  // namespace hocket
