// Progress of the MPI below while a rank waits in Hocket: without it, a peer's large message to this rank
// would stall. The portable way is to ask about a request that never completes (13 to 30 ns).
#pragma once

namespace hocket::interpose {

void start_poking();                ///< after MPI is up
void stop_poking();                 ///< before it goes down
bool poke(void* context) noexcept;  ///< engine::Host::poke

}  // namespace hocket::interpose
