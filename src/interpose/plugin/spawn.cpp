// MPI_Comm_spawn: the children are MPI programs and get the preload.
#include "interpose/plugin/environment.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"

namespace hocket::interpose {
namespace {

int comm_spawn(const char* command, char** argv, int maxprocs, MPI_Info info, int root, MPI_Comm comm,
               MPI_Comm* intercomm, int* errcodes) {
  const PreloadAround preload;
  return host().Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, errcodes);
}

int comm_spawn_multiple(int count, char** commands, char*** argvs, const int* maxprocs, const MPI_Info* infos,
                        int root, MPI_Comm comm, MPI_Comm* intercomm, int* errcodes) {
  const PreloadAround preload;
  return host().Comm_spawn_multiple(count, commands, argvs, maxprocs, infos, root, comm, intercomm, errcodes);
}

}  // namespace

void install_spawn(void** own) {
  install(own, HOCKET_CALL_Comm_spawn, &comm_spawn);
  install(own, HOCKET_CALL_Comm_spawn_multiple, &comm_spawn_multiple);
}

}  // namespace hocket::interpose
