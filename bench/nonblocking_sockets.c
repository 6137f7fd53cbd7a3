// What a worker on a node's own cores can hardly undercut: the same bytes between two nodes by a thread that
// does nothing but send and receive them over TCP, from and to where they belong. No messages, no schedule,
// no copy but the kernel's and that of a rank's own block, no agreement that all have ended.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/futex.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "nonblocking_sockets.h"

// One way of an exchange with the other rank.
struct part {
  char* at;
  size_t bytes;
};

static struct {
  int peer;  // a connection; 0: not yet
  pthread_t thread;
  struct part out, in;
  struct {
    char* to;
    const char* from;
    size_t bytes;
  } own;  // a rank's block for itself
  _Atomic uint32_t started, ended;
} exchange;

static void fail(const char* what) {
  perror(what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

static void wait_while(_Atomic uint32_t* word, uint32_t value) {
  while (atomic_load(word) == value) syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void count_up(_Atomic uint32_t* word) {
  atomic_fetch_add(word, 1);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

// As hocketd does (src/worker/short_turns.cpp), or it would wait for the end of the rank's turn.
static void ask_for_short_turns(void) {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
  } wanted = {.size = 48, .nice = getpriority(PRIO_PROCESS, 0), .runtime_ns = 100000};
  if (sched_getscheduler(0) == SCHED_OTHER) syscall(SYS_sched_setattr, 0, &wanted, 0U);
}

// One call of the kernel for as much as may come at once, not for each packet.
static void ask_for_much_at_a_time(size_t bytes) {
  enum { most = 128 << 10 };
  const int least = bytes < most ? (int)bytes : most;
  setsockopt(exchange.peer, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
}

static void advance(struct part* part, ssize_t moved) {
  if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EINTR)) fail("the other rank's socket");
  if (moved <= 0) return;
  part->at += moved;
  part->bytes -= (size_t)moved;
}

static void receive_and_send(void) {
  struct part out = exchange.out, in = exchange.in;
  while (out.bytes > 0 || in.bytes > 0) {
    struct pollfd peer = {.fd = exchange.peer};
    peer.events = (short)((in.bytes > 0 ? POLLIN : 0) | (out.bytes > 0 ? POLLOUT : 0));
    if (in.bytes > 0) ask_for_much_at_a_time(in.bytes);
    if (poll(&peer, 1, -1) < 0) continue;
    if (out.bytes > 0 && peer.revents & POLLOUT)
      advance(&out, send(exchange.peer, out.at, out.bytes, MSG_NOSIGNAL | MSG_DONTWAIT));
    if (in.bytes > 0 && peer.revents & ~POLLOUT)
      advance(&in, recv(exchange.peer, in.at, in.bytes, MSG_DONTWAIT));
  }
}

static void* carry_out(void* nothing) {
  ask_for_short_turns();
  for (uint32_t done = 0;; ++done) {
    wait_while(&exchange.started, done);
    receive_and_send();
    if (exchange.own.bytes > 0) memcpy(exchange.own.to, exchange.own.from, exchange.own.bytes);
    count_up(&exchange.ended);
  }
  return nothing;
}

// Of the first device that is up and no loopback.
static struct in_addr own_address(void) {
  struct in_addr found = {htonl(INADDR_LOOPBACK)};
  struct ifaddrs* all = NULL;
  if (getifaddrs(&all) != 0) fail("getifaddrs");
  for (const struct ifaddrs* each = all; each; each = each->ifa_next) {
    if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET) continue;
    if (!(each->ifa_flags & IFF_UP) || each->ifa_flags & IFF_LOOPBACK) continue;
    found = ((struct sockaddr_in*)(void*)each->ifa_addr)->sin_addr;
    break;
  }
  freeifaddrs(all);
  return found;
}

static int accept_other(void) {
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = own_address()};
  socklen_t length = sizeof here;
  const int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (door < 0 || bind(door, (struct sockaddr*)&here, sizeof here) != 0 || listen(door, 1) != 0)
    fail("listening for the other rank");
  getsockname(door, (struct sockaddr*)&here, &length);
  MPI_Ssend(&here, (int)sizeof here, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  const int found = accept4(door, NULL, NULL, SOCK_CLOEXEC);
  close(door);
  return found;
}

static int connect_other(void) {
  struct sockaddr_in there;
  MPI_Recv(&there, (int)sizeof there, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int found = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return found >= 0 && connect(found, (struct sockaddr*)&there, sizeof there) == 0 ? found : -1;
}

static void meet(int rank) {
  static const int yes = 1;
  exchange.peer = rank == 0 ? accept_other() : connect_other();
  if (exchange.peer < 0) fail("a connection to the other rank");
  setsockopt(exchange.peer, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (pthread_create(&exchange.thread, NULL, carry_out, NULL) != 0) fail("a thread");
}

static bool is(const struct cell* cell, const char* collective) {
  return strcmp(cell->collective->name, collective) == 0;
}

bool sockets_can(const struct cell* cell) {
  return cell->ranks == 2 && (is(cell, "alltoall") || is(cell, "allgather") || is(cell, "bcast"));
}

void sockets_open(const struct cell* cell) {
  const size_t bytes = cell->count * cell->element;
  const size_t mine = bytes * (size_t)cell->rank, others = bytes * (size_t)(1 - cell->rank);
  const char* const own = is(cell, "alltoall") ? cell->send + mine : cell->send;
  if (exchange.peer == 0) meet(cell->rank);
  memset(&exchange.own, 0, sizeof exchange.own);
  exchange.out = (struct part){is(cell, "alltoall") ? cell->send + others : cell->send, bytes};
  exchange.in = (struct part){cell->recv + others, bytes};
  if (!is(cell, "bcast")) {
    exchange.own.from = own;
    exchange.own.to = cell->recv + mine;
    exchange.own.bytes = bytes;
  } else if (cell->rank == cell->root) {
    exchange.in.bytes = 0;
  } else {
    exchange.in.at = cell->recv;
    exchange.out.bytes = 0;
  }
}

void sockets_start(void) {
  count_up(&exchange.started);
}

bool sockets_test(void) {
  return atomic_load(&exchange.ended) == atomic_load(&exchange.started);
}

void sockets_wait(void) {
  const uint32_t last = atomic_load(&exchange.started);
  for (uint32_t ended; (ended = atomic_load(&exchange.ended)) != last;) wait_while(&exchange.ended, ended);
}

double sockets_core_now(void) {
  clockid_t clock;
  struct timespec time = {0};
  if (exchange.peer == 0 || pthread_getcpuclockid(exchange.thread, &clock) != 0) return 0;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
