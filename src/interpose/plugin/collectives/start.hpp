// The way into a non-blocking collective, from its description and the MPI's own function.
#pragma once

#include <mutex>
#include <utility>

#include "interpose/plugin/collectives/descriptions.hpp"
#include "interpose/plugin/collectives/entry.hpp"
#include "interpose/plugin/requests/aside.hpp"
#include "interpose/plugin/requests/hooks.hpp"
#include "interpose/plugin/requests/nonblocking_request.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {

enum class Begun : std::uint8_t { ours, native, failed };

/// Where the MPI's own blocking calls do not let Hocket call the MPI, operations that need it to go on are
/// the MPI's: several nodes, and the user's own reduction operations. The same on all ranks.
inline bool can_progress(const Communicator& c, const Call& call) {
  if (is_hooked_into_mpi()) return true;
  const engine::Engine& engine = *process.engine;
  const bool has_somebody = engine.carries_messages_in_background() || engine.worker_across_nodes();
  return !engine::has_own_operation(call) && (has_somebody || !c.engine->runs_over_mpi());
}

/// A request that is given back unless it is put to use.
class Lease {
 public:
  explicit Lease(const Communicator& c) : request_(&take_request(c)) {}
  ~Lease() {
    if (request_) give_back(*request_);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  NonblockingRequest& operator*() const { return *request_; }
  NonblockingRequest& use() { return *std::exchange(request_, nullptr); }

 private:
  NonblockingRequest* request_;
};

template <class Described>
Begun launch(Lease& lease, engine::Prepared& prepared, MPI_Request* handle) {
  if (!(*lease).template start<Described>(prepared)) return Begun::failed;
  NonblockingRequest& request = lease.use();
  *handle = request.token();
  request.begin();
  return Begun::ours;
}

inline Begun launch_again(NonblockingRequest& kept, MPI_Request* handle) {
  const MPI_Request token = kept.token();
  if (!kept.begin_again()) return Begun::failed;
  *handle = token;
  return Begun::ours;
}

template <class Described, class... A>
Begun start_ours(Communicator& c, MPI_Request* handle, A... arguments) {
  const std::lock_guard lock(progress_lock);
  join_non_blocking_one(c);
  if (NonblockingRequest* kept = c.kept) {
    if (kept->may_repeat<Described>(arguments...)) return launch_again(*kept, handle);
    kept->let_go();
  }
  Lease lease(c);
  (*lease).template remember<Described>(arguments...);
  Described& described = (*lease).template hold<Described>(c);
  if (!described.describe(arguments...) || !can_progress(c, described.call())) return Begun::native;
  engine::Prepared* prepared = c.engine->prepare(described.call(), engine::Form::nonblocking);
  if (!prepared) return Begun::failed;
  if (!prepared->is_native()) return launch<Described>(lease, *prepared, handle);
  if (prepared->path.row) prepared->path.row->count(described.call().agreed_bytes);
  return Begun::native;
}

template <class Described, class Native, class... A>
int start(MPI_Comm comm, MPI_Request* request, const void* return_address, Native native,
          A... arguments) try {
  Communicator* c = request ? enter_start(comm, Described::function, return_address) : nullptr;
  if (!c) return native();
  switch (start_ours<Described>(*c, request, arguments...)) {
    case Begun::ours:
      return MPI_SUCCESS;
    case Begun::native:
      return native();
    case Begun::failed:
      break;
  }
  return raise_error(comm, c->engine->error());
}
HOCKET_EDGE(engine::Called(Described::function, engine::Form::nonblocking))

}  // namespace hocket::interpose
