// The addresses by which the network tells hosts apart.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace hocket::engine {

/// IPv4 addresses of a host, as the kernel writes them; 0: no more. Those of more interfaces are not told.
using InternetAddresses = std::array<std::uint32_t, 4>;

/// Of this host; none where the system does not say.
InternetAddresses own_internet_addresses();

/// `text`: 10.0.0.1
bool holds(std::span<const std::uint32_t> addresses, const std::string& text) noexcept;

}  // namespace hocket::engine
