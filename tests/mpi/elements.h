// What the random calls of differential.c reduce and move: elements of predefined and derived types, and the
// operations that MPI and the program define on them. Values are small, so that results are exact.
#pragma once

#include <complex.h>
#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"

// MPICH and its kin; the standard ABI, which has no name of an MPI in it, is MPICH's here.
#if defined(MPICH_NUMVERSION) || defined(MPI_ABI_VERSION)
#define OF_MPICH_KIND 1
#endif

// What operations an element takes: MPI 4.1, section 6.9.2 and 6.9.4, and the program's own.
enum {
  none = 0,
  integer = 1 << 0,
  floating = 1 << 1,
  is_complex = 1 << 2,
  logical = 1 << 3,
  bitwise = 1 << 4,
  location = 1 << 5,
  own_long = 1 << 6,
  own_map = 1 << 7,
  whole = integer | logical | bitwise,  // C integers
};

struct part {
  size_t offset, bytes;
};
struct element {
  const char* name;
  MPI_Datatype type;
  size_t extent;
  unsigned takes;
  void (*fill)(void* place, double value);
  struct part parts[2];  // what has a value; elsewhere are gaps
};

// The map x -> a x + b modulo a prime, with gaps behind the coefficients. Not for MPICH and its kin: when
// they reduce types with gaps, they write behind what they have allocated (operations.c reduces such types,
// and knows the results).
struct map {
#ifdef OF_MPICH_KIND
  int a, b;
#else
  int a, gap, b, after;
#endif
};
struct every_third {
  int x, gap[2];
};
// `place` need not be aligned to what a copy of 16 bytes wants.
#define NUMBER(name, ctype)                            \
  static void fill_##name(void* place, double value) { \
    const ctype x = (ctype)value;                      \
    memcpy(place, &x, sizeof x);                       \
  }
#define COMPLEX(name, ctype)                           \
  static void fill_##name(void* place, double value) { \
    const ctype x = (ctype)(value + (2 - value) * I);  \
    memcpy(place, &x, sizeof x);                       \
  }
#define PAIR(name, ctype)                              \
  struct name {                                        \
    ctype value;                                       \
    int index;                                         \
  };                                                   \
  static void fill_##name(void* place, double value) { \
    struct name* x = place;                            \
    x->value = (ctype)((int)value / 3);                \
    x->index = (int)value % 7;                         \
  }

NUMBER(schar, signed char)
NUMBER(uchar, unsigned char)
NUMBER(short, short)
NUMBER(ushort, unsigned short)
NUMBER(int, int)
NUMBER(unsigned, unsigned)
NUMBER(long, long)
NUMBER(ulong, unsigned long)
NUMBER(float, float)
NUMBER(double, double)
COMPLEX(cfloat, float complex)
COMPLEX(cdouble, double complex)
PAIR(float_int, float)
PAIR(double_int, double)
PAIR(long_int, long)
PAIR(short_int, short)
PAIR(int_int, int)
PAIR(ldouble_int, long double)

static void fill_bool(void* place, double value) {
  *(bool*)place = (int)value % 2;
}
static void fill_ldouble(void* place, double value) {
  *(long double*)place = value;
}
static void fill_every_third(void* place, double value) {
  *(struct every_third*)place = (struct every_third){(int)value, {-1, -2}};
}
static void fill_map(void* place, double value) {
  struct map* map = place;
  memset(map, 0xff, sizeof *map);
  map->a = (int)value + 1;
  map->b = 7 * (int)value;
}

enum { long_double_bytes = sizeof(long double) == 16 && LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

static MPI_Datatype resized(MPI_Datatype bare, size_t extent) {
  MPI_Datatype type;
  MPI_Type_create_resized(bare, 0, (MPI_Aint)extent, &type);
  MPI_Type_commit(&type);
  return type;
}

static MPI_Datatype map_type(void) {
  const int places[2] = {0, offsetof(struct map, b) / sizeof(int)};
  MPI_Datatype bare, type;
  MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &bare);
  type = resized(bare, sizeof(struct map));
  MPI_Type_free(&bare);
  return type;
}

enum { elements_room = 48 };
static struct element elements[elements_room];
static unsigned element_count;

static void add_element(struct element e) {
  elements[element_count++] = e;
}

