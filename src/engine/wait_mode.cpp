#include "engine/wait_mode.hpp"

namespace hocket::engine {

transports::WaitMode wait_mode(const Engine& engine) {
  const std::string& wish = engine.options().wait;
  if (wish == "spin") return transports::WaitMode::spin;
  if (wish == "yield") return transports::WaitMode::yield;
  if (wish == "sleep") return transports::WaitMode::sleep;
  return engine.oversubscribed() ? transports::WaitMode::yield : transports::WaitMode::spin;
}

transports::Waiting waiting_of(const Engine& engine, transports::Watch& watch) {
  return {wait_mode(engine), engine.host().poke, engine.host().context, &watch, nullptr};
}

}  // namespace hocket::engine
