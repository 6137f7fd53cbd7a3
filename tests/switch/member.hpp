// A member of an aggregation tree that does what the wire says and no more: for tests of what switches do
// with it.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "switch/wire/frame_reader.hpp"
#include "switch/wire/handshake.hpp"
#include "switch/wire/words.hpp"

namespace hocket::harness {

using Bytes = std::vector<std::byte>;

struct Heard {
  wire::FrameHead head;
  Bytes payload;

  template <class Value>
  Value value() const {
    Value value{};
    std::memcpy(&value, payload.data(), std::min(sizeof value, payload.size()));
    return value;
  }
};

/// An operation as one member takes part in it.
struct Call {
  kernels::ElementType type = kernels::ElementType::none;
  kernels::OpKind op = kernels::OpKind::none;
  bool is_streaming = false;
  std::uint64_t total = 0;
  bool contributes = true, wants = true;
  std::size_t frame = wire::longest_payload;  ///< bytes of payload at most
};

/// The group is dead, as the switch says.
class GroupFailed : public Error {
 public:
  explicit GroupFailed(const wire::Failure& failure) : Error(wire::words_in(failure)), error(failure.error) {}
  wire::Error error;
};

class Member {
 public:
  static constexpr double patience = 20;

  Member(const std::string& place, std::uint64_t job, std::uint32_t rank,
         const tcp::Key& key = wire::no_key())
      : Member(place, {.job = job, .rank = rank}, key) {}
  Member(const std::string& place, const wire::Hello& hello, const tcp::Key& key = wire::no_key())
      : job_(hello.job) {
    auto [connection, welcome] = wire::enter(tcp::place_in(place), key, hello, Deadline(patience));
    connection_ = std::move(connection);
    terms = welcome;
    reader_.emplace(wire::Direction::down, welcome.payload_per_operation);
  }

  wire::Welcome terms;

  void send(wire::FrameHead head, std::span<const std::byte> payload = {}) {
    head.bytes = static_cast<std::uint32_t>(payload.size());
    send_raw(std::as_bytes(std::span(&head, 1)));
    if (!payload.empty()) send_raw(payload);
  }
  template <class Value>
  void send_value(wire::FrameKind kind, std::uint32_t group, const Value& value) {
    send({.kind = kind, .group = group}, std::as_bytes(std::span(&value, 1)));
  }
  void send_raw(std::span<const std::byte> bytes) { tcp::send_all(connection_, bytes, Deadline(patience)); }

  /// The next frame, or as much of it as has come. Nothing: not within the time. Throws Error at the end.
  std::optional<Heard> hear(double seconds = patience) {
    const Deadline end(seconds);
    do {
      if (const auto piece = reader_->next())
        return Heard{piece->head, {piece->payload.begin(), piece->payload.end()}};
      receive();
    } while (!end.passed());
    return {};
  }

  /// The next of this group, of this kind. Those of other groups are kept for them. Throws GroupFailed.
  Heard expect(wire::FrameKind kind, std::uint32_t group) {
    const Heard heard = next_of(group);
    if (heard.head.kind == wire::FrameKind::failed) throw GroupFailed(heard.value<wire::Failure>());
    if (heard.head.kind != kind) throw Error("another frame");
    return heard;
  }

  void begin_join(std::uint32_t group, std::uint32_t size, std::uint32_t rank) {
    send_value(wire::FrameKind::join, group, wire::Join{job_, group, size, 1, rank, wire::Error::none, 0});
  }
  wire::Joined verdict(std::uint32_t group) {
    return expect(wire::FrameKind::joined, group).value<wire::Joined>();
  }
  wire::Error join(std::uint32_t group, std::uint32_t size, std::uint32_t rank) {
    begin_join(group, size, rank);
    return verdict(group).error;
  }
  wire::Error lock(std::uint32_t group) {
    send({.kind = wire::FrameKind::lock, .group = group});
    return expect(wire::FrameKind::locked, group).value<wire::Verdict>().error;
  }
  void unlock(std::uint32_t group) { send({.kind = wire::FrameKind::unlock, .group = group}); }
  void leave(std::uint32_t group) { send({.kind = wire::FrameKind::leave, .group = group}); }