static void make_numbers(void) {
#define ADD(ctype, filler, mpi_type, takes) \
  add_element(                              \
      (struct element){#mpi_type, mpi_type, sizeof(ctype), takes, fill_##filler, {{0, sizeof(ctype)}}})
  ADD(signed char, schar, MPI_SIGNED_CHAR, whole);
  ADD(unsigned char, uchar, MPI_UNSIGNED_CHAR, whole);
  ADD(short, short, MPI_SHORT, whole);
  ADD(unsigned short, ushort, MPI_UNSIGNED_SHORT, whole);
  ADD(int, int, MPI_INT, whole);
  ADD(unsigned, unsigned, MPI_UNSIGNED, whole);
  ADD(long, long, MPI_LONG, whole | own_long);
  ADD(unsigned long, ulong, MPI_UNSIGNED_LONG, whole);
  ADD(long long, long, MPI_LONG_LONG, whole);
  ADD(unsigned long long, ulong, MPI_UNSIGNED_LONG_LONG, whole);
  ADD(int8_t, schar, MPI_INT8_T, whole);
  ADD(uint16_t, ushort, MPI_UINT16_T, whole);
  ADD(int32_t, int, MPI_INT32_T, whole);
  ADD(uint64_t, ulong, MPI_UINT64_T, whole);
  ADD(MPI_Aint, long, MPI_AINT, integer | bitwise);
  ADD(MPI_Offset, long, MPI_OFFSET, integer | bitwise);
  ADD(MPI_Count, long, MPI_COUNT, integer | bitwise);
  ADD(float, float, MPI_FLOAT, floating);
  ADD(double, double, MPI_DOUBLE, floating);
  ADD(float complex, cfloat, MPI_C_FLOAT_COMPLEX, is_complex);
  ADD(double complex, cdouble, MPI_C_DOUBLE_COMPLEX, is_complex);
  ADD(bool, bool, MPI_C_BOOL, logical);
  ADD(char, schar, MPI_BYTE, bitwise);
  ADD(char, schar, MPI_CHAR, none);
  ADD(int, int, MPI_WCHAR, none);
#undef ADD
  add_element((struct element){"MPI_LONG_DOUBLE",
                               MPI_LONG_DOUBLE,
                               sizeof(long double),
                               floating,
                               fill_ldouble,
                               {{0, long_double_bytes}}});
}

static void make_pairs(void) {
#define ADD(name, ctype, bytes, mpi_type)           \
  add_element((struct element){#mpi_type,           \
                               mpi_type,            \
                               sizeof(struct name), \
                               location,            \
                               fill_##name,         \
                               {{0, bytes}, {offsetof(struct name, index), sizeof(int)}}})
  ADD(float_int, float, sizeof(float), MPI_FLOAT_INT);
  ADD(double_int, double, sizeof(double), MPI_DOUBLE_INT);
  ADD(long_int, long, sizeof(long), MPI_LONG_INT);
  ADD(short_int, short, sizeof(short), MPI_SHORT_INT);
  ADD(int_int, int, sizeof(int), MPI_2INT);
  ADD(ldouble_int, long double, long_double_bytes, MPI_LONG_DOUBLE_INT);
#undef ADD
}

static void make_elements(void) {
  make_numbers();
  make_pairs();
  add_element((struct element){"every third int",
                               resized(MPI_INT, sizeof(struct every_third)),
                               sizeof(struct every_third),
                               none,
                               fill_every_third,
                               {{0, sizeof(int)}}});
  add_element((struct element){"map",
                               map_type(),
                               sizeof(struct map),
                               own_map,
                               fill_map,
                               {{0, sizeof(int)}, {offsetof(struct map, b), sizeof(int)}}});
}

// ---- operations
struct operation {
  const char* name;
  MPI_Op op;
  unsigned on;  // elements that take it
};

enum { prime = 10007 };

static void largest_digit(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) {
    const long a = ((const long*)in)[i];
    long* b = (long*)inout + i;
    if (a % 10 > *b % 10 || (a % 10 == *b % 10 && a > *b)) *b = a;
  }
}

static void compose(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) {
    const struct map* f = (const struct map*)in + i;
    struct map* g = (struct map*)inout + i;
    g->b = (g->a * f->b + g->b) % prime;  // first f, then g
    g->a = g->a * f->a % prime;
  }
}

static void add_maps(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) {
    ((struct map*)inout)[i].a += ((const struct map*)in)[i].a;
    ((struct map*)inout)[i].b += ((const struct map*)in)[i].b;
  }
}

enum { operations_room = 16 };
static struct operation operations[operations_room];
static unsigned operation_count;

static void add_operation(const char* name, MPI_Op op, unsigned on) {
  operations[operation_count++] = (struct operation){name, op, on};
}

static void add_own(const char* name, MPI_User_function* function, int commutes, unsigned on) {
  MPI_Op op;
  MPI_Op_create(function, commutes, &op);
  add_operation(name, op, on);
}

static void make_operations(void) {
  add_operation("sum", MPI_SUM, integer | floating | is_complex);
  add_operation("product", MPI_PROD, integer | floating | is_complex);
  add_operation("maximum", MPI_MAX, integer | floating);
  add_operation("minimum", MPI_MIN, integer | floating);
  add_operation("logical and", MPI_LAND, logical);
  add_operation("logical or", MPI_LOR, logical);
  add_operation("logical xor", MPI_LXOR, logical);
  add_operation("bitwise and", MPI_BAND, bitwise);
  add_operation("bitwise or", MPI_BOR, bitwise);
  add_operation("bitwise xor", MPI_BXOR, bitwise);
  add_operation("maxloc", MPI_MAXLOC, location);
  add_operation("minloc", MPI_MINLOC, location);
  add_own("largest digit", largest_digit, 1, own_long);
  add_own("composition", compose, 0, own_map);
  add_own("sum of maps", add_maps, 1, own_map);
}

static void free_elements_and_operations(void) {
  for (unsigned k = 0; k < operation_count; ++k)
    if (operations[k].on & (own_long | own_map)) MPI_Op_free(&operations[k].op);
  for (unsigned k = element_count - 2; k < element_count; ++k) MPI_Type_free(&elements[k].type);
}
