// hocketd --listen: a service that gives each host which comes with the key a worker, in a process of its
// own.
#pragma once

#include <string>

#include "worker/remote/connection.hpp"
#include "worker/remote/key.hpp"

namespace hocket::worker::remote {

/// Says on standard output where it listens. Until SIGTERM or SIGINT, with which the workers end. Throws
/// Error.
void listen_for_hosts(const Place& place, const Key& key);

}  // namespace hocket::worker::remote
