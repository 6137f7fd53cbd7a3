// How a host and a remote worker come together, and whom they refuse.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "harness/rights.hpp"
#include "worker/remote/setup.hpp"

namespace hocket::worker::remote {
namespace {

constexpr tcp::Key right{'k', 'e', 'y'};

std::string error_of(const std::function<void()>& act) {
  try {
    act();
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RemotePlace, IsAHostAndAPort) {
  EXPECT_EQ(tcp::place_in("10.0.0.1:80").host, "10.0.0.1");
  EXPECT_EQ(tcp::place_in("10.0.0.1:80").port, "80");
  EXPECT_EQ(tcp::place_in("[::1]:80").host, "::1");
  for (const char* const text : {"", ":", "host", "host:", ":80", "::1:80"})
    EXPECT_TRUE(says(error_of([&] { tcp::place_in(text); }), "not HOST:PORT")) << text;
}

TEST(RemotePlace, OfNobodySaysWhy) {
  EXPECT_TRUE(says(error_of([] { tcp::connect_to({"127.0.0.1", "1"}, Deadline(5)); }),
                   "127.0.0.1:1: Connection refused"));
  EXPECT_TRUE(says(error_of([] { tcp::listen_at({"192.0.2.1", "0"}); }), "192.0.2.1:0: "));
  EXPECT_TRUE(says(error_of([] { tcp::connect_to({"no-such-host.invalid", "1"}, Deadline(5)); }),
                   "no-such-host.invalid:1: "));
}

TEST(RemotePlace, HasItsDevice) {
  const Descriptor listener = tcp::listen_at({"127.0.0.1", "0"});
  EXPECT_EQ(tcp::device_of(listener), "lo");
  EXPECT_TRUE(says(tcp::name_of(listener), "127.0.0.1:")) << tcp::name_of(listener);
}

TEST(RemoteKey, IsProvedByAnAnswer) {
  const tcp::Challenge challenge = tcp::new_challenge(), other = tcp::new_challenge();
  EXPECT_NE(challenge, other);
  const tcp::Proof proof = tcp::proof_of(right, "host", challenge);
  EXPECT_TRUE(tcp::is_same(proof, tcp::proof_of(right, "host", challenge)));
  EXPECT_FALSE(tcp::is_same(proof, tcp::proof_of(right, "worker", challenge)));
  EXPECT_FALSE(tcp::is_same(proof, tcp::proof_of(right, "host", other)));
  EXPECT_FALSE(tcp::is_same(proof, tcp::proof_of({'b'}, "host", challenge)));
  EXPECT_TRUE(
      says(error_of([] { tcp::proof_of(right, "host", tcp::Challenge{'$'}); }), "a challenge that is none"));
}

class KeyFile : public testing::Test {
 protected:
  KeyFile() {
    if (const int file = mkstemp(path_.data()); file >= 0) close(file);
  }
  ~KeyFile() override { unlink(path_.c_str()); }
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  std::string error() const {
    return error_of([this] { tcp::key_in(path_); });
  }

  std::string path_ = testing::TempDir() + "keyXXXXXX";
};

TEST_F(KeyFile, IsItsUsersAlone) {
  write(std::string(65, 'k'));
  EXPECT_EQ(error(), "none");
  EXPECT_EQ(tcp::key_in(path_), tcp::key_in(path_));
  for (const mode_t mode : {0640U, 0604U, 0620U}) {
    chmod(path_.c_str(), mode);
    EXPECT_TRUE(says(error(), "chmod 600")) << error();
  }
}

TEST_F(KeyFile, IsText) {
  write(std::string(63, 'k') + '\0' + "kk");
  EXPECT_TRUE(says(error(), "64 letters or digits")) << error();
}

TEST_F(KeyFile, IsLongEnough) {
  write(std::string(63, 'k'));
  EXPECT_TRUE(says(error(), "shorter than 64")) << error();
}

TEST_F(KeyFile, ThatIsNoneSaysSo) {
  unlink(path_.c_str());
  EXPECT_TRUE(says(error(), "No such file")) << error();
  EXPECT_TRUE(says(error_of([] { tcp::key_in("/dev/zero"); }), "has to be a file"));
  EXPECT_TRUE(says(error_of([] { tcp::key_in("/"); }), "has to be a file"));
}

/// A worker that hears one host, in a thread.
class RemoteSetup : public testing::Test {
 protected:
  void SetUp() override {
    try {
      open_network("lo");
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  void start() {
    worker_ = std::thread([this] {
      worker_error_ = error_of([this] {
        Descriptor connection;
        while (!(connection = tcp::accept_from(listener_))) usleep(1000);
        Applicant applicant = hear(std::move(connection), right, "one");
        const std::byte address[] = {std::byte{1}, std::byte{2}};
        applicant.accept(address, "because");
        link_ = std::move(applicant.link);
        terms_ = applicant.terms;
      });
    });
  }
  std::string hire_with(const tcp::Key& key, const std::string& version, std::uint32_t desks = 3) {
    start();
    const std::string error = error_of([&] { hired_ = hire(place(), key, {desks, 2.5, 0}, version); });
    worker_.join();
    return error;
  }
  tcp::Place place() const { return tcp::place_in(tcp::name_of(listener_)); }

  const Descriptor listener_ = tcp::listen_at({"127.0.0.1", "0"});
  std::thread worker_;
  std::string worker_error_;
  std::unique_ptr<Link> link_;
  ServedRanks::Terms terms_;
  Hired hired_;
};

TEST_F(RemoteSetup, GivesBothALink) {
  ASSERT_EQ(hire_with(right, "one"), "none");
  EXPECT_EQ(worker_error_, "none");
  EXPECT_EQ(hired_.address, (std::vector{std::byte{1}, std::byte{2}}));
  EXPECT_EQ(hired_.why_alone, "because");
  EXPECT_EQ(terms_.desks, 3U);
  EXPECT_EQ(terms_.stall_seconds, 2.5);
  hired_.link->send({FrameKind::welcome, 2, 77});
  const Frame* frame = nullptr;
  for (const Deadline end(10); !(frame = link_->next()) && !end.passed();) hired_.link->progress();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->head.kind, FrameKind::welcome);
  EXPECT_EQ(frame->head.number, 77U);
  EXPECT_FALSE(hired_.link->is_broken());
  std::thread ending([this] { link_.reset(); });
  for (const Deadline end(10); !hired_.link->is_broken() && !end.passed();) hired_.link->progress();
  EXPECT_TRUE(hired_.link->is_broken());
  ending.join();
}

TEST_F(RemoteSetup, RefusesAnotherKey) {
  EXPECT_TRUE(says(hire_with({'b', 'a', 'd'}, "one"), "the worker there has another key"));
  EXPECT_TRUE(says(worker_error_, "closed the connection")) << worker_error_;
}

TEST_F(RemoteSetup, RefusesAnotherVersion) {
  EXPECT_TRUE(says(hire_with(right, "two"), "of another version of Hocket: one (the host: two)"));
}

TEST_F(RemoteSetup, RefusesANodeWithoutRanks) {
  EXPECT_TRUE(says(hire_with(right, "one", 0), "a node of so many ranks"));
}

TEST_F(RemoteSetup, RefusesWhoSpeaksSomethingElse) {
  start();
  const Descriptor visitor = tcp::connect_to(place(), Deadline(5));
  const std::string request = "GET / HTTP/1.1\r\n" + std::string(200, ' ');
  tcp::send_all(visitor, std::as_bytes(std::span(request)), Deadline(5));
  worker_.join();
  EXPECT_EQ(worker_error_, "this is no host of Hocket's");
}

TEST_F(RemoteSetup, EndsWithWhoGoes) {
  start();
  tcp::connect_to(place(), Deadline(5)).reset();
  worker_.join();
  EXPECT_TRUE(says(worker_error_, "closed the connection")) << worker_error_;
}

/// Nor does a host believe whoever listens.
TEST_F(RemoteSetup, IsNotTakenFromWhoIsNoWorker) {
  worker_ = std::thread([this] {
    Descriptor connection;
    while (!(connection = tcp::accept_from(listener_))) usleep(1000);
    const std::string answer(4000, 'x');
    tcp::send_all(connection, std::as_bytes(std::span(answer)), Deadline(5));
    usleep(200'000);
  });
  EXPECT_TRUE(says(error_of([this] { hire(place(), right, {1, 0, 0}, "one"); }), "no worker of Hocket's"));
  worker_.join();
}

}  // namespace
}  // namespace hocket::worker::remote
