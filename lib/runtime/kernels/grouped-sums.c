/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the sums of a convolution with 2, 4 or 8 operand channels in each group. A lane holds
 * one channel of y. A permutation of x gives each lane the operand channels of its own group. */

#include "grouped-sums.h"
#include "vector-moves.h"

#include <string.h>

/* Number of pixels whose sums are in registers at the same time. */
#if CLEAVE_REGISTERS == 32
#define MAX_PIXELS 8
#else
#define MAX_PIXELS 6
#endif

/* Returns the permutation with which spread() copies channel i of each group: element l is the
 * index of the lane that holds channel i of the group of lane l. Each group has n_in adjacent
 * lanes. Example: for i = 1 and n_in = 2, the permutation is 1, 1, 3, 3, 5, 5 … */
static CLEAVE_SPECIALISED CleaveMask
lanes_of (int i, int n_in)
{
  int lane[CLEAVE_VECTOR];
  CleaveMask lanes;

  CLEAVE_EACH (l, CLEAVE_VECTOR)
    lane[l] = l / n_in * n_in + i;
  memcpy (&lanes, lane, sizeof lanes);
  return lanes;
}

/* Copies one channel of each group to all lanes of the group: lane l of the result is lane lanes[l]
 * of x (lanes_of()). */
static CLEAVE_SPECIALISED CleaveVector
spread (CleaveVector x, CleaveMask lanes, int n_in)
{
  return n_in <= 4 ? cleave_vector_permute_in_fours (x, lanes) : cleave_vector_permute (x, lanes);
}

/* Adds the products of one tap to the sums of `pixels` adjacent pixels, one operand channel of each
 * group at a time. `x`: the elements that the tap reads for the first pixel; `w`: the weights of
 * the tap. */
static CLEAVE_SPECIALISED void
add_tap (const CleaveDepthwiseRun *run,
         const float *x,
         const float *w,
         int pixels,
         int n_in,
         CleaveVector *sum)
{
  CleaveVector at[MAX_PIXELS];

  if (n_in < CLEAVE_VECTOR)
    CLEAVE_EACH (p, pixels)
      at[p] = cleave_vector_keep (cleave_vector_load (x + p * run->x_pixel));
  CLEAVE_EACH (i, n_in)
    {
      const CleaveMask lanes = lanes_of (i, n_in);
      const CleaveVector by = cleave_vector_load (w + i * run->w_channel);

      CLEAVE_EACH (p, pixels)
        {
          CleaveVector one = n_in < CLEAVE_VECTOR ? spread (at[p], lanes, n_in)
                                                  : cleave_vector_all (x[p * run->x_pixel + i]);

          sum[p] = cleave_vector_fma (one, by, sum[p]);
        }
    }
}

static CLEAVE_SPECIALISED void
sum_block (const CleaveDepthwiseRun *run, gint64 pixel, gint64 channel, int pixels, int n_in)
{
  const float *x = run->x + pixel * run->x_pixel + channel, *w = run->w + channel;
  float *y = run->y + pixel * run->y_pixel + channel;
  const CleaveEpilogueAt at = { .y = y, .step = run->y_pixel };
  CleaveVector sum[MAX_PIXELS];

  CLEAVE_EACH (p, pixels)
    sum[p] = run->bias == NULL ? cleave_vector_all (0) : cleave_vector_load (run->bias + channel);
  for (gint64 h = 0; h < run->n_planes; h++, x += run->x_plane, w += run->w_plane)
    for (gint64 i = 0; i < run->n_rows; i++)
      for (gint64 j = 0; j < run->n_columns; j++)
        add_tap (run, x + i * run->x_row + j * run->x_column,
                 w + i * run->w_row + j * run->w_column, pixels, n_in, sum);
  if (run->epilogue != NULL)
    cleave_epilogue_do (run->epilogue, &at, pixels, 1, sum);
  CLEAVE_EACH (p, pixels)
    cleave_vector_store (y + p * run->y_pixel, sum[p]);
}

/* Computes all channels of `pixels` pixels. If the channels do not fill whole vectors, the last
 * vector overlaps the vector before it, and both vectors compute equal results for the shared
 * channels. */
static CLEAVE_SPECIALISED void
sum_channels (const CleaveDepthwiseRun *run, gint64 pixel, gint64 n_channels, int pixels, int n_in)
{
  for (gint64 channel = 0; channel < n_channels; channel += CLEAVE_VECTOR)
    sum_block (run, pixel, MIN (channel, n_channels - CLEAVE_VECTOR), pixels, n_in);
}

typedef void (*Block) (const CleaveDepthwiseRun *run, gint64 pixel, gint64 n_channels);

/* clang-format off */
#define BLOCK(n_in, pixels)                                                                        \
  static void block_##n_in##_##pixels (const CleaveDepthwiseRun *of, gint64 pixel,                 \
                                       gint64 n_channels)                                          \
  {                                                                                                \
    const CleaveDepthwiseRun run = *of; /* a local copy: stores to y do not change it */                \
                                                                                                   \
    sum_channels (&run, pixel, n_channels, pixels, n_in);                                          \
  }
#define BLOCKS_6(n_in)                                                                             \
  BLOCK (n_in, 1) BLOCK (n_in, 2) BLOCK (n_in, 3) BLOCK (n_in, 4) BLOCK (n_in, 5) BLOCK (n_in, 6)
#define LIST_6(n_in)                                                                               \
  block_##n_in##_1, block_##n_in##_2, block_##n_in##_3, block_##n_in##_4, block_##n_in##_5,        \
  block_##n_in##_6
#if MAX_PIXELS == 8
#define BLOCKS(n_in) BLOCKS_6 (n_in) BLOCK (n_in, 7) BLOCK (n_in, 8)
#define LIST(n_in) { LIST_6 (n_in), block_##n_in##_7, block_##n_in##_8 }
#else
#define BLOCKS BLOCKS_6
#define LIST(n_in) { LIST_6 (n_in) }
#endif
BLOCKS (2)
BLOCKS (4)
#if CLEAVE_VECTOR >= 8
BLOCKS (8)
#endif
/* clang-format on */

static const Block blocks[][MAX_PIXELS] = {
  LIST (2),
  LIST (4),
#if CLEAVE_VECTOR >= 8
  LIST (8),
#endif
};

/* Computes n_pixels pixels in blocks of similar size. A short block would be slow, since each
 * addition waits for the addition before it. */
void
cleave_grouped_sum (const CleaveDepthwiseRun *run, gint64 n_pixels, gint64 n_channels, gint64 n_in)
{
  const Block *block = blocks[n_in / 4];

  for (gint64 pixel = 0, n; pixel < n_pixels; pixel += n)
    {
      gint64 left = n_pixels - pixel;

      n = left >= 2 * MAX_PIXELS ? MAX_PIXELS : left > MAX_PIXELS ? (left + 1) / 2 : left;
      block[n - 1](run, pixel, n_channels);
    }
}
