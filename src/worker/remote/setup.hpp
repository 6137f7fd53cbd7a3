// How a host and a remote worker come to have a link: the host connects, both show that they know the key,
// and each says where UCX finds it; the worker also how its network is reached.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tcp/connection.hpp"
#include "tcp/key.hpp"
#include "worker/remote/link.hpp"
#include "worker/served_ranks.hpp"

namespace hocket::worker::remote {

/// A worker, as the host that has hired it knows it.
struct Hired {
  std::unique_ptr<Link> link;
  std::vector<std::byte> address;  ///< as other workers reach it; empty: not at all, and why
  std::string why_alone;
};
/// Throws Error, with the worker's words if it refuses.
Hired hire(const tcp::Place& place, const tcp::Key& key, const ServedRanks::Terms& terms,
           const std::string& version);

/// A host that wants a worker, to the worker.
struct Applicant {
  Descriptor connection;  ///< on which the answer goes; the link has another of it
  std::unique_ptr<Link> link;
  std::vector<std::byte> link_address;  ///< of this side
  ServedRanks::Terms terms;

  /// Throws Error.
  void accept(std::span<const std::byte> address, std::string_view why_alone) const;
};
/// Throws Error.
Applicant hear(Descriptor connection, const tcp::Key& key, const std::string& version);

}  // namespace hocket::worker::remote
