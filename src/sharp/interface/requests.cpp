// sharp_coll.h: requests.
#include <sched.h>

#include <memory>

#include "sharp/interface/edge.hpp"
#include "sharp/request.hpp"
#include "sharp/waiting.hpp"

using namespace hocket::sharp;

namespace {

int outcome_of(const Request& request) noexcept {
  return request.outcome.load(std::memory_order_acquire);
}

/// Callers test in a loop. Where processes share a core, the one that is waited for should get it.
void let_others_run(bool has_news) noexcept {
  constexpr int looks_in_vain = 100;
  thread_local int in_vain = 0;
  in_vain = has_news ? 0 : in_vain + 1;
  if (in_vain % looks_in_vain == looks_in_vain - 1) sched_yield();
}

int test(Request& request) {
  if (const int outcome = outcome_of(request); outcome != Request::pending) return outcome;
  Context& context = request.communicator->context();
  bool has_news = false;
  {
    const auto lock = context.guard();
    has_news = context.progress();
  }
  let_others_run(has_news);
  return outcome_of(request);
}

/// What runs on without its caller ends itself.
void let_go(std::unique_ptr<Request> request) {
  if (outcome_of(*request) != Request::pending) return;
  const auto lock = request->communicator->context().guard();
  if (outcome_of(*request) != Request::pending) return;
  request->is_orphan = true;
  request.release();  // NOLINT(bugprone-unused-return-value): Request::end frees it
}

}  // namespace

extern "C" {

int sharp_coll_req_test(void* handle) {
  return at_edge("sharp_coll_req_test", false, [&] { return test(given(static_cast<Request*>(handle))); });
}

int sharp_coll_req_wait(void* handle) {
  return at_edge("sharp_coll_req_wait", false, [&] {
    const std::unique_ptr<Request> request(&given(static_cast<Request*>(handle)));
    int outcome = outcome_of(*request);
    if (outcome == Request::pending) outcome = await(request->communicator->context(), *request);
    return outcome == Request::done ? static_cast<int>(SHARP_COLL_SUCCESS) : outcome;
  });
}

int sharp_coll_req_free(void* handle) {
  return at_edge("sharp_coll_req_free", false, [&] {
    let_go(std::unique_ptr<Request>(&given(static_cast<Request*>(handle))));
    return SHARP_COLL_SUCCESS;
  });
}

}  // extern "C"
