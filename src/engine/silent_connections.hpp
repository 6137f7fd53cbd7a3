// What the kernel knows of a node that has gone, long before an MPI gives its connections up: data that this
// process has sent over TCP, and that the other machine does not acknowledge. A machine that is up
// acknowledges, however busy, or stopped, its processes are. Other networks than TCP tell their MPI by
// errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::engine {

/// Addresses, each once, that have acknowledged nothing for `seconds` of retransmissions at least (a lower
/// bound of what has passed). Throws std::bad_alloc.
std::vector<std::string> silent_addresses(double seconds);

/// The same in the text of /proc/net/tcp or tcp6, of sockets with these inodes (sorted).
std::vector<std::string> silent_in(std::string_view table, const std::vector<std::uint64_t>& sockets,
                                   double seconds);

}  // namespace hocket::engine
