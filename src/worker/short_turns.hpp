// Turns on a core that others share.
#pragma once

namespace hocket::worker {

/// Asks the kernel for short turns for this thread, which then come soon: it has little to do at a time, and
/// a rank that computes on its core would else finish a turn of some milliseconds first. Linux 6.12 and
/// later; before, and with another policy than the usual one, all stays as it is.
void ask_for_short_turns() noexcept;

}  // namespace hocket::worker
