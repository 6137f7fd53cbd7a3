// Visitors of a worker's door who are no ranks: many of them, silent ones, hasty ones, those of another user.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "engine/handover/desks.hpp"
#include "engine/handover/door.hpp"
#include "engine/unix_sockets.hpp"
#include "harness/rights.hpp"

namespace hocket::engine::handover {
namespace {

Entrance new_entrance() {
  static int count = 0;
  char text[66];
  std::snprintf(text, sizeof text, "%016x%016x:%032x", static_cast<unsigned>(getpid()),
                0xd0000000U + static_cast<unsigned>(count++), 0x5ecU);
  return *parse_entrance(text);
}

class Visitors : public testing::Test {
 protected:
  enum Outcome { let_in, not_let_in, not_tried };

  /// How the visit of another process has ended; the door is served meanwhile.
  int visit(const std::function<Outcome()>& body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    int status = 0;
    pid_t ended = 0;
    for (const Deadline end(60); (ended = waitpid(child, &status, WNOHANG)) == 0 && !end.passed();) {
      door.serve(desks);
      usleep(500);
    }
    if (ended == 0) kill(child, SIGKILL), waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  Outcome enters() const {
    try {
      return enter(entrance, 8).bell ? let_in : not_let_in;  // less than the door's own patience
    } catch (const Error&) {
      return not_let_in;
    }
  }

  /// One who says nothing; empty: it cannot even connect.
  Descriptor silent() const {
    for (const Deadline end(10); !end.passed(); usleep(200)) {
      Descriptor socket = new_unix_socket();
      if (socket && connect_to(socket, entrance.address())) return socket;
    }
    return {};
  }

  /// In the place of who was there before.
  bool comes(Descriptor& visitor) const {
    visitor = silent();
    return static_cast<bool>(visitor);
  }

  const Entrance entrance = new_entrance();
  Desks desks = Desks::create(1, "this version");
  Door door{entrance};
};

TEST_F(Visitors, ThousandsWhoSayNothingKeepNobodyOut) {
  const int outcome = visit([&] {
    std::vector<Descriptor> crowd(300);  // more than are listened to; who is sent away comes again
    for (int visitor = 0; visitor < 4000; ++visitor)
      if (!comes(crowd[static_cast<std::size_t>(visitor) % crowd.size()])) return not_tried;
    return enters();
  });
  EXPECT_EQ(outcome, let_in);
}

TEST_F(Visitors, MoreThanThereAreDescriptorsKeepNobodyOut) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int outcome = visit([&] {
    std::vector<Descriptor> crowd(200);
    for (Descriptor& visitor : crowd)
      if (!comes(visitor)) return not_tried;
    const rlimit few{40, before.rlim_max};  // of the door's process
    if (prlimit(getppid(), RLIMIT_NOFILE, &few, nullptr) != 0) return not_tried;
    for (int more = 0; more < 100; ++more) crowd.push_back(silent());
    return enters();
  });
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(outcome, let_in);
}

TEST_F(Visitors, WhoGoesAtOnceHarmsNobody) {
  const int outcome = visit([&] {
    for (int visitor = 0; visitor < 200; ++visitor) {
      const Descriptor hasty = silent();
      if (!hasty) return not_tried;
      if (visitor % 2 == 0) send_packet(hasty, std::as_bytes(std::span(entrance.secret)));
    }
    return enters();
  });
  EXPECT_EQ(outcome, let_in);
}

TEST_F(Visitors, OfAnotherUserAreSentAway) {
  if (!harness::works_in_a_child(harness::become_nobody)) GTEST_SKIP() << "cannot become another user here";
  const int outcome = visit([&] {
    if (!harness::become_nobody()) return not_tried;
    const Descriptor stranger = silent();
    if (!stranger) return not_tried;
    send_packet(stranger, std::as_bytes(std::span(entrance.secret)));
    for (const Deadline end(20); !end.passed(); usleep(500)) {
      const ReceivedFiles received = receive_files(stranger);
      if (received.files[0]) return let_in;
      if (received.closed) return not_let_in;
    }
    return not_tried;
  });
  EXPECT_EQ(outcome, not_let_in);
}

/// A rank does not tell its secret to who has taken the name before its worker.
TEST_F(Visitors, DoNotTrustADoorOfAnotherUser) {
  if (!harness::works_in_a_child(harness::become_nobody)) GTEST_SKIP() << "cannot become another user here";
  const int outcome = visit([&] {
    if (!harness::become_nobody()) return not_tried;
    try {
      return enter(entrance, 10).bell ? let_in : not_tried;
    } catch (const Error& error) {
      return std::string(error.what()).find("another user") != std::string::npos ? not_let_in : not_tried;
    }
  });
  EXPECT_EQ(outcome, not_let_in);
}

}  // namespace
}  // namespace hocket::engine::handover