  /// What it came to; empty for who does not want it.
  Bytes run(std::uint32_t group, std::uint32_t operation, const Call& call, std::span<const std::byte> data) {
    Bytes result(call.wants ? call.total : 0);
    std::uint64_t sent = send_more(group, operation, call, data, 0, 0);
    for (bool is_over = false; !is_over;) {
      const Heard heard = expect(wire::FrameKind::data, group);
      if (heard.head.operation != operation || heard.head.total != call.total)
        throw Error("another operation");
      const bool is_hollow = (heard.head.flags & wire::hollow) != 0;
      if (is_hollow == call.wants) throw Error("not what was asked for");
      std::ranges::copy(heard.payload,
                        result.begin() + (is_hollow ? 0 : static_cast<long>(heard.head.offset)));
      const std::uint64_t got = heard.head.offset + heard.head.bytes;
      if (got > sent) throw Error("a result of what has not been sent");
      is_over = got == call.total;
      if (!is_over) sent = send_more(group, operation, call, data, sent, got);
    }
    return result;
  }

  /// As far as the window allows, where `got` has come down. Returns up to where.
  std::uint64_t send_more(std::uint32_t group, std::uint32_t operation, const Call& call,
                          std::span<const std::byte> data, std::uint64_t sent, std::uint64_t got) {
    if (call.total == 0 && got == 0 && sent == 0) send_part(group, operation, call, data, 0, 0);
    const std::uint64_t end = call.is_streaming ? std::min(call.total, got + terms.window) : call.total;
    while (sent < end) {
      const std::uint64_t bytes =
          call.contributes ? std::min<std::uint64_t>(end - sent, call.frame) : end - sent;
      send_part(group, operation, call, data, sent, bytes);
      sent += bytes;
    }
    return sent;
  }

  void end() { connection_.reset(); }
  const Descriptor& connection() const { return connection_; }

 private:
  Heard next_of(std::uint32_t group) {
    const auto is_for = [&](const Heard& one) { return one.head.group == group || one.head.group == 0; };
    if (const auto kept = std::ranges::find_if(kept_, is_for); kept != kept_.end()) {
      Heard heard = *kept;
      kept_.erase(kept);
      return heard;
    }
    while (auto heard = hear()) {
      if (is_for(*heard)) return *std::move(heard);
      kept_.push_back(*std::move(heard));
    }
    throw Error("nothing comes");
  }

  void send_part(std::uint32_t group, std::uint32_t operation, const Call& call,
                 std::span<const std::byte> data, std::uint64_t offset, std::uint64_t bytes) {
    unsigned flags = call.contributes ? wire::contributes : wire::hollow;
    if (call.wants) flags |= wire::wants;
    if (call.is_streaming) flags |= wire::streaming;
    const wire::FrameHead head{.kind = wire::FrameKind::data,
                               .flags = static_cast<std::uint8_t>(flags),
                               .type = call.type,
                               .op = call.op,
                               .group = group,
                               .operation = operation,
                               .offset = call.contributes ? offset : offset + bytes,
                               .total = call.total};
    send(head, call.contributes ? data.subspan(offset, bytes) : std::span<const std::byte>());
  }

  void receive() {
    pollfd waited{connection_.number(), POLLIN, 0};
    if (poll(&waited, 1, 20) <= 0) return;
    const std::span<std::byte> room = reader_->room();
    const ssize_t bytes = recv(connection_.number(), room.data(), room.size(), 0);
    if (bytes <= 0) throw Error("the switch has closed the connection");
    reader_->came(static_cast<std::size_t>(bytes));
  }

  const std::uint64_t job_;
  Descriptor connection_;
  std::optional<wire::FrameReader> reader_;
  std::deque<Heard> kept_;
};

}  // namespace hocket::harness
