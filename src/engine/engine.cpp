#include "engine/engine.hpp"

#include "base/error.hpp"
#include "engine/device_runtime.hpp"
#include "kernels/kernels.hpp"

namespace hocket::engine {

Engine::Engine(const Options& options, Host host)
    : options_(options), host_(host), rules_(options.disable, options.force, options.rules) {
  kernels::select(options.isa);
}

Engine::~Engine() = default;

void Engine::before_init() {
  const std::optional<JobIdentity> job = identify_job(why_not_, host_.launcher);
  if (!job) return;
  if (job->local_size < 2) {
    why_not_ = "the job has one rank on this node";
    return;
  }
  if (options_.device == "auto") device_runtime_ = loaded_device_runtime();
  const std::string buffers = device_runtime_.empty() ? "" : "; device buffers possible";
  try {
    arena_ = Arena::announce(*job, {options_.memory, options_.setup_seconds,
                                    "hocket " HOCKET_VERSION "; " + options_.fingerprint() + buffers});
    arena_->set_poke(host_.poke, host_.context);
  } catch (const Error& e) {
    why_not_ = e.what();
  }
}

void Engine::after_init(Rank rank, Rank ranks) {
  if (arena_) arena_->introduce(rank, ranks);
}

}  // namespace hocket::engine
