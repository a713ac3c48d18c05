/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sums of products of bytes in dot-4 groups for processors without VNNI. An instruction adds two
 * products to a 16-bit integer, so this file serves only weights with which the 16 bits cannot
 * overflow (byte-panels.c). A block of 16 columns and 6 pixels computes 70 GMAC/s; with dot-2
 * groups of 16-bit integers, a block computes 54 GMAC/s. */

#include "int-vector.h"

#if defined(CLEAVE_AVX2)

#define UNIT CLEAVE_DOT4
#define LOAD(from) cleave_ints_load ((const gint32 *) (const void *) (from))
#define ADD cleave_ints_add_small_dot4
#define FLIP(unit, flip) cleave_ints_xor (unit, flip)

#include "byte-blocks.h"

void
cleave_byte_small_dot4_run (const CleaveByteProduct *product, gint64 begin, gint64 end)
{
  run_columns (product, begin, end);
}

#endif
