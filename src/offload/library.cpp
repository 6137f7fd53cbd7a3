#include "offload/library.hpp"

#include <dlfcn.h>

#include <utility>

#include "base/error.hpp"
#include "base/on_off.h"

namespace hocket::offload {

namespace {

void* opened(const std::string& name) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle) return handle;
  const char* const why = dlerror();  // it names the library
  throw Error("SHARP's library cannot be loaded: " + (why ? why : name));
}

}  // namespace

Library::Library(std::string name) : name_(std::move(name)) {
  void* const handle = opened(name_);
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
    return function != nullptr;
  };
  const auto need = [&](auto& function, const char* symbol) {
    if (!find(function, symbol)) throw Error(name_ + " is not SHARP's library: it has no " + symbol);
  };
  need(functions_.init, "sharp_coll_init");
  need(functions_.finalize, "sharp_coll_finalize");
  need(functions_.caps_query, "sharp_coll_caps_query");
  need(functions_.progress, "sharp_coll_progress");
  need(functions_.comm_init, "sharp_coll_comm_init");
  need(functions_.comm_destroy, "sharp_coll_comm_destroy");
  need(functions_.do_allreduce_nb, "sharp_coll_do_allreduce_nb");
  find(functions_.do_reduce_nb, "sharp_coll_do_reduce_nb");
  find(functions_.do_bcast_nb, "sharp_coll_do_bcast_nb");
  need(functions_.do_barrier_nb, "sharp_coll_do_barrier_nb");
  need(functions_.req_test, "sharp_coll_req_test");
  need(functions_.req_free, "sharp_coll_req_free");
  need(functions_.reg_mr, "sharp_coll_reg_mr");
  need(functions_.dereg_mr, "sharp_coll_dereg_mr");
  need(functions_.strerror, "sharp_coll_strerror");
  find(functions_.alarm, "hocket_sharp_alarm");
  const sharp_coll_config* presets = nullptr;
  if (find(presets, "sharp_coll_default_config")) presets_ = *presets;
}

bool Library::has(Kind kind) const noexcept {
  switch (kind) {
    case Kind::reduce:
      return functions_.do_reduce_nb != nullptr;
    case Kind::bcast:
      return functions_.do_bcast_nb != nullptr;
    default:
      return true;
  }
}

std::string Library::words_of(int error) const {
  const char* const words = functions_.strerror(error);
  return (words ? words : "Unknown error") + (" (" + std::to_string(error) + ")");
}

std::string beside_this_library() {
  Dl_info info{};
  const bool is_found = dladdr(reinterpret_cast<const void*>(&beside_this_library), &info) != 0;
  const std::string own = is_found && info.dli_fname ? info.dli_fname : "";
  return own.substr(0, own.rfind('/') + 1) + "libsharp_coll.so";  // without a folder: where the loader looks
}

std::string library_meant(const std::string& option, std::string_view switch_place) {
  if (hocket_means_off(option.c_str())) return {};
  if (option != "auto") return option;
  return switch_place.empty() ? std::string() : beside_this_library();
}

}  // namespace hocket::offload
