// MPI communicator -> the engine's. Only communicators whose making Hocket has seen are here (see
// creation.cpp): all their members then know the same origin. The engine's side is opened by the first
// blocking collective.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "engine/communicator.hpp"
#include "interpose/plugin/handles/handle_table.hpp"
#include "interpose/plugin/handles/last_type.hpp"
#include "interpose/plugin/process.hpp"
#include "interpose/plugin/repeats.hpp"
#include "interpose/plugin/scratch.hpp"

namespace hocket::interpose {

/// How a communicator was made; part of its identity (engine::SlotKey).
using Origin = std::uint64_t;

/// What one side of a communicator's calls (what it sends, what it receives) needs, and keeps for the next.
struct Side {
  LastType type;
  Scratch image;   ///< packed data
  Scratch layout;  ///< sizes and places of a v-form's blocks
};

/// Both of them, for one call at a time: the communicator's blocking ones, or a request.
struct Sides {
  Side sent, received;
  Scratch operands;  ///< of user operations
};

class NonblockingRequest;
class Request;

struct Communicator {
  MPI_Comm handle{};
  Origin origin = 0;                        ///< 0: not known to all members alike, left to the MPI
  std::atomic<std::uint32_t> creations{0};  ///< communicators made from this one so far

  bool usable = true;           ///< false until MPI_Comm_idup has completed: MPI must not be asked about it
  bool settled = false;         ///< opening was tried
  bool opens_anywhere = false;  ///< note_meeting() was called: a start may open it, and waits for nobody
  std::atomic<std::uint32_t> requests_under_way{0};  ///< changed under the progress lock
  Request* aside = nullptr;            ///< its one non-blocking operation that may stand aside, while it does
  NonblockingRequest* kept = nullptr;  ///< that did so last, for the same call once more
  std::atomic<std::uint32_t> persistent_requests{
      0};               ///< that may be started even when the program has freed it
  bool failed = false;  ///< opening has failed on this rank, while others may have opened theirs
  int rank = 0;
  int size = 0;
  std::unique_ptr<engine::Communicator> engine;  ///< null: left to the MPI
  std::string why_not;
  engine::ReportRow* left[engine::form_count][engine::function_count] =
      {};  ///< counters of what is left to the MPI

  Sides sides;
  Repeats repeats;
};

extern HandleTable<Communicator>& communicators;

/// Makes a communicator known. It is forgotten when MPI deletes it. Throws std::bad_alloc.
void remember(MPI_Comm handle, Origin origin);
/// Its members are together in a blocking call that makes a communicator: the moment to wait until the arena
/// is sealed, so that its non-blocking calls need not. All members have the same calls behind them then.
/// MPI_COMM_WORLD has no such moment when it is made, but where ranks tell each other their places.
void note_meeting(Communicator& communicator);
/// One that only its first collective will find usable.
void remember_unfinished(MPI_Comm handle, Origin origin);
/// One that is left to the MPI, so that the report can say why.
void remember_left(MPI_Comm handle, std::string why_not);
/// Before MPI frees it.
void forget_unfinished(MPI_Comm handle);
/// One of its persistent requests is gone; so is the communicator if it was the last, and the program has
/// freed it.
void release_persistent_of(Communicator& communicator);
/// Creates what remember() needs; ends it, and the engine's communicators with it.
void open_communicators();
void close_communicators();

/// The node this thread used last. Nodes are never freed, so that comparing the handle is all it takes to
/// trust it.
extern constinit thread_local HandleTable<Communicator>::Node* last_node
    __attribute__((tls_model("initial-exec")));
Communicator* look_up_communicator(MPI_Comm handle);

inline Communicator* find_communicator(MPI_Comm handle) {
  const HandleTable<Communicator>::Node* last = last_node;
  if (last->handle.load(std::memory_order_relaxed) == bits_of(handle)) [[likely]]
    return last->value.load(std::memory_order_acquire);
  return look_up_communicator(handle);
}
/// Tries to open the engine's side.
void settle(Communicator& communicator);

}  // namespace hocket::interpose
