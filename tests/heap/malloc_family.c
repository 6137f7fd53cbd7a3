/* A program whose malloc libhocket_heap.so is: large pieces and small ones, by all functions of the family,
 * with threads and children. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../harness/shared_heap.h"

static int failures;

#define EXPECT(condition)                                    \
  do {                                                       \
    if (!(condition)) {                                      \
      ++failures;                                            \
      printf("FAILED: line %d: %s\n", __LINE__, #condition); \
    }                                                        \
  } while (0)

static const size_t large = 300000, small = 100;

static int is_all(const unsigned char* piece, size_t bytes, int value) {
  for (size_t i = 0; i < bytes; ++i)
    if (piece[i] != value) return 0;
  return 1;
}

static void by_size(void) {
  char* piece = malloc(large);
  char* little = malloc(small);
  EXPECT(piece != NULL && is_shared(piece));
  EXPECT(little != NULL && !is_shared(little));
  EXPECT(malloc_usable_size(piece) >= large && malloc_usable_size(little) >= small);
  EXPECT(malloc_usable_size(NULL) == 0);
  memset(piece, 1, malloc_usable_size(piece));
  errno = 77;
  free(piece);
  free(little);
  free(NULL);
  EXPECT(errno == 77);
  errno = 0;
  volatile size_t far_too_much = SIZE_MAX - 100;
  void* none = malloc(far_too_much);
  EXPECT(none == NULL && errno == ENOMEM);
  free(none);
}

static void zeros(void) {
  for (int i = 0; i < 10; ++i) {
    unsigned char* piece = calloc(large / 4, 4);
    EXPECT(piece != NULL && is_all(piece, large, 0));
    memset(piece, 0xff, large);
    free(piece);
  }
  volatile size_t half = SIZE_MAX / 2;
  void* none = calloc(half, 3);
  EXPECT(none == NULL);
  free(none);
}

static void grown_and_shrunk(void) {
  unsigned char* piece = NULL;
  size_t had = 0;
  const size_t sizes[] = {small, large, 2 * large, 10 * large, large, small, 70000, 65535, 65536, 200};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    unsigned char* moved = realloc(piece, sizes[i]);
    piece = moved;
    EXPECT(piece != NULL && is_all(piece, had < sizes[i] ? had : sizes[i], (int)i));
    memset(piece, (int)i + 1, sizes[i]);
    had = sizes[i];
  }
  for (int i = 0; i < 2; ++i) {
    volatile size_t far_too_much = SIZE_MAX - 100;
    unsigned char* moved = realloc(piece, far_too_much);
    EXPECT(moved == NULL);
    if (moved == NULL) EXPECT(is_all(piece, had, 10)); /* it is still there */
    piece = realloc(moved == NULL ? piece : moved, large);
    memset(piece, 10, had = large);
  }
  EXPECT(realloc(piece, 0) == NULL); /* which has freed it, as glibc's does */
  piece = reallocarray(NULL, large, 2);
  EXPECT(piece != NULL && is_shared(piece));
  free(piece);
}

static void aligned(void) {
  for (size_t alignment = sizeof(void*); alignment <= 1 << 21; alignment *= 2)
    for (int i = 0; i < 2; ++i) {
      const size_t bytes = i ? large : small;
      void* pieces[3] = {NULL, memalign(alignment, bytes), aligned_alloc(alignment, bytes)};
      EXPECT(posix_memalign(&pieces[0], alignment, bytes) == 0);
      for (int k = 0; k < 3; ++k) {
        EXPECT(pieces[k] != NULL && (uintptr_t)pieces[k] % alignment == 0);
        EXPECT(!i || is_shared(pieces[k]));
        memset(pieces[k], k, bytes);
        free(pieces[k]);
      }
    }
  void* piece = &piece;
  EXPECT(posix_memalign(&piece, 3, large) == EINVAL && piece == &piece);
  EXPECT(posix_memalign(&piece, 4, large) == EINVAL);
  piece = valloc(large);
  EXPECT((uintptr_t)piece % 4096 == 0);
  free(piece);
  piece = pvalloc(large);
  EXPECT((uintptr_t)piece % 4096 == 0 && malloc_usable_size(piece) >= (large + 4095) / 4096 * 4096);
  free(piece);
}

static int child_of(unsigned char* piece) {
  if (!is_all(piece, large, 5) || is_shared(piece)) return 1;
  memset(piece, 6, large);
  unsigned char* own = malloc(large);
  memset(own, 7, large);
  free(piece);
  free(own);
  return 0;
}

/* The child has what it had, and nothing of it is seen here. */
static void forks(void) {
  unsigned char* piece = malloc(large);
  memset(piece, 5, large);
  for (int i = 0; i < 3; ++i) {
    const pid_t pid = fork();
    if (pid == 0) _exit(child_of(piece));
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT(status == 0);
    EXPECT(is_all(piece, large, 5) && is_shared(piece));
  }
  EXPECT(system("exit 3") >> 8 == 3);
  free(piece);
}

/* As libraries do that have threads of their own: it was registered before the first large piece was taken.
 */
static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;
static unsigned char* library_piece;
static void* large_piece_under_a_lock(void* ignored) {
  pthread_mutex_lock(&library);
  free(malloc(large));
  pthread_mutex_unlock(&library);
  return ignored;
}
static void before_fork(void) {
  pthread_t other;
  if (!library_piece || pthread_create(&other, NULL, large_piece_under_a_lock, NULL) != 0) return;
  pthread_join(other, NULL);
  memset(library_piece, 1, large); /* which the child sees */
}
static void in_child(void) {
  if (library_piece)
    memset(library_piece, library_piece[0] == 1 ? 2 : 3, large); /* and the parent does not */
}
__attribute__((constructor)) static void register_early(void) {
  pthread_atfork(before_fork, NULL, in_child);
}

static void forks_with_others_who_have_a_say(void) {
  library_piece = malloc(large);
  memset(library_piece, 0, large);
  const pid_t pid = fork();
  if (pid == 0) _exit(is_all(library_piece, large, 2) ? 0 : 1);
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT(status == 0);
  EXPECT(is_all(library_piece, large, 1));
  free(library_piece);
  library_piece = NULL;
}

static void* in_a_thread(void* number) {
  const int value = (int)(intptr_t)number;
  for (int i = 0; i < 200; ++i) {
    unsigned char* piece = malloc(large + (size_t)i * 1000);
    memset(piece, value, large);
    unsigned char* moved = realloc(piece, 2 * large);
    const int right = is_all(moved, large, value);
    free(moved);
    if (!right) return number;
  }
  return NULL;
}

static void threads(void) {
  pthread_t ids[4];
  for (intptr_t i = 0; i < 4; ++i) pthread_create(&ids[i], NULL, in_a_thread, (void*)(i + 1));
  for (int i = 0; i < 4; ++i) {
    void* wrong = NULL;
    pthread_join(ids[i], &wrong);
    EXPECT(wrong == NULL);
  }
}

int main(void) {
  by_size();
  zeros();
  grown_and_shrunk();
  aligned();
  forks();
  forks_with_others_who_have_a_say();
  threads();
  printf("%d failures\n", failures);
  return failures != 0;
}
