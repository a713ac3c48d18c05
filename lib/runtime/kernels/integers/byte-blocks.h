/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A block has `pixels` times `vectors` sums in registers, both known to the compiler.  What
 * includes this says how a unit is loaded and added. */

#include "byte-product.h"

/* As many as leave registers for a row of weights, a unit of x and a product.  Integers are added
 * in one cycle: a few sums keep a core busy. */
#if defined(__AVX512BW__)
#define MAX_PIXELS 8
#elif defined(__AVX2__)
#define MAX_PIXELS 6
#else
#define MAX_PIXELS 5
#endif

typedef struct
{
  const char *x;
  const gint64 *tap_at;
  gint64 n_taps, tap_bytes;
  const gint8 *w;
  gint64 w_step; /* from unit to unit */
  gint32 *sums;
} Block;

typedef void (*RunBlock) (const Block *b, const gint64 *x_at);

static inline __attribute__ ((always_inline)) void
run_block (const Block *b, const gint64 *x_at, int pixels, int vectors)
{
  CleaveIntVector sum[MAX_PIXELS * 2] = { 0 };
  const char *from[MAX_PIXELS];
  const gint8 *w = b->w;
  gint64 w_step = b->w_step;

  CLEAVE_EACH (p, pixels)
    from[p] = b->x + x_at[p];
  for (gint64 t = 0; t < b->n_taps; t++)
    for (gint64 at = b->tap_at[t], end = at + b->tap_bytes; at < end; at += 4, w += w_step)
      {
        CleaveIntVector by[2];

        CLEAVE_EACH (v, vectors)
          by[v] = LOAD (w + v * UNIT * CLEAVE_LANES);
        CLEAVE_EACH (p, pixels)
          {
            CleaveIntVector unit = cleave_ints_unit (from[p] + at);

            CLEAVE_EACH (v, vectors)
              sum[p * 2 + v] = ADD (sum[p * 2 + v], unit, by[v]);
          }
      }
  CLEAVE_EACH (p, pixels)
    CLEAVE_EACH (v, vectors)
      cleave_ints_store (b->sums + p * CLEAVE_BYTE_PANEL + v * CLEAVE_LANES, sum[p * 2 + v]);
}

/* clang-format off */
#define BLOCK(vectors, pixels)                                                                     \
  static void block_##vectors##_##pixels (const Block *b, const gint64 *x_at)                      \
  {                                                                                                \
    run_block (b, x_at, pixels, vectors);                                                          \
  }
#define BLOCKS(vectors)                                                                            \
  BLOCK (vectors, 1) BLOCK (vectors, 2) BLOCK (vectors, 3) BLOCK (vectors, 4) BLOCK (vectors, 5)
BLOCKS (1)
BLOCKS (2)
#if MAX_PIXELS >= 6
BLOCK (1, 6)
BLOCK (2, 6)
#endif
#if MAX_PIXELS >= 8
BLOCK (1, 7)
BLOCK (1, 8)
BLOCK (2, 7)
BLOCK (2, 8)
#define LIST(v) { NULL, block_##v##_1, block_##v##_2, block_##v##_3, block_##v##_4, block_##v##_5, \
                  block_##v##_6, block_##v##_7, block_##v##_8 }
#elif MAX_PIXELS >= 6
#define LIST(v) { NULL, block_##v##_1, block_##v##_2, block_##v##_3, block_##v##_4, block_##v##_5, \
                  block_##v##_6 }
#else
#define LIST(v) { NULL, block_##v##_1, block_##v##_2, block_##v##_3, block_##v##_4, block_##v##_5 }
#endif
static const RunBlock run_blocks[2][MAX_PIXELS + 1] = { LIST (1), LIST (2) };
/* clang-format on */

static void
run_columns (const CleaveByteProduct *product, gint64 begin, gint64 end)
{
  const CleaveBytePanels *panels = product->panels;
  gint64 n_taps = cleave_byte_panels_n_taps (panels), n_units = cleave_byte_panels_n_units (panels);
  gint64 panel = begin / CLEAVE_BYTE_PANEL * CLEAVE_BYTE_PANEL;
  gint64 width = MIN (CLEAVE_BYTE_PANEL, panels->n_columns - panel);
  gint32 sums[MAX_PIXELS * CLEAVE_BYTE_PANEL];
  const RunBlock *run = run_blocks[end - begin > CLEAVE_LANES];
  CleaveByteTile tile = { .column = product->column + begin - product->first,
                          .n = end - begin,
                          .sums = sums };
  Block b = { .x = product->x,
              .tap_at = product->tap_at,
              .n_taps = n_taps,
              .tap_bytes = 4 * n_units,
              .w = product->w + (panel * n_taps * n_units + begin - panel) * UNIT,
              .w_step = width * UNIT,
              .sums = sums };

  for (; tile.pixel < product->n_pixels; tile.pixel += tile.n_pixels)
    {
      tile.n_pixels = MIN (MAX_PIXELS, product->n_pixels - tile.pixel);
      run[tile.n_pixels](&b, product->x_at + tile.pixel);
      cleave_byte_finish_tile (product, &tile);
    }
}
