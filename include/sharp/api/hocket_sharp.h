/* What Hocket's libsharp_coll.so has beyond SHARP's interface. Callers look for it with dlsym: other
 * libraries lack it. */
#ifndef HOCKET_SHARP_H
#define HOCKET_SHARP_H

#include <poll.h>

#include "sharp/api/sharp_coll.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* What to wait for with poll(2) once sharp_coll_req_test has found nothing new for requests of `comm`: until
 * then a call of it would be in vain, unless anybody else in the process has called the library meanwhile,
 * and so may have taken the result in. It changes with every call of the library. Without a connection its
 * descriptor is -1, which poll leaves out. Returns SHARP_COLL_SUCCESS, or SHARP_COLL_EINVAL where something
 * is NULL. */
int hocket_sharp_alarm(struct sharp_coll_comm* comm, struct pollfd* alarm);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
