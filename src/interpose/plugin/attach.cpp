// The plugin's one entry: stage 0 has found an MPI of this family and asks for implementations.
#include <string_view>

#include "base/error.hpp"
#include "engine/job_identity.hpp"
#include "interpose/plugin/errors.hpp"
#include "interpose/plugin/handles/operations.hpp"
#include "interpose/plugin/host.hpp"
#include "interpose/plugin/install.hpp"
#include "interpose/plugin/poke.hpp"
#include "interpose/plugin/process.hpp"
#include "interpose/plugin/requests/deferred_frees.hpp"

namespace hocket::interpose {

// Never destroyed: MPI may be called while the program's statics are.
Process& process = *new Process;

namespace {

#if defined(HOCKET_ABI_OMPI)
constexpr std::string_view own_launcher = "PMIx";
#else
constexpr std::string_view own_launcher = "hydra";
#endif

// All ranks find the same mistake; one of them says it.
bool is_speaker() {
  std::string why_not;
  const auto job = engine::identify_job(why_not, own_launcher);
  return !job || job->local_rank == 0;
}

void say_for_engine(void*, const std::string& text) {
  say(text);
}

bool start_engine() {
  try {
    const Options options = Options::from_environment();
    if (!options.on) return false;
    process.reporting = !options.report.empty();
    process.engine =
        std::make_unique<engine::Engine>(options, engine::Host{poke, say_for_engine, nullptr, own_launcher});
    return true;
  } catch (const std::exception& e) {
    if (is_speaker()) say(std::string(e.what()) + "; everything is left to the MPI");
    return false;
  }
}

void install_all(void** own) {
  install_collectives(own);
  install_marked(own);
  install_nonblocking(own);
  install_persistent(own);
  install_completion(own);
  install_frees(own);
  install_point_to_point(own);
  install_lifecycle(own);
  install_sessions(own);
  install_creation(own);
  install_topologies(own);
  install_groups(own);
  install_spawn(own);
  install_memory(own);
}

int attach(const hocket_stage0& stage0, void** own) {
  if (stage0.abi_version != HOCKET_ABI_VERSION || stage0.calls != HOCKET_CALLS) {
    say(std::string(stage0.self_path) +
        " is of another version than its plugin; everything is left to the MPI");
    return 1;
  }
  process.stage0 = &stage0;
  find_host_functions(stage0);
  open_operations();
  if (!start_engine()) return 1;
  install_all(own);
  return 0;
}

}  // namespace
}  // namespace hocket::interpose

extern "C" __attribute__((visibility("default"))) int hocket_plugin_attach(const hocket_stage0* stage0,
                                                                           void** own) {
  return hocket::interpose::attach(*stage0, own);
}
