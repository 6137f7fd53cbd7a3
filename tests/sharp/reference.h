/* What collectives should come to. All values are small integers, so that every type's sums are exact in any
 * order. */
#ifndef HOCKET_TESTS_SHARP_REFERENCE_H
#define HOCKET_TESTS_SHARP_REFERENCE_H

#include <sharp/api/sharp_coll.h>

size_t size_of(enum sharp_datatype type);
int is_floating(enum sharp_datatype type);
/* Whether the operation is one of the type. */
int is_defined(enum sharp_reduce_op op, enum sharp_datatype type);

/* Element `index` of what a rank contributes. */
long value_of(enum sharp_datatype type, enum sharp_reduce_op op, int rank, size_t index);
/* What comes out, of ranks first, first + step, ... */
struct members {
  int first, step, count;
};
long result_of(enum sharp_datatype type, enum sharp_reduce_op op, const struct members* members,
               size_t index);

void put(enum sharp_datatype type, void* buffer, size_t index, long value);
/* Whether that is there. */
int holds(enum sharp_datatype type, const void* buffer, size_t index, long value);

#endif
