#include "interpose/plugin/requests/aside.hpp"

#include <mutex>

#include "interpose/plugin/lifecycle.hpp"
#include "interpose/plugin/process.hpp"
#include "interpose/plugin/requests/nonblocking_request.hpp"
#include "interpose/plugin/requests/own_requests.hpp"
#include "interpose/plugin/requests/progress.hpp"

namespace hocket::interpose {

bool calls_come_one_at_a_time() noexcept {
  return process.world && process.one_at_a_time && !sessions_remain();
}

static void join_locked(Request& request) {
  request.come_back();
  add_under_way(request);
}

void join(Request& request) {
  const std::lock_guard lock(progress_lock);
  join_locked(request);
}

void join_non_blocking_one(const Communicator& c) {
  if (c.aside) join_locked(*c.aside);
}

void join_those_aside(const Communicator* communicator) {
  if (communicator && communicator->aside) join(*communicator->aside);
  if (communicator && communicator->persistent_requests == 0) return;
  const auto is_meant = [&](const Request& r) {
    return r.is_aside() && (!communicator || &r.communicator() == communicator);
  };
  while (Request* request = own_requests.find_if(is_meant)) join(*request);
}

void forget_kept(const Communicator& c) noexcept {
  if (!c.kept) return;
  const std::lock_guard lock(progress_lock);
  c.kept->let_go();
}

void forget_all_kept() noexcept {
  const std::lock_guard lock(progress_lock);
  const auto is_kept = [](const Request& r) {
    return !r.is_persistent() && !r.is_active() && r.keeps_operation();
  };
  while (Request* request = own_requests.find_if(is_kept)) request->communicator().kept->let_go();
}

}  // namespace hocket::interpose
