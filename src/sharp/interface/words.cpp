// sharp_coll.h: words for people.
#include <cstdio>

#include "sharp/interface/edge.hpp"
#include "sharp/settings.hpp"

using namespace hocket::sharp;

extern "C" {

const char* sharp_coll_strerror(int error) {
  return words_of(error);
}

int sharp_coll_print_config(FILE* stream, config_print_flags /*print_flags*/, const char* /*exec_name*/) {
  return at_edge("sharp_coll_print_config", false, [&] {
    print_settings(&given(stream));
    return SHARP_COLL_SUCCESS;
  });
}

void sharp_coll_log_early_init(void) {}

}  // extern "C"
