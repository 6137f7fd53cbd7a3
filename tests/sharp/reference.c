#include "reference.h"

#include <stdint.h>
#include <string.h>

size_t size_of(enum sharp_datatype type) {
  switch (type) {
    case SHARP_DTYPE_UNSIGNED:
    case SHARP_DTYPE_INT:
    case SHARP_DTYPE_FLOAT:
      return 4;
    case SHARP_DTYPE_UNSIGNED_LONG:
    case SHARP_DTYPE_LONG:
    case SHARP_DTYPE_DOUBLE:
      return 8;
    case SHARP_DTYPE_UINT8:
    case SHARP_DTYPE_INT8:
      return 1;
    default:
      return 2;
  }
}

int is_floating(enum sharp_datatype type) {
  return type == SHARP_DTYPE_FLOAT || type == SHARP_DTYPE_DOUBLE || type == SHARP_DTYPE_FLOAT_SHORT ||
         type == SHARP_DTYPE_BFLOAT16;
}

int is_defined(enum sharp_reduce_op op, enum sharp_datatype type) {
  return op <= SHARP_OP_PROD || (op <= SHARP_OP_BXOR && !is_floating(type));
}

static int is_signed(enum sharp_datatype type) {
  return is_floating(type) || type == SHARP_DTYPE_INT || type == SHARP_DTYPE_LONG ||
         type == SHARP_DTYPE_SHORT || type == SHARP_DTYPE_INT8;
}

long value_of(enum sharp_datatype type, enum sharp_reduce_op op, int rank, size_t index) {
  const unsigned long mixed = ((unsigned long)rank * 2654435761UL + index) * 0x9E3779B97F4A7C15UL >> 40;
  if (op == SHARP_OP_PROD) return 1 + (long)(mixed % 2);
  return (long)(mixed % 8) - (is_signed(type) ? 3 : 0);
}

static long combined(enum sharp_reduce_op op, long a, long b) {
  switch (op) {
    case SHARP_OP_MAX:
      return a > b ? a : b;
    case SHARP_OP_MIN:
      return a < b ? a : b;
    case SHARP_OP_SUM:
      return a + b;
    case SHARP_OP_PROD:
      return a * b;
    case SHARP_OP_LAND:
      return a && b;
    case SHARP_OP_BAND:
      return a & b;
    case SHARP_OP_LOR:
      return a || b;
    case SHARP_OP_BOR:
      return a | b;
    case SHARP_OP_LXOR:
      return !a != !b;
    default:
      return a ^ b;
  }
}

long result_of(enum sharp_datatype type, enum sharp_reduce_op op, const struct members* members,
               size_t index) {
  long result = value_of(type, op, members->first, index);
  for (int i = 1; i < members->count; ++i)
    result = combined(op, result, value_of(type, op, members->first + i * members->step, index));
  return result;
}

static void put_bytes(void* buffer, size_t index, const void* value, size_t bytes) {
  memcpy((char*)buffer + index * bytes, value, bytes);
}

/* Of an integer below 256, which both formats of 16 bits have exactly. */
static uint16_t bfloat16_of(long value) {
  const float whole = (float)value;
  uint32_t bits;
  memcpy(&bits, &whole, sizeof bits);
  return (uint16_t)(bits >> 16);
}

static uint16_t half_of(long value) {
  const float whole = (float)value;
  uint32_t bits;
  memcpy(&bits, &whole, sizeof bits);
  if (value == 0) return 0;
  const uint32_t sign = bits >> 31 << 15, exponent = (bits >> 23 & 255) - 127 + 15,
                 fraction = bits >> 13 & 1023;
  return (uint16_t)(sign | exponent << 10 | fraction);
}

void put(enum sharp_datatype type, void* buffer, size_t index, long value) {
  const float single = (float)value;
  const double twice = (double)value;
  uint16_t half = 0;
  switch (type) {
    case SHARP_DTYPE_FLOAT:
      put_bytes(buffer, index, &single, 4);
      break;
    case SHARP_DTYPE_DOUBLE:
      put_bytes(buffer, index, &twice, 8);
      break;
    case SHARP_DTYPE_FLOAT_SHORT:
    case SHARP_DTYPE_BFLOAT16:
      half = type == SHARP_DTYPE_BFLOAT16 ? bfloat16_of(value) : half_of(value);
      put_bytes(buffer, index, &half, 2);
      break;
    default:
      put_bytes(buffer, index, &value, size_of(type)); /* little-endian: the low bytes */
  }
}

int holds(enum sharp_datatype type, const void* buffer, size_t index, long value) {
  char expected[8];
  put(type, expected, 0, value);
  return memcmp((const char*)buffer + index * size_of(type), expected, size_of(type)) == 0;
}
