// SHARP's library, whoever's it is: NVIDIA's, or the one that comes with Hocket. Opened when it is needed and
// never closed: it may have threads, and more that ends with the process.
#pragma once

#include <string>
#include <string_view>

#include "offload/aggregation.hpp"
#include "sharp/api/hocket_sharp.h"
#include "sharp/api/sharp_coll.h"

namespace hocket::offload {

class Library {
 public:
  /// A path, or a name that the loader looks for. Throws Error naming the library, and the function that it
  /// lacks.
  explicit Library(std::string name);

  /// What is called of it. Older libraries lack reduce and bcast, all but Hocket's the alarm: null.
  struct Functions {
    decltype(&sharp_coll_init) init;
    decltype(&sharp_coll_finalize) finalize;
    decltype(&sharp_coll_caps_query) caps_query;
    decltype(&sharp_coll_progress) progress;
    decltype(&sharp_coll_comm_init) comm_init;
    decltype(&sharp_coll_comm_destroy) comm_destroy;
    decltype(&sharp_coll_do_allreduce_nb) do_allreduce_nb;
    decltype(&sharp_coll_do_reduce_nb) do_reduce_nb;
    decltype(&sharp_coll_do_bcast_nb) do_bcast_nb;
    decltype(&sharp_coll_do_barrier_nb) do_barrier_nb;
    decltype(&sharp_coll_req_test) req_test;
    decltype(&sharp_coll_req_free) req_free;
    decltype(&sharp_coll_reg_mr) reg_mr;
    decltype(&sharp_coll_dereg_mr) dereg_mr;
    decltype(&sharp_coll_strerror) strerror;
    decltype(&hocket_sharp_alarm) alarm;
  };
  const Functions& functions() const noexcept { return functions_; }
  const sharp_coll_config& presets() const noexcept { return presets_; }

  const std::string& name() const noexcept { return name_; }
  bool has(Kind kind) const noexcept;
  /// With its number.
  std::string words_of(int error) const;

 private:
  std::string name_;
  Functions functions_{};
  sharp_coll_config presets_{};
};

/// Hocket's own: it lies where this code was loaded from.
std::string beside_this_library();

/// The library that HOCKET_SHARP_LIBRARY means where HOCKET_SWITCH is `switch_place`. Empty: none.
std::string library_meant(const std::string& option, std::string_view switch_place);

}  // namespace hocket::offload
