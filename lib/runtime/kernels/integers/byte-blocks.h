/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Computes the sums of a block in registers: `pixels` pixels, each with `vectors` vectors that hold
 * one column in each lane. Both numbers are compile-time constants. byte-dot2.c, byte-dot4.c and
 * byte-small-dot4.c include this file to define their function of byte-product.h. The including
 * file defines how a dot-2 or dot-4 group is loaded and added (UNIT, LOAD, ADD, FLIP). If no scale
 * is infinite or a NaN, a block converts its sums to bytes while they are in registers. With 32
 * rows of weights, the conversion in registers saves a third of the time of a run. */

#include "byte-product.h"
#include "byte-vectors.h"

/* With HAS_SIGNED_X, the dot product multiplies signed bytes. X_FLIP inverts the top bit of each
 * unsigned byte of x, which subtracts 128. So each sum lacks a correction: 128 times the sum of the
 * column's weights. A block that converts its sums to bytes begins each sum with the correction. A
 * block that stores its sums as integers adds the correction after the products. If such a block
 * also began its sums with the correction, gcc 12 would keep the sums in memory, and the loop would
 * reach 68 % of the processor's peak instead of 87 %. */
#if defined(HAS_SIGNED_X)
#define X_FLIP ((gint32) 0x80808080)
#define HAS_OFFSET TRUE
#else
#define X_FLIP 0
#define HAS_OFFSET FALSE
#endif

/* Limit on the number of pixels of a block. The sums of these pixels fit into registers beside a
 * row of weights, a dot-2 or dot-4 group of x and a product. An integer addition takes one cycle,
 * so a few sums keep a core busy. */
#if CLEAVE_REGISTERS == 32
#define MAX_PIXELS 8
#elif defined(CLEAVE_AVX2)
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
  gint64 w_step; /* distance of adjacent dot-2 or dot-4 groups of a column, in bytes */
  CleaveIntVector flip;
  gint32 *sums; /* array to which the block stores its sums, unless it converts them to bytes in
                   registers */
  const gint32 *bias;
  const float *scale;
  gint32 zero;
  gboolean is_signed;
  char *y;
  gint64 n; /* number of columns that the block stores */
} Block;

typedef void (*RunBlock) (const Block *b, const gint64 *x_at, const gint64 *y_at);

#if UNIT == CLEAVE_DOT4
#define add_vectors cleave_byte_add_vectors
#else
#define add_vectors(from, at, end, ...) (at)
#endif

static inline __attribute__ ((always_inline)) void
add_units (const Block *b, const gint64 *x_at, int pixels, int vectors, CleaveIntVector *sum)
{
  const CleaveIntVector flip = b->flip;
  const char *from[MAX_PIXELS];
  const gint8 *w = b->w;
  gint64 w_step = b->w_step;

  CLEAVE_EACH (p, pixels)
    from[p] = b->x + x_at[p];
  for (gint64 t = 0; t < b->n_taps; t++)
    {
      gint64 at = b->tap_at[t], end = at + b->tap_bytes;

      at = add_vectors (from, at, end, w_step, flip, pixels, vectors, &w, sum);
      for (; at < end; at += 4, w += w_step)
        {
          CleaveIntVector by[2];

          CLEAVE_EACH (v, vectors)
            by[v] = LOAD (w + v * UNIT * CLEAVE_LANES);
          CLEAVE_EACH (p, pixels)
            {
              CleaveIntVector unit = FLIP (cleave_ints_unit (from[p] + at), flip);

              CLEAVE_EACH (v, vectors)
                sum[p * 2 + v] = ADD (sum[p * 2 + v], unit, by[v]);
            }
        }
    }
}

static inline __attribute__ ((always_inline)) void
run_block (const Block *b,
           const gint64 *x_at,
           const gint64 *y_at,
           int pixels,
           int vectors,
           gboolean stores)
{
  CleaveIntVector sum[MAX_PIXELS * 2] = { 0 };

  CLEAVE_EACH (p, pixels)
    CLEAVE_EACH (v, vectors)
      if (stores)
        sum[p * 2 + v] = cleave_ints_load (b->bias + v * CLEAVE_LANES);
  add_units (b, x_at, pixels, vectors, sum);
  CLEAVE_EACH (p, pixels)
    if (!stores)
      CLEAVE_EACH (v, vectors)
        {
          if (HAS_OFFSET)
            sum[p * 2 + v] =
                cleave_ints_add (sum[p * 2 + v], cleave_ints_load (b->bias + v * CLEAVE_LANES));
          cleave_ints_store (b->sums + p * CLEAVE_BYTE_PANEL + v * CLEAVE_LANES, sum[p * 2 + v]);
        }
    else
      {
        guint8 bytes[CLEAVE_BYTE_PANEL];
        gboolean is_whole = b->n == CLEAVE_BYTE_PANEL;

        CLEAVE_EACH (v, vectors)
          sum[p * 2 + v] = cleave_ints_round (sum[p * 2 + v], b->scale + v * CLEAVE_LANES, FALSE);
        cleave_ints_narrow (sum[p * 2], sum[p * 2 + 1], b->zero, b->is_signed,
                            is_whole ? (guint8 *) b->y + y_at[p] : bytes);
        if (!is_whole)
          cleave_bytes_store (b->y + y_at[p], bytes, b->n);
      }
}

