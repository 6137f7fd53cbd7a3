// What /proc/net/tcp says of connections whose other end has gone.
#include "engine/silent_connections.hpp"

#include <gtest/gtest.h>

namespace hocket::engine {
namespace {

using Strings = std::vector<std::string>;

// by inode: 1 listens, 2 retransmits for the 5th time, 3 keeps alive, 4 has a full window, 5 connects for the
// 3rd time
constexpr const char* table =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 00000000:9ACB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 "
    "0000000000000000 100\n"
    "   1: 01004D0A:9ACB 02014D0A:B41F 01 00000460:00000000 01:00000123 00000005     0        0 2 2 "
    "0000000000000000 20\n"
    "   2: 01004D0A:9ACB 01014D0A:CB5F 01 00000000:00000000 02:00000ABC 00000005     0        0 3 2 "
    "0000000000000000 20\n"
    "   3: 01004D0A:9ACC 01014D0A:CB60 01 00000010:00000000 04:00000ABC 00000009     0        0 4 2 "
    "0000000000000000 20\n"
    "   4: 01004D0A:9ACD 03014D0A:0016 02 00000001:00000000 01:00000ABC 00000003     0        0 5 2 "
    "0000000000000000 20\n";

TEST(SilentConnections, AreThoseThatRetransmit) {
  EXPECT_EQ(silent_in(table, {1, 2, 3, 4, 5}, 1), (Strings{"10.77.1.2", "10.77.1.3"}));
}

TEST(SilentConnections, ThatHaveJustBegunAreNone) {
  EXPECT_EQ(silent_in(table, {1, 2, 3, 4, 5}, 5), Strings{"10.77.1.2"});  // 3 times: 1.4 s; 5 times: 6.2 s
  EXPECT_EQ(silent_in(table, {1, 2, 3, 4, 5}, 10), Strings{});
}

TEST(SilentConnections, OfOtherProcessesAreNotLookedAt) {
  EXPECT_EQ(silent_in(table, {1, 3, 4}, 1), Strings{});
}

TEST(SilentConnections, InIpv6AreNamedByTheirIpv4Address) {
  constexpr const char* six =
      "   0: 0000000000000000FFFF000001004D0A:9ACB 0000000000000000FFFF000002014D0A:B41F 01 "
      "00000460:00000000 "
      "01:00000123 00000005     0        0 2 2 0000000000000000 20";
  EXPECT_EQ(silent_in(six, {2}, 1), Strings{"10.77.1.2"});
}

TEST(SilentConnections, AreNotFoundInOtherText) {
  EXPECT_EQ(silent_in("", {1}, 1), Strings{});
  EXPECT_EQ(silent_in("\n\nnothing\n 1: x\n", {1}, 1), Strings{});
}

TEST(SilentConnections, NoneHere) {
  EXPECT_EQ(silent_addresses(1), Strings{});
}

}  // namespace
}  // namespace hocket::engine
