// Ranks that are processes, each with its own memory, make random calls through the whole engine: what single
// copy and loans are tested with.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "engine/communicator.hpp"

namespace hocket::harness {

using engine::Function;
using engine::Rank;

inline constexpr const char* all_exposed =
    "bcast:exposed,gather:exposed,scatter:exposed,allgather:exposed,alltoall:exposed";
std::vector<Function> data_movers();

struct SingleCopySetting {
  int ranks = 3;
  std::string cma = "on";
  std::string force = all_exposed;
  int calls = 120;
  std::size_t most_elements = 30'000;
  std::size_t least_elements = 0;  ///< of each block; 0: three of four calls are small
  std::vector<Function> functions = data_movers();
  std::function<void(Rank rank, int call)> before_call = [](Rank, int) {};
  bool started = false;  ///< non-blocking calls, many under way at a time, among few blocking ones
  /// Of those: until this call has ended no other is started. Those that are under way when the ranks agree
  /// are not read any more, however many they are.
  int last_alone = -1;
};

Options options(const SingleCopySetting& setting);

/// Empty, or what went wrong.
std::string run_calls(const SingleCopySetting& setting, std::uint64_t from, Rank rank,
                      engine::Communicator& communicator);

/// Calls so far that an exposed row has made.
std::uint64_t calls_exposed(engine::Engine& engine);

using RankBody = std::function<std::string(Rank rank, engine::Communicator& communicator)>;

/// "N exposed;what the body returned;notes" of each rank, which ends when it has said it.
std::vector<std::string> in_forked(const SingleCopySetting& setting, const RankBody& wrong_in_rank);
/// The same of the setting's random calls.
std::vector<std::string> run_forked(const SingleCopySetting& setting);

/// The parts of such a text.
std::uint64_t exposed_in(const std::string& text);
std::string wrong_in(const std::string& text);

/// Nothing went wrong, and the ranks agreed on each call.
void expect_right(const std::vector<std::string>& texts);

}  // namespace hocket::harness
