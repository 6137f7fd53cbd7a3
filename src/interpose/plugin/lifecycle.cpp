#include "interpose/plugin/lifecycle.hpp"

#include "base/error.hpp"
#include "interpose/plugin/communicators.hpp"
#include "interpose/plugin/environment.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/explain.hpp"
#include "interpose/plugin/handles/types.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"
#include "interpose/plugin/network/network.hpp"
#include "interpose/plugin/origins.hpp"
#include "interpose/plugin/poke.hpp"
#include "interpose/plugin/process.hpp"
#include "interpose/plugin/requests/aside.hpp"
#include "interpose/plugin/requests/hooks.hpp"
#include "interpose/plugin/requests/nonblocking_request.hpp"
#include "interpose/plugin/requests/progress.hpp"
#include "interpose/plugin/requests/progress_thread.hpp"
#include "interpose/plugin/revocation.hpp"
#include "interpose/plugin/world_groups.hpp"
#include "interpose/plugin/write_report.hpp"

namespace hocket::interpose {
namespace {

bool announced = false;
bool running = false;

// Set-up that fails leaves everything to the MPI; the report says why.
template <class Function>
void attempt(Function function) {
  try {
    function();
  } catch (const std::exception& e) {
    explain(e.what());
  }
}

void introduce(MPI_Group world) {
  int rank = 0, ranks = 0;
  host().Group_rank(world, &rank);
  host().Group_size(world, &ranks);
  process.rank = rank;
  attempt([&] { process.engine->after_init(rank, ranks); });
  if (process.engine->arena()) return;
  explain((process.engine->wants_network() ? "nothing runs in shared memory: "
                                           : "everything is left to the MPI: ") +
          process.engine->why_not());
}

bool level_forbids_two_at_once() {
  int level = MPI_THREAD_MULTIPLE;
  return host().Query_thread(&level) == MPI_SUCCESS && level != MPI_THREAD_MULTIPLE;
}

void begin_world() {
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Group group;
  if (host().Comm_group(world, &group) != MPI_SUCCESS) return;
  process.world = true;
  process.one_at_a_time = level_forbids_two_at_once();
  keep_world_group(world_model, group);
  after_start(group);
  open_network();
  remember(world, world_origin);
}

// What one rank cannot begin is an error: the others may run collectives.
int begun_world() {
  try {
    begin_world();
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {
    return raise_class(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
  }
}

// More than the program has asked for, where Hocket's thread is to carry messages.
int needed_level(int required) {
  return is_messenger_wanted() ? MPI_THREAD_MULTIPLE : required;
}

int init(int* argc, char*** argv) {
  before_start();
  int provided = MPI_THREAD_SINGLE;
  const int result = is_messenger_wanted() ? host().Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                                           : host().Init(argc, argv);
  return result == MPI_SUCCESS ? begun_world() : result;
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  before_start();
  const int result = host().Init_thread(argc, argv, needed_level(required), provided);
  return result == MPI_SUCCESS ? begun_world() : result;
}

int finalize() {
  forget_all_kept();
  if (!sessions_remain()) before_end();
  free_unused_requests();
  process.world = false;
  close_network();
  free_world_group(world_model);
  return host().Finalize();
}

}  // namespace

bool world_remains() {
  return process.world;
}

void before_start() {
  if (announced) return;
  announced = true;
  attempt([] { process.engine->before_init(); });
}

void after_start(MPI_Group world) {
  if (running) return;
  running = true;
  introduce(world);
  open_types();
  open_communicators();
  find_out_about_revocation();
  start_poking();
  hook_into_mpi();
  leave_preload();
  process.on = process.wanted;
}

void before_end() {
  if (!running) return;
  running = false;
  process.on = false;
  finish_all_of(nullptr);
  end_progress_thread();
  unhook_from_mpi();
  attempt(write_report);
  stop_poking();
  close_communicators();
  close_types();
}

void install_lifecycle(void** own) {
  install(own, HOCKET_CALL_Init, &init);
  install(own, HOCKET_CALL_Init_thread, &init_thread);
  install(own, HOCKET_CALL_Finalize, &finalize);
}

}  // namespace hocket::interpose
