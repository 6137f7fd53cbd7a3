// One per process: options, arena, report counters, and what the engine needs from the MPI below.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/options.hpp"
#include "engine/arena.hpp"
#include "engine/host.hpp"
#include "engine/node_messages.hpp"
#include "engine/node_tables.hpp"
#include "engine/places.hpp"
#include "engine/report.hpp"
#include "transports/mpi/network.hpp"
#include "tuning/rules.hpp"

namespace hocket::engine {

namespace handover {
class Client;
class Registry;
}  // namespace handover
namespace aggregation {
class Service;
}

class Engine {
 public:
  Engine(const Options& options, Host host);
  ~Engine();

  const Options& options() const { return options_; }
  const Host& host() const { return host_; }
  Report& report() { return report_; }
  /// Before it is written: what is known at the end alone.
  void complete_report() noexcept;
  const tuning::Rules& rules() const { return rules_; }
  const tuning::Costs& costs() const { return costs_; }
  bool costs_are_told() const { return !options().costs.empty(); }
  void say(const std::string& text) const {
    if (host_.say) host_.say(host_.context, text);
  }

  /// Null until announced, or if there can be no arena; why_not() says the reason.
  Arena* arena() { return arena_.get(); }
  const std::string& why_not() const { return why_not_; }

  /// A GPU runtime is loaded, the same on all ranks of the arena: buffers may be device memory. Empty: none.
  const std::string& device_runtime() const { return device_runtime_; }

  /// More ranks on this node than cores that they may use; the same on all of them. Known once the arena is
  /// sealed.
  bool oversubscribed() const { return arena_ && arena_->local_ranks() > arena_->cores_for_job(); }

  /// Asked for communicators over several nodes.
  bool wants_network() const;
  /// Version and options, readable: what all ranks must share.
  std::string fingerprint() const;
  /// Point-to-point that reaches all ranks of the job, once all have agreed to use it; until disconnect().
  void connect(std::unique_ptr<transports::mpi::Port> port);
  /// What ranks of this node, which all do the same, send each other needs the port no more, as a rule.
  void open_node_messages();
  void disconnect();
  /// All ranks have a thread that may call the MPI, and goes on with messages while the program computes.
  void carry_messages_in_background() noexcept { background_ = true; }
  bool carries_messages_in_background() const noexcept { return background_; }
  transports::mpi::Network* network() {  ///< null: none
    return network_ && network_->is_open() ? network_.get() : nullptr;
  }
  /// Opens the aggregation tree, if one is meant: collective among all ranks, who are connected and know each
  /// other's mail. Throws Error that says why there is none.
  void open_aggregation();
  /// Null: none.
  const std::shared_ptr<aggregation::Service>& in_network() const noexcept { return in_network_; }
  /// All ranks of the job have a worker on their node, which carries non-blocking collectives out.
  struct Employed {
    std::unique_ptr<handover::Client> worker;
    bool reaches_others = false;  ///< the workers of other nodes
    bool beside_it = false;   ///< others go on as well, inside of whatever calls of the MPI the program makes
    bool maps_heaps = false;  ///< it maps what ranks allocate, on all nodes, and is its node's only one
  };
  void employ(Employed employed);
  /// Null: none.
  handover::Client* worker() const noexcept {
    return employed_.worker && network_->is_open() ? employed_.worker.get() : nullptr;
  }
  handover::Client* worker_across_nodes() const noexcept {
    return employed_.reaches_others ? worker() : nullptr;
  }
  bool worker_maps_heaps() const noexcept { return employed_.maps_heaps; }
  /// What is handed to it.
  handover::Registry& registry() noexcept { return *registry_; }
  /// Takes in what other ranks say about workers that have gone.
  void hear_of_workers() noexcept;
  /// Whether non-blocking operations over several nodes that the worker does not carry out can be relied on.
  bool goes_on_beside_worker() const noexcept { return background_ || employed_.beside_it; }
  /// Where all ranks are, once they have told each other; null: not known.
  const Places* places() const noexcept { return places_ ? &*places_ : nullptr; }
  /// As all ranks have heard. `shared`: by the ranks of each node; none of them is without its arena. Throws
  /// Error as Places does.
  void set_places(const Told& told, Rank world_rank, bool shared);
  /// What these ranks of a communicator share on each node.
  std::shared_ptr<passes::Tables> tables_of(const NodeTables::Owners& owners);
  /// There are other ranks on this node, and no arena to meet them in.
  bool lacks_arena() const noexcept { return lacks_arena_; }
  /// All of these world ranks share this rank's arena, and the node that HOCKET_NODE_SIZE pretends. The same
  /// on all of them, once the arena is sealed.
  bool on_one_node(std::span<const Rank> members);

  /// Twice as many cores as ranks at least: a helper of each rank has one of its own.
  bool has_spare_cores() const { return arena_ && 2 * arena_->local_ranks() <= arena_->cores_for_job(); }

  /// A thread of each rank goes on with what is under way while its program computes.
  bool progresses_in_background() const {
    return options().progress == "thread" || (options().progress == "auto" && has_spare_cores());
  }

  void before_init();  ///< before the native MPI_Init or Session_init
  void after_init(Rank rank, Rank ranks);
  /// Instead of both: an arena made elsewhere (ranks as threads of one test process).
  void adopt(std::unique_ptr<Arena> arena) { arena_ = std::move(arena); }

 private:
  Rank node_of(Rank rank) const noexcept;

  Options options_;
  Host host_;
  Report report_;
  tuning::Rules rules_;
  tuning::Costs costs_;
  std::unique_ptr<Arena> arena_;
  std::optional<NodeMessages> node_messages_;  ///< until nobody may sleep on their memory any more
  Rank local_rank_ = 0;
  bool background_ = false;
  std::unique_ptr<transports::mpi::Network> network_;
  std::shared_ptr<aggregation::Service> in_network_;
  Employed employed_;
  const std::unique_ptr<handover::Registry> registry_;
  std::optional<Places> places_;
  std::string why_not_;
  bool lacks_arena_ = false;
  std::string device_runtime_;
};

}  // namespace hocket::engine
