/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sums of products of bytes in dot-4 groups. This file is compiled for AVX512-VNNI, and its
 * function is called if the processor has this feature. The file is also compiled for the levels
 * avxvnni, dot and i8mm. */

#include "int-vector.h"

#define UNIT CLEAVE_DOT4
#if CLEAVE_DOT4_OFFSET != 0
#define HAS_SIGNED_X /* the level's instruction multiplies signed bytes by signed bytes */
#endif
#define LOAD(from) cleave_ints_load ((const gint32 *) (const void *) (from))
#define ADD cleave_ints_add_dot4
#define FLIP(unit, flip) cleave_ints_xor (unit, flip)

#include "byte-blocks.h"

void
cleave_byte_dot4_run (const CleaveByteProduct *product, gint64 begin, gint64 end)
{
  run_columns (product, begin, end);
}
