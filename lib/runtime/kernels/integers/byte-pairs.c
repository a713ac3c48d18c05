/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sums of products of bytes in dot-2 groups: two 16-bit products per 32-bit lane, which cannot
 * overflow. The zero point of x is already subtracted, so elements are 16-bit integers. */

#define UNIT CLEAVE_PAIR
#define LOAD cleave_ints_load_pairs
#define ADD cleave_ints_add_pairs
#define FLIP(unit, flip) ((void) (flip), (unit))

#include "byte-blocks.h"

void
cleave_byte_pairs_run (const CleaveByteProduct *product, gint64 begin, gint64 end)
{
  run_columns (product, begin, end);
}
