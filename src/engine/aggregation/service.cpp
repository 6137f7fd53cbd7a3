#include "engine/aggregation/service.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/file.hpp"
#include "engine/aggregation/message_band.hpp"
#include "engine/aggregation/reductions.hpp"

namespace hocket::engine::aggregation {

namespace {

/// Of messages between all ranks while it is opened.
constexpr transports::mpi::CommunicatorId everybody_id{0x7377697463686573, 0};

std::vector<Rank> all_ranks(Rank ranks) {
  std::vector<Rank> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), Rank{0});
  return all;
}

/// Not less; 0 stays 0.
int seconds_of(std::uint64_t ns) noexcept {
  constexpr std::uint64_t second = 1'000'000'000, most = 1'000'000;
  return static_cast<int>(std::min((ns + second - 1) / second, most));
}

}  // namespace

std::unique_ptr<Service> Service::open(const ServicePlace& place, transports::mpi::Network& network,
                                       const transports::Waiting& waiting, Report& report) {
  const Rank rank = network.port().rank(), ranks = network.port().ranks();
  MemberRuns everybody(network, everybody_id, all_ranks(ranks), rank);
  everybody.begin(1, {});
  MessageBand band(everybody, waiting);
  offload::Job job;
  job.rank = rank;
  job.size = ranks;
  job.local_rank = place.local_rank;
  job.has_threads = true;  // groups are made in threads of their own
  job.timeout_seconds = seconds_of(place.patience_ns);
  return std::unique_ptr<Service>(new Service(offload::Tree::open(place.library, job, band), report,
                                              place.patience_ns, rank == 0 ? place.trace : std::string()));
}

bool Service::takes(ir::Collective collective, const CallKind& kind) const noexcept {
  const auto offloaded = kind_of(collective);
  return offloaded && tree_->takes(*offloaded, op_of(kind.operation), type_of(kind.element_type));
}

void Service::write_trace() noexcept {
  if (trace_file_.empty()) return;
  try {
    if (!write_file(trace_file_, trace_.jsonl())) note("the trace cannot be written to ", trace_file_);
  } catch (...) {
    return;  // no memory for it: there is none
  }
}

void Service::note_registrations() noexcept {
  const registration::Counters c = tree_->registrations();
  if (c.misses == 0) return;
  try {
    report_.note("memory was registered " + std::to_string(c.misses) + " times for the network (" +
                 std::to_string(c.failures) + " of them in vain), and found registered " +
                 std::to_string(c.hits) + " times; " + std::to_string(c.invalidations) +
                 " registrations ended with their memory, " + std::to_string(c.evictions) + " for others");
  } catch (...) {
    return;  // the report lacks a line
  }
}

void Service::note(std::string_view what, const std::string& why) noexcept {
  try {
    report_.note(std::string(what) + why);
  } catch (...) {
    return;  // the report lacks a line
  }
}

}  // namespace hocket::engine::aggregation
