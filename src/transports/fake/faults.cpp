#include "transports/fake/faults.hpp"

namespace hocket::transports::fake {

Status Dice::draw() noexcept {
  if (faults_.fail_after != 0 && ++operations_ > faults_.fail_after) return Status::peer_dead;
  const double roll = static_cast<double>(random_() >> 11U) * 0x1p-53;
  return roll < faults_.pending ? Status::pending : Status::ok;
}

Status FaultyTwoSided::advance_send(Transfer& transfer) noexcept {
  const Status drawn = dice_.draw();
  return drawn == Status::ok ? below_.advance_send(transfer) : drawn;
}

Status FaultyTwoSided::advance_recv(Transfer& transfer) noexcept {
  const Status drawn = dice_.draw();
  return drawn == Status::ok ? below_.advance_recv(transfer) : drawn;
}

Status FaultyOneSided::reached(Rank peer, std::uint32_t step) noexcept {
  const Status drawn = dice_.draw();
  return drawn == Status::ok ? below_.reached(peer, step) : drawn;
}

}  // namespace hocket::transports::fake
