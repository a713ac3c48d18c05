/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sums of products of bytes, two at once, of 16-bit integers: nothing can saturate.  An element of
 * x has its zero point taken away already, which 16 bits hold. */

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
