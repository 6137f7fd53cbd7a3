// The calls of hocket/hocket.h that the plugin answers: handed on to it, or answered for lack of one.
#include <dlfcn.h>
#include <stdatomic.h>

#include "hocket/hocket.h"
#include "interpose/stage0/stage0.h"

static _Atomic(hocket_control_function) plugin_control;
static _Atomic(hocket_report_function) plugin_report;

HOCKET_INTERNAL void control_connect(void* plugin) {
  hocket_control_function control;
  hocket_report_function report;
  *(void**)&control = dlsym(plugin, "hocket_plugin_control");
  *(void**)&report = dlsym(plugin, "hocket_plugin_report");
  atomic_store(&plugin_control, control);
  atomic_store(&plugin_report, report);
}

HOCKET_EXPORT int hocket_control(const char* command) {
  const hocket_control_function control = atomic_load(&plugin_control);
  return control ? control(command) : -1;
}

HOCKET_EXPORT size_t hocket_report_text(char* buffer, size_t size) {
  const hocket_report_function report = atomic_load(&plugin_report);
  if (report) return report(buffer, size);
  if (size) buffer[0] = '\0';
  return 0;
}

HOCKET_EXPORT const char* hocket_version(void) {
  return HOCKET_VERSION;
}
