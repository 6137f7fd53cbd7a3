#include "engine/device_runtime.hpp"

#include <link.h>

#include <array>
#include <string_view>

namespace hocket::engine {

namespace {

constexpr std::array<std::string_view, 4> runtimes = {"libcuda.so", "libcudart.so", "libamdhip64.so",
                                                      "libze_loader.so"};

int look(dl_phdr_info* info, std::size_t, void* found) {
  const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const std::string_view runtime : runtimes) {
    if (!file.starts_with(runtime)) continue;
    *static_cast<std::string*>(found) = runtime;
    return 1;
  }
  return 0;
}

}  // namespace

std::string loaded_device_runtime() {
  std::string found;
  dl_iterate_phdr(look, &found);
  return found;
}

}  // namespace hocket::engine
