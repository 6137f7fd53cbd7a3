// Leader i folds slice i. Nobody reads that chunk of its staging as an operand, so the result goes there.
#include "algorithms/builders.hpp"
#include "algorithms/formulas.hpp"
#include "algorithms/patterns/staged.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t staged = 1, folded = 2;

void lead(const Request& r, Rank slice, Builder& b) {
  b.wait_everyone(staged);
  b.reduce(ir::staging(slice), contributions(r, slice, r.ranks));
  b.signal();
  b.copy(ir::output(slice), ir::staging(slice));
}

}  // namespace

void build_allreduce_multi_leader(const Request& r, Builder& b) {
  const Rank slices = leaders_of(r);
  const Rank led = slice_led(r);
  if (led < 0)
    b.copy(ir::staging(0, slices), ir::input(0, slices));
  else
    stage_all_but(b, led, slices);
  b.signal();
  if (led >= 0) lead(r, led, b);
  b.round();
  for (Rank slice = 0; slice < slices; ++slice) {
    if (slice == led) continue;
    const Rank leader = leader_rank(r, slice);
    b.wait(leader, folded);
    b.copy(ir::output(slice), ir::of(leader, ir::staging(slice)));
  }
}

}  // namespace hocket::algorithms
