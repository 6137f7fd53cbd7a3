#include "engine/internet_addresses.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace hocket::engine {
namespace {

struct FreeList {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

}  // namespace

InternetAddresses own_internet_addresses() {
  InternetAddresses found{};
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  const std::unique_ptr<ifaddrs, FreeList> owner(list);
  std::size_t next = 0;
  for (const ifaddrs* each = list; each && next < found.size(); each = each->ifa_next)
    if (each->ifa_addr && each->ifa_addr->sa_family == AF_INET && (each->ifa_flags & IFF_LOOPBACK) == 0) {
      sockaddr_in address;
      std::memcpy(&address, each->ifa_addr, sizeof address);
      found[next++] = address.sin_addr.s_addr;
    }
  return found;
}

bool holds(std::span<const std::uint32_t> addresses, const std::string& text) noexcept {
  in_addr wanted{};
  return inet_pton(AF_INET, text.c_str(), &wanted) == 1 && wanted.s_addr != 0 &&
         std::ranges::find(addresses, wanted.s_addr) != addresses.end();
}

}  // namespace hocket::engine
