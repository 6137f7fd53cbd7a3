// What a program may ask of Hocket, if it wants to. Programs need not know Hocket at all; those that do are
// built without it and find it at run time: libhocket.so, preloaded by hocket-exec, exports these names.
//
//   hocket_control_function control;
//   *(void**)&control = dlsym(RTLD_DEFAULT, "hocket_control");
//   if (control) control("off");
#ifndef HOCKET_HOCKET_H
#define HOCKET_HOCKET_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// "off" leaves all collectives to the MPI from now on, "on" lets Hocket run them again. Every rank of a
/// communicator must call it at the same place between its collectives. Returns 1 if Hocket was on before, 0
/// if it was off, -1 if it is not attached to this process's MPI or does not know the word.
int hocket_control(const char* command);
typedef int (*hocket_control_function)(const char* command);

/// Version of Hocket, "0.1.0".
const char* hocket_version(void);

/// One line: whether Hocket is attached to this process's MPI, and if not, why.
const char* hocket_status(void);

/// What ran so far on this rank, as the text of HOCKET_REPORT=1, cut to `size` bytes with its final zero.
/// Returns the length of the whole text; 0 if Hocket is not attached.
size_t hocket_report_text(char* buffer, size_t size);
typedef size_t (*hocket_report_function)(char* buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
