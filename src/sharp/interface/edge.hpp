// The edge to C: handles, and what is thrown as a number. What went wrong is said where it is asked for.
#pragma once

#include <exception>
#include <new>

#include "sharp/context.hpp"
#include "sharp/refusal.hpp"
#include "sharp/speech.hpp"

namespace hocket::sharp {

inline Context& context_of(sharp_coll_context* handle) {
  if (!handle) throw Refusal(SHARP_COLL_EINVAL, "no context");
  return *reinterpret_cast<Context*>(handle);
}

inline Communicator& communicator_of(sharp_coll_comm* handle) {
  if (!handle) throw Refusal(SHARP_COLL_EINVAL, "no communicator");
  return *reinterpret_cast<Communicator*>(handle);
}

template <class Value>
Value& given(Value* value) {
  if (!value) throw Refusal(SHARP_COLL_EINVAL, "an argument is null");
  return *value;
}

/// What `act` returns, or the error that it throws.
template <class Act>
int at_edge(const char* function, bool is_quiet, Act act) noexcept {
  const auto failed = [&](int code, const char* words) {
    if (!is_quiet) say_error(function, code, words);
    return code;
  };
  try {
    return act();
  } catch (const Refusal& refusal) {
    return failed(refusal.code(), refusal.what());
  } catch (const std::bad_alloc& error) {
    return failed(SHARP_COLL_ENOMEM, error.what());
  } catch (const std::exception& error) {
    return failed(SHARP_COLL_ERROR, error.what());
  }
}

}  // namespace hocket::sharp
