#include "sharp/waiting.hpp"

#include <poll.h>

#include <algorithm>
#include <vector>

#include "base/clock.hpp"
#include "sharp/context.hpp"
#include "sharp/request.hpp"

namespace hocket::sharp {

namespace {

constexpr double longest_rest_seconds = 0.1;
/// What other threads, or the caller's function, may have moved is looked for so often.
constexpr double shared_rest_seconds = 0.001;
/// Callers ask for millions, as if a look were a load and not a system call.
constexpr int most_looks = 10'000;

int looks_of(const Context& context) noexcept {
  const int wanted = context.spec().config.user_progress_num_polls;
  return std::clamp(wanted, 1, most_looks);
}

bool is_alone(const Context& context) noexcept {
  return context.spec().enable_thread_support == 0 && !context.spec().progress_func;
}

std::vector<pollfd> alarms_of(Context& context) {
  const auto lock = context.guard();
  std::vector<pollfd> alarms;
  for (const auto& tree : context.trees()) alarms.push_back(tree->alarm());
  return alarms;
}

/// What it has missed by then it cannot catch up with.
void give_up(Context& context, const Request& request) {
  const auto lock = context.guard();
  if (request.outcome == Request::pending) request.communicator->give_up();
}

}  // namespace

void await_news(Context& context, double seconds) {
  std::vector<pollfd> alarms = alarms_of(context);
  poll(alarms.data(), alarms.size(), static_cast<int>(seconds * 1e3));
}

int await(Context& context, const Request& request) {
  const int looks = looks_of(context), timeout = context.spec().config.coll_timeout;
  std::uint64_t heard_ns = monotonic_ns();
  for (int in_vain = 0; request.outcome.load(std::memory_order_acquire) == Request::pending;) {
    bool has_news = false;
    {
      const auto lock = context.guard();
      has_news = context.progress();
    }
    if (has_news) {
      in_vain = 0;
      heard_ns = monotonic_ns();
    } else if (++in_vain >= looks) {
      if (const auto progress = context.spec().progress_func) progress();
      await_news(context, is_alone(context) ? longest_rest_seconds : shared_rest_seconds);
      if (timeout > 0 && monotonic_ns() - heard_ns > static_cast<std::uint64_t>(timeout) * 1'000'000'000U)
        give_up(context, request);
    }
  }
  return request.outcome;
}

}  // namespace hocket::sharp
