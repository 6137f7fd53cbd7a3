#include "worker/remote/setup.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "algorithms/catalog.hpp"
#include "base/error.hpp"
#include "engine/fingerprint.hpp"
#include "engine/handover/commands.hpp"

namespace hocket::worker::remote {

using engine::handover::DesksHeader;
using engine::handover::most_desks;

namespace {

constexpr std::uint64_t magic = 0x316b6e696c;  // "link1"
/// For all of it; hocket-exec waits for little longer (launcher/start_worker.c).
constexpr double patience_seconds = 8;
constexpr std::uint32_t longest_address = 16'384;

constexpr std::string_view of_host = "host", of_worker = "worker", of_link = "link";

/// First, from both sides. What else follows is read when it has been shown that the key is known.
struct Greeting {
  std::uint64_t magic = remote::magic;
  tcp::Challenge challenge{};
};

struct Wish {
  std::array<char, DesksHeader::longest_version> version{};
  std::uint64_t layout = 0;
  std::uint32_t desks = 0;
  std::uint32_t link_bytes = 0;  ///< of the address that follows
  double stall_seconds = 0;
};

struct Answer {
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

Link::Address receive_address(const Descriptor& from, std::uint32_t bytes, const Deadline& end) {
  if (bytes > longest_address) throw Error("an address that is too long");
  Link::Address address(bytes);
  tcp::receive_all(from, address, end);
  return address;
}

Link::Address address_of(const Fabric& fabric) {
  return {fabric.address().begin(), fabric.address().end()};
}

/// The one by which both have met, unless the user knows better: a network card may have a faster way to its
/// host than that of its addresses.
std::unique_ptr<Fabric> open_link(const Descriptor& connection) {
  const char* const wanted = std::getenv("HOCKET_WORKER_DEVICE");
  const std::string device = wanted && *wanted ? wanted : tcp::device_of(connection);
  if (device.empty())
    throw Error("no network device has the address " + tcp::name_of(connection) +
                " (HOCKET_WORKER_DEVICE names one)");
  return open_network(device);
}

Descriptor copy_of(const Descriptor& connection) {
  return Descriptor(dup(connection.number()));
}

/// Of both challenges, as the host and as the worker has drawn them.
LinkWord word_of(const tcp::Key& key, const tcp::Challenge& host, const tcp::Challenge& worker) {
  const std::string role = std::string(of_link).append(worker.data(), worker.size());
  const tcp::Proof proof = tcp::proof_of(key, role, host);
  LinkWord word;
  std::copy_n(proof.begin(), word.size(), word.begin());
  return word;
}

/// The worker shows first that it has the key: who listens in its place learns nothing.
LinkWord greet_worker(const Descriptor& connection, const tcp::Key& key, const Deadline& end) {
  const Greeting own{magic, tcp::new_challenge()};
  tcp::send_value(connection, own, end);
  const auto worker = tcp::receive_value<Greeting>(connection, end);
  if (worker.magic != magic) throw Error("what listens there is no worker of Hocket's");
  if (!tcp::is_same(tcp::receive_value<tcp::Proof>(connection, end),
                    tcp::proof_of(key, of_worker, own.challenge)))
    throw Error("the worker there has another key");
  tcp::send_value(connection, tcp::proof_of(key, of_host, worker.challenge), end);
  return word_of(key, own.challenge, worker.challenge);
}

LinkWord greet_host(const Descriptor& connection, const tcp::Key& key, const Deadline& end) {
  const Greeting own{magic, tcp::new_challenge()};
  const auto host = tcp::receive_value<Greeting>(connection, end);
  if (host.magic != magic) throw Error("this is no host of Hocket's");
  tcp::send_value(connection, own, end);
  tcp::send_value(connection, tcp::proof_of(key, of_worker, host.challenge), end);
  if (!tcp::is_same(tcp::receive_value<tcp::Proof>(connection, end),
                    tcp::proof_of(key, of_host, own.challenge)))
    throw Error("a host with another key");
  return word_of(key, host.challenge, own.challenge);
}

/// Of what goes over the link as it lies in memory: builds that call themselves the same may differ in it.
std::uint64_t layout_of_build() {
  std::string text;
  for (const std::size_t number :
       {std::size_t{engine::handover::desks_layout}, sizeof(FrameHead), sizeof(engine::handover::Define),
        sizeof(engine::handover::Connect), sizeof(engine::handover::Start), sizeof(executors::Operation),
        sizeof(engine::SharedRange)})
    text += std::to_string(number) + ' ';
  for (const algorithms::Algorithm& row : algorithms::catalog())
    text.append(ir::name_of(row.collective)).append(":").append(row.name).append(" ");
  return engine::hash_of(text);
}

void refuse(const Descriptor& connection, const std::string& why) {
  Answer answer;
  put(answer.refusal, why);
  tcp::send_value(connection, answer, Deadline(1));
  tcp::end_sending(connection, Deadline(1));
}

void check(const Wish& wish, const std::string& version) {
  if (text_in(wish.version) != version || wish.layout != layout_of_build())
    throw Error("the worker is of another version of Hocket: " + version +
                " (the host: " + text_in(wish.version) + "), or of another build");
  if (wish.desks == 0 || wish.desks > most_desks) throw Error("a node of so many ranks");
}

Applicant hear_wish(const Descriptor& connection, const LinkWord& word, const std::string& version,
                    const Deadline& end) {
  const auto wish = tcp::receive_value<Wish>(connection, end);
  check(wish, version);
  const Link::Address host = receive_address(connection, wish.link_bytes, end);
  std::unique_ptr<Fabric> fabric = open_link(connection);
  Applicant applicant;
  applicant.terms = {wish.desks, wish.stall_seconds, 0};
  applicant.link_address = address_of(*fabric);
  applicant.link = std::make_unique<Link>(std::move(fabric), Side::worker, host, word, copy_of(connection));
  applicant.connection = copy_of(connection);
  return applicant;
}

}  // namespace

Hired hire(const tcp::Place& place, const tcp::Key& key, const ServedRanks::Terms& terms,
           const std::string& version) {
  const Deadline end(patience_seconds);
  Descriptor connection = tcp::connect_to(place, end);
  const LinkWord word = greet_worker(connection, key, end);
  std::unique_ptr<Fabric> fabric = open_link(connection);
  Wish wish;
  put(wish.version, version);
  wish.layout = layout_of_build();
  wish.desks = terms.desks;
  wish.stall_seconds = terms.stall_seconds;
  wish.link_bytes = static_cast<std::uint32_t>(fabric->address().size());
  tcp::send_value(connection, wish, end);
  tcp::send_all(connection, fabric->address(), end);
  const auto answer = tcp::receive_value<Answer>(connection, end);
  if (const std::string refusal = text_in(answer.refusal); !refusal.empty())
    throw Error("the worker there refuses: " + refusal);
  const Link::Address link_address = receive_address(connection, answer.link_bytes, end);
  Hired hired{nullptr, receive_address(connection, answer.address_bytes, end), text_in(answer.why_alone)};
  hired.link =
      std::make_unique<Link>(std::move(fabric), Side::host, link_address, word, std::move(connection));
  return hired;
}

/// Who has shown the key is told why it is refused.
Applicant hear(Descriptor connection, const tcp::Key& key, const std::string& version) {
  const Deadline end(patience_seconds);
  const LinkWord word = greet_host(connection, key, end);
  try {
    return hear_wish(connection, word, version, end);
  } catch (const Error& error) {
    refuse(connection, error.what());
    throw;
  }
}

void Applicant::accept(std::span<const std::byte> address, std::string_view why_alone) const {
  const Deadline end(patience_seconds);
  Answer answer;
  put(answer.why_alone, why_alone);
  answer.link_bytes = static_cast<std::uint32_t>(link_address.size());
  answer.address_bytes = static_cast<std::uint32_t>(address.size());
  tcp::send_value(connection, answer, end);
  tcp::send_all(connection, link_address, end);
  tcp::send_all(connection, address, end);
}

}  // namespace hocket::worker::remote
