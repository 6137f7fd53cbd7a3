// How the ranks of a communicator wait, from HOCKET_WAIT and the node's cores.
#pragma once

#include "engine/engine.hpp"
#include "transports/waiting.hpp"

namespace hocket::engine {

transports::WaitMode wait_mode(const Engine& engine);
transports::Waiting waiting_of(const Engine& engine, transports::Watch& watch);

}  // namespace hocket::engine
