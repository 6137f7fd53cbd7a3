#include "interpose/plugin/network/network.hpp"

#include <array>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "engine/fingerprint.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/explain.hpp"
#include "interpose/plugin/network/mpi_port.hpp"
#include "interpose/plugin/network/places.hpp"
#include "interpose/plugin/network/setup_call.hpp"
#include "interpose/plugin/network/worker.hpp"
#include "interpose/plugin/process.hpp"

namespace hocket::interpose {
namespace {

constexpr double farewell_seconds = 10;

MPI_Comm comm;
bool opened = false;

bool is_spawned() {
  MPI_Comm parent = null().comm;
  return host().Comm_get_parent(&parent) == MPI_SUCCESS && parent != null().comm;
}

void pause() {
  sleep_ns(50'000);
}

/// Does this rank have a thread for messages that may call the MPI?
bool has_messenger() {
  int level = MPI_THREAD_SINGLE;
  return is_messenger_wanted() && host().Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE;
}

/// What all ranks have.
struct Common {
  bool ready = false;      ///< a port, the same version and options
  bool messenger = false;  ///< a thread for messages
  bool arena = false;      ///< memory with the others of their node, if there are any
};

/// The largest of what the ranks have is the smallest as well.
Common common(const std::string& fingerprint, bool ready) {
  const std::uint64_t own = engine::hash_of(fingerprint);
  const std::array<std::uint64_t, 5> mine{own, ~own, ready ? 0U : 1U, has_messenger() ? 0U : 1U,
                                          process.engine->lacks_arena() ? 1U : 0U};
  std::array<std::uint64_t, 5> largest{};
  MPI_Request request;
  if (host().Iallreduce(mine.data(), largest.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_MAX,
                        comm, &request) != MPI_SUCCESS ||
      !complete(request, "the other ranks' versions and options"))
    return {};
  return {largest[0] == ~largest[1] && largest[2] == 0, largest[3] == 0, largest[4] == 0};
}

/// An error is told to whoever called: the messages' owner knows what to say.
void return_errors(MPI_Comm*, int*, ...) {}

void let_errors_return() {
  MPI_Errhandler handler;
  if (host().Comm_create_errhandler(return_errors, &handler) != MPI_SUCCESS) return;
  host().Comm_set_errhandler(comm, handler);
  host().Errhandler_free(&handler);
}

void leave_other_nodes(const std::string& why) {
  explain("communicators over several nodes are left to the MPI: " + why);
}

bool connect() {
  try {
    process.engine->connect(std::make_unique<MpiPort>(comm));
    return true;
  } catch (const std::exception& e) {
    say(e.what());
    return false;
  }
}

/// All ranks alike, who get the same verdict.
void open_aggregation() {
  try {
    process.engine->open_aggregation();
  } catch (const std::exception& e) {
    explain(std::string("nothing is reduced in the network: ") + e.what());
  }
}

/// All ranks go through this alike, until they have agreed. Messages may come as soon as one of them has.
void agree() {
  MPI_Request request;
  if (host().Comm_idup(MPI_COMM_WORLD, &comm, &request) != MPI_SUCCESS ||
      !complete(request, "a communicator of all ranks"))
    throw Error("the MPI made no communicator for Hocket");
  let_errors_return();
  const std::string fingerprint = process.engine->fingerprint();
  const Common all = common(fingerprint, connect());
  if (all.messenger) process.engine->carry_messages_in_background();
  opened = all.ready && exchange_places(comm, all.arena);
  if (opened && all.arena) process.engine->open_node_messages();
  if (opened) open_aggregation();
  if (opened) return open_workers(comm);
  process.engine->disconnect();
  host().Comm_free(&comm);
  throw Error("not all ranks have this version and these options (" + fingerprint + ")");
}

/// What this rank has sent may still be on its way, and others wait for it.
bool see_off() {
  transports::mpi::Network* network = process.engine->network();
  for (const Deadline end(farewell_seconds); network && !network->has_left();) {
    if (end.passed()) return false;
    pause();
  }
  return true;
}

/// A rank whose worker has gone asks all others what has ended, also those that have come here.
void wait_for_all_with_workers() {
  if (!process.engine->worker()) return;
  static const int here = 1;  // they outlive a wait that was too long
  static int all = 0;
  MPI_Request request;
  if (host().Iallreduce(&here, &all, 1, MPI_INT, MPI_MIN, comm, &request) != MPI_SUCCESS) return;
  const Deadline end(farewell_seconds);
  for (int all_are_here = 0; !all_are_here && !end.passed(); pause()) {
    MPI_Status status;
    if (host().Test(&request, &all_are_here, &status) != MPI_SUCCESS) return;
    process.engine->hear_of_workers();
  }
}

}  // namespace

void open_network() {
  if (!process.engine->wants_network()) return;
  if (is_spawned()) return leave_other_nodes("this job was spawned by another one");
  try {
    agree();
  } catch (const std::exception& e) {
    leave_other_nodes(e.what());
  }
}

bool is_messenger_wanted() {
  return process.engine->wants_network() && process.engine->options().progress == "thread";
}

void explain_missing_network() {
  if (process.engine->wants_network() && !process.world) leave_other_nodes("MPI was started by a session");
}

void close_network() {
  if (!opened) return;
  opened = false;
  wait_for_all_with_workers();
  const bool all_gone = see_off();
  process.engine->disconnect();
  if (all_gone) host().Comm_free(&comm);
}

}  // namespace hocket::interpose
