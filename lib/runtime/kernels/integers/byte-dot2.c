/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sums of products of bytes in dot-2 groups. Each 32-bit lane adds two products of 16-bit integers
 * at a time, which cannot overflow the lane. Elements of x are 16-bit integers, since the zero
 * point of x is subtracted from each byte before the products. */

#define UNIT CLEAVE_DOT2
#define LOAD cleave_ints_load_dot2
#define ADD cleave_ints_add_dot2
#define FLIP(unit, flip) ((void) (flip), (unit))

#include "byte-blocks.h"

void
cleave_byte_dot2_run (const CleaveByteProduct *product, gint64 begin, gint64 end)
{
  run_columns (product, begin, end);
}