/* clang-format off */
#define BLOCK(vectors, pixels)                                                                     \
  static void block_##vectors##_##pixels (const Block *b, const gint64 *x_at, const gint64 *y_at)  \
  {                                                                                                \
    run_block (b, x_at, y_at, pixels, vectors, FALSE);                                             \
  }                                                                                                \
  static void bytes_##vectors##_##pixels (const Block *b, const gint64 *x_at, const gint64 *y_at)  \
  {                                                                                                \
    run_block (b, x_at, y_at, pixels, vectors, TRUE);                                              \
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
#define LIST(of) { NULL, of##_1, of##_2, of##_3, of##_4, of##_5, of##_6, of##_7, of##_8 }
#elif MAX_PIXELS >= 6
#define LIST(of) { NULL, of##_1, of##_2, of##_3, of##_4, of##_5, of##_6 }
#else
#define LIST(of) { NULL, of##_1, of##_2, of##_3, of##_4, of##_5 }
#endif
/* Table of the functions that compute a block. The first index is 1 if the function converts sums
 * to bytes in registers, 0 if it stores integer sums. The second index is the number of vectors of
 * columns minus 1. The third index is the number of pixels. */
static const RunBlock run_blocks[2][2][MAX_PIXELS + 1] = { { LIST (block_1), LIST (block_2) },
                                                           { LIST (bytes_1), LIST (bytes_2) } };
/* clang-format on */

#if defined(HAS_SIGNED_X)
/* Sets `offset` to the integers that are added to the sums of columns [begin, end): 128 times the
 * sum of the column's weights, plus the bias. `bias` NULL: no bias. */
static void
set_offset (
    const CleaveByteProduct *product, gint64 begin, gint64 end, const gint32 *bias, gint32 *offset)
{
  const gint32 *sums = cleave_byte_panels_sums (product->panels, product->w);

  for (gint64 j = 0; j < CLEAVE_BYTE_PANEL; j++)
    offset[j] = bias == NULL ? 0 : bias[j];
  for (gint64 j = 0; j < end - begin; j++)
    offset[j] = (gint32) ((guint32) offset[j] + 128u * (guint32) sums[begin + j]);
}
#endif

static void
run_columns (const CleaveByteProduct *product, gint64 begin, gint64 end)
{
  const CleaveBytePanels *panels = product->panels;
  const CleaveByteFinish *f = &product->finish;
  gint64 n_taps = cleave_byte_panels_n_taps (panels), n_units = cleave_byte_panels_n_units (panels);
  gint64 panel = begin / CLEAVE_BYTE_PANEL * CLEAVE_BYTE_PANEL;
  gint64 width = MIN (CLEAVE_BYTE_PANEL, panels->n_columns - panel);
  gint32 sums[MAX_PIXELS * CLEAVE_BYTE_PANEL];
  gboolean stores = cleave_element_size (f->element) == 1 && f->w_zero == NULL &&
                    !f->has_odd_scales && f->multiplier == NULL && product->column_step == 1;
  const RunBlock *run = run_blocks[stores][end - begin > CLEAVE_LANES];
  CleaveByteTile tile = { .column = product->column + begin - product->first,
                          .n = end - begin,
                          .sums = sums };
  Block b = { .x = product->x,
              .tap_at = product->tap_at,
              .n_taps = n_taps,
              .tap_bytes = 4 * n_units,
              .w = product->w + (panel * n_taps * n_units + begin - panel) * UNIT,
              .w_step = width * UNIT,
              .flip = cleave_ints_all (product->flip ^ X_FLIP),
              .sums = sums,
              .bias = f->bias + tile.column,
              .scale = f->scale + tile.column,
              .zero = f->zero,
              .is_signed = f->element == CLEAVE_INT8,
              .y = product->y + tile.column,
              .n = tile.n };
#if defined(HAS_SIGNED_X)
  gint32 offset[CLEAVE_BYTE_PANEL];

  set_offset (product, begin, end, stores ? b.bias : NULL, offset);
  b.bias = offset;
#endif

  for (; tile.pixel < product->n_pixels; tile.pixel += tile.n_pixels)
    {
      tile.n_pixels = MIN (MAX_PIXELS, product->n_pixels - tile.pixel);
      run[tile.n_pixels](&b, product->x_at + tile.pixel, product->y_at + tile.pixel);
      if (!stores)
        cleave_byte_finish_tile (product, &tile);
    }
}
