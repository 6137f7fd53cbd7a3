#include "engine/engine.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "engine/aggregation/service.hpp"
#include "engine/device_runtime.hpp"
#include "engine/handover/client.hpp"
#include "engine/handover/registry.hpp"
#include "engine/wait_mode.hpp"
#include "kernels/kernels.hpp"

namespace hocket::engine {

namespace {
/// Of tables about all ranks of the job, beside those of communicators.
constexpr std::uint64_t places_origin = 0x706c61636573;
}  // namespace

Engine::Engine(const Options& options, Host host)
    : options_(options),
      host_(host),
      rules_(options.disable, options.force, options.rules),
      costs_(tuning::costs_from(options.costs)),
      registry_(std::make_unique<handover::Registry>()) {
  kernels::select(options.isa);
}

Engine::~Engine() = default;

bool Engine::wants_network() const {
  return options_.across_nodes || options_.node_size > 0 || options_.workers > 0;
}

std::string Engine::fingerprint() const {
  return "hocket " HOCKET_VERSION "; " + options_.fingerprint() +
         (device_runtime_.empty() ? "" : "; device buffers possible");
}

void Engine::connect(std::unique_ptr<transports::mpi::Port> port) {
  network_ = std::make_unique<transports::mpi::Network>(std::move(port));
}

void Engine::open_aggregation() {
  aggregation::ServicePlace place;
  place.library = offload::library_meant(options_.sharp_library, options_.switch_place);
  if (place.library.empty()) return;
  place.local_rank = local_rank_;
  place.patience_ns = static_cast<std::uint64_t>(options_.stall_seconds * 1e9);
  place.trace = options_.trace;
  transports::Waiting waiting;
  waiting.mode = wait_mode(*this);
  waiting.poke = host_.poke;
  waiting.poke_context = host_.context;
  waiting.sleepers = network_->sleepers();
  in_network_ = aggregation::Service::open(place, *network_, waiting, report_);
}

void Engine::employ(Employed employed) {
  employed_ = std::move(employed);
}

void Engine::hear_of_workers() noexcept {
  transports::mpi::Network* const open = network();
  if (!open) return;
  open->progress();
  registry_->hear(*open);
}

void Engine::complete_report() noexcept {
  if (in_network_) in_network_->note_registrations();
  if (network_) note_node_messages(network_->from_mates(), report_);
}

void Engine::disconnect() {
  if (employed_.worker) employed_.worker->leave();
  if (in_network_) in_network_->write_trace();
  in_network_.reset();
  if (network_) network_->close();
}

void Engine::open_node_messages() {
  if (!arena_ || !arena_->sealed()) return;
  const Rank self = network_->port().rank();
  std::vector<Rank> mates;
  for (Rank rank = 0; rank < network_->port().ranks(); ++rank)
    if (arena_->has(rank) && node_of(rank) == node_of(self)) mates.push_back(rank);
  if (mates.size() < 2) return;
  node_messages_.emplace(*arena_, node_of(self), std::move(mates), self);
  node_messages_->open(*network_, options_.cma);
}

std::shared_ptr<passes::Tables> Engine::tables_of(const NodeTables::Owners& owners) {
  Arena* const shared = arena_ && arena_->sealed() ? arena_.get() : nullptr;
  return std::make_shared<NodeTables>(shared, host_, owners);
}

void Engine::set_places(const Told& told, Rank world_rank, bool shared) {
  std::vector<Rank> everybody(told.names.size() / (1 + told.levels));
  std::iota(everybody.begin(), everybody.end(), Rank{0});
  if (shared)
    places_.emplace(told, tables_of({{places_origin, 0, 0}, everybody, world_rank}));
  else
    places_.emplace(told);
}

/// Of those that HOCKET_NODE_SIZE pretends on this one.
Rank Engine::node_of(Rank rank) const noexcept {
  const auto size = static_cast<Rank>(options_.node_size);
  return size ? rank / size : 0;
}

bool Engine::on_one_node(std::span<const Rank> members) {
  return arena_ && std::ranges::all_of(members, [&](Rank r) {
           return arena_->has(r) && node_of(r) == node_of(members.front());
         });
}

void Engine::before_init() {
  if (options_.device == "auto") device_runtime_ = loaded_device_runtime();
  const std::optional<JobIdentity> job = identify_job(why_not_, host_.launcher);
  if (!job) return;
  local_rank_ = job->local_rank;
  if (job->local_size < 2) {
    why_not_ = "the job has one rank on this node";
    return;
  }
  try {
    arena_ = Arena::announce(*job, {options_.memory, options_.setup_seconds, fingerprint()});
    arena_->set_poke(host_.poke, host_.context);
  } catch (const Error& e) {
    why_not_ = e.what();
    lacks_arena_ = true;
  }
}

void Engine::after_init(Rank rank, Rank ranks) {
  if (arena_) arena_->introduce(rank, ranks);
}

}  // namespace hocket::engine
