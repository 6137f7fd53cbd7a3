// MPI_Comm_spawn: the children are MPI programs and get the preload. Most launchers hand the environment of
// the spawning process on; Open MPI 5's has its own, and is told by an info key.
#include <memory>
#include <string>
#include <vector>

#include "interpose/plugin/environment.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"

namespace hocket::interpose {
namespace {

/// Variables of the children, one per line; other launchers ignore it.
constexpr const char* variables_key = "PMIX_ENVAR";

bool is_root(int root, MPI_Comm comm) {
  int rank = -1;
  return host().Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

std::string value_of(MPI_Info info) {
  int length = 0, found = 0;
  host().Info_get_valuelen(info, variables_key, &length, &found);
  if (!found) return {};
  std::string value(static_cast<std::size_t>(length), '\0');
  host().Info_get(info, variables_key, length, value.data(), &found);
  return value;
}

/// The program's info with the preload for its children. Only the root's means anything.
class ChildrensInfo {
 public:
  explicit ChildrensInfo(MPI_Info given) : info_(given) {
    const std::string preload = whole_preload();
    if (preload.empty()) return;
    std::string variables = given == MPI_INFO_NULL ? "" : value_of(given);
    variables += (variables.empty() ? "" : "\n") + ("LD_PRELOAD=" + preload);
    if (variables.size() < MPI_MAX_INFO_VAL && make_own())
      host().Info_set(info_, variables_key, variables.c_str());
  }
  ~ChildrensInfo() {
    if (own_) host().Info_free(&info_);
  }
  ChildrensInfo(const ChildrensInfo&) = delete;
  ChildrensInfo& operator=(const ChildrensInfo&) = delete;

  MPI_Info get() const { return info_; }

 private:
  bool make_own() {
    const MPI_Info given = info_;
    own_ =
        (given == MPI_INFO_NULL ? host().Info_create(&info_) : host().Info_dup(given, &info_)) == MPI_SUCCESS;
    return own_;
  }

  MPI_Info info_;
  bool own_ = false;
};

int comm_spawn(const char* command, char** argv, int maxprocs, MPI_Info info, int root, MPI_Comm comm,
               MPI_Comm* intercomm, int* errcodes) {
  const PreloadAround preload;
  const auto spawn = [&](MPI_Info with) {
    return host().Comm_spawn(command, argv, maxprocs, with, root, comm, intercomm, errcodes);
  };
  return is_root(root, comm) ? spawn(ChildrensInfo(info).get()) : spawn(info);
}

int comm_spawn_multiple(int count, char** commands, char*** argvs, const int* maxprocs, const MPI_Info* infos,
                        int root, MPI_Comm comm, MPI_Comm* intercomm, int* errcodes) {
  const PreloadAround preload;
  const auto spawn = [&](const MPI_Info* with) {
    return host().Comm_spawn_multiple(count, commands, argvs, maxprocs, with, root, comm, intercomm,
                                      errcodes);
  };
  if (!is_root(root, comm) || count < 1 || !infos) return spawn(infos);
  std::vector<std::unique_ptr<ChildrensInfo>> own;
  std::vector<MPI_Info> all;
  for (int i = 0; i < count; ++i) {
    own.push_back(std::make_unique<ChildrensInfo>(infos[i]));
    all.push_back(own.back()->get());
  }
  return spawn(all.data());
}

}  // namespace

void install_spawn(void** own) {
  install(own, HOCKET_CALL_Comm_spawn, &comm_spawn);
  install(own, HOCKET_CALL_Comm_spawn_multiple, &comm_spawn_multiple);
}

}  // namespace hocket::interpose
