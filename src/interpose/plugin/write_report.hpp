// HOCKET_REPORT: what ran, written by rank 0 when MPI ends.
#pragma once

namespace hocket::interpose {

void write_report();

}  // namespace hocket::interpose
