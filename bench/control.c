// Hocket as the benchmark sees it: a control call looked up at run time.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "hocket_bench.h"

typedef int (*control_function)(const char*);

static control_function control(void) {
  static control_function found;
  static bool looked;
  if (!looked) {
    *(void**)&found = dlsym(RTLD_DEFAULT, "hocket_control");
    looked = true;
  }
  return found;
}

bool hocket_loaded(void) {
  return control() != NULL;
}

bool hocket_attached(void) {
  return control() && control()("on") >= 0;
}

void hocket_switch(bool on) {
  if (control()) control()(on ? "on" : "off");
}
