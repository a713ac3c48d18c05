/* SPDX-License-Identifier: 0BSD */

/* Loads elements of any type as float or as int64, for kernels that support several types (arg.c,
 * cast.c, compare.c). Integers are little-endian. Example: element_load (x, CLEAVE_S8) is -1 if the
 * byte at x is 255. */

#ifndef CLEAVE_ELEMENTS_H
#define CLEAVE_ELEMENTS_H

#include "cleave-kernels.h"

static inline int32_t
element_size (int32_t type)
{
  return type == CLEAVE_S64 ? 8 : type == CLEAVE_F32 || type == CLEAVE_S32 ? 4 : 1;
}

static inline float
element_load_float (const unsigned char *x)
{
  float value;

  memcpy (&value, x, sizeof value);
  return value;
}

static inline int64_t
element_load (const unsigned char *x, int32_t type)
{
  int64_t value;
  int32_t narrow;

  if (type == CLEAVE_S64)
    {
      memcpy (&value, x, sizeof value);
      return value;
    }
  if (type == CLEAVE_S32)
    {
      memcpy (&narrow, x, sizeof narrow);
      return narrow;
    }
  return type == CLEAVE_S8 && *x > 127 ? (int64_t) *x - 256 : (int64_t) *x;
}

#endif
