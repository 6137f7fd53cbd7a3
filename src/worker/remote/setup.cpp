#include "worker/remote/setup.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace hocket::worker::remote {

using engine::Descriptor;
using engine::handover::DesksHeader;
using engine::handover::most_desks;

namespace {

constexpr std::uint64_t magic = 0x316b6e696c;  // "link1"
/// hocket-exec waits for little longer (launcher/start_worker.c).
constexpr double patience_seconds = 4;
constexpr std::uint32_t longest_address = 16'384;

/// First, and alone: from who does not have the key nothing else is read.
struct Greeting {
  std::uint64_t magic = remote::magic;
  Key key{};
};

struct Wish {
  std::array<char, DesksHeader::longest_version> version{};
  std::uint32_t desks = 0;
  std::uint32_t link_bytes = 0;  ///< of the address that follows
  double stall_seconds = 0;
};

struct Answer {
  std::uint64_t magic = remote::magic;
  std::array<char, DesksHeader::longest_reason> refusal{};  ///< empty: none
  std::array<char, DesksHeader::longest_reason> why_alone{};
  std::uint32_t link_bytes = 0, address_bytes = 0;  ///< of the addresses that follow
};

/// Ends with a zero.
template <std::size_t size>
void put(std::array<char, size>& place, std::string_view text) {
  place[text.copy(place.data(), size - 1)] = '\0';
}
template <std::size_t size>
std::string text_in(const std::array<char, size>& place) {
  return {place.data(), strnlen(place.data(), size)};
}

template <class Value>
void send(const Descriptor& to, const Value& value, const Deadline& end) {
  send_all(to, std::as_bytes(std::span(&value, 1)), end);
}
template <class Value>
Value receive(const Descriptor& from, const Deadline& end) {
  Value value;
  receive_all(from, std::as_writable_bytes(std::span(&value, 1)), end);
  return value;
}

Link::Address receive_address(const Descriptor& from, std::uint32_t bytes, const Deadline& end) {
  if (bytes > longest_address) throw Error("an address that is too long");
  Link::Address address(bytes);
  receive_all(from, address, end);
  return address;
}

Link::Address address_of(const Fabric& fabric) {
  return {fabric.address().begin(), fabric.address().end()};
}

/// The one by which both have met, unless the user knows better: a network card may have a faster way to its
/// host than that of its addresses.
std::unique_ptr<Fabric> open_link(const Descriptor& connection) {
  const char* const wanted = std::getenv("HOCKET_WORKER_DEVICE");
  return open_network(wanted && *wanted ? wanted : device_of(connection));
}

Descriptor copy_of(const Descriptor& connection) {
  return Descriptor(dup(connection.number()));
}

void check(const Greeting& greeting, const Key& key) {
  if (greeting.magic != magic) throw Error("this is no host of Hocket's");
  if (!is_same(greeting.key, key)) throw Error("the key is another one");
}

void refuse(const Descriptor& connection, const std::string& why) {
  Answer answer;
  put(answer.refusal, why);
  send(connection, answer, Deadline(patience_seconds));
  end_sending(connection, Deadline(1));
}

void check(const Wish& wish, const std::string& version) {
  if (text_in(wish.version) != version)
    throw Error("the worker is of another version of Hocket: " + version +
                " (the host: " + text_in(wish.version) + ")");
  if (wish.desks == 0 || wish.desks > most_desks) throw Error("a node of so many ranks");
}

}  // namespace

Hired hire(const Place& place, const Key& key, const ServedRanks::Terms& terms, const std::string& version) {
  Descriptor connection = connect_to(place, patience_seconds);
  std::unique_ptr<Fabric> fabric = open_link(connection);
  const Deadline end(patience_seconds);
  send(connection, Greeting{magic, key}, end);
  Wish wish;
  put(wish.version, version);
  wish.desks = terms.desks;
  wish.stall_seconds = terms.stall_seconds;
  wish.link_bytes = static_cast<std::uint32_t>(fabric->address().size());
  send(connection, wish, end);
  send_all(connection, fabric->address(), end);
  const auto answer = receive<Answer>(connection, end);
  if (answer.magic != magic) throw Error("what listens there is no worker of Hocket's");
  if (const std::string refusal = text_in(answer.refusal); !refusal.empty())
    throw Error("the worker there refuses: " + refusal);
  const Link::Address link_address = receive_address(connection, answer.link_bytes, end);
  Hired hired{nullptr, receive_address(connection, answer.address_bytes, end), text_in(answer.why_alone)};
  hired.link = std::make_unique<Link>(std::move(fabric), Side::host, link_address, std::move(connection));
  return hired;
}

Applicant hear(Descriptor connection, const Key& key, const std::string& version) try {
  const Deadline end(patience_seconds);
  check(receive<Greeting>(connection, end), key);
  const auto wish = receive<Wish>(connection, end);
  check(wish, version);
  const Link::Address host = receive_address(connection, wish.link_bytes, end);
  std::unique_ptr<Fabric> fabric = open_link(connection);
  Applicant applicant;
  applicant.terms = {wish.desks, wish.stall_seconds, 0};
  applicant.link_address = address_of(*fabric);
  applicant.link = std::make_unique<Link>(std::move(fabric), Side::worker, host, copy_of(connection));
  applicant.connection = std::move(connection);
  return applicant;
} catch (const Error& error) {
  if (connection) refuse(connection, error.what());
  throw;
}

void Applicant::accept(std::span<const std::byte> address, std::string_view why_alone) const {
  const Deadline end(patience_seconds);
  Answer answer;
  put(answer.why_alone, why_alone);
  answer.link_bytes = static_cast<std::uint32_t>(link_address.size());
  answer.address_bytes = static_cast<std::uint32_t>(address.size());
  send(connection, answer, end);
  send_all(connection, link_address, end);
  send_all(connection, address, end);
}

}  // namespace hocket::worker::remote
