/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The reference kernel of Conv by Winograd's algorithm F(2x2, 3x3), which computes tiles of 2x2
 * elements of the result.
 *
 * The attribute `winograd` gives the phase of the tiles, so that the tiles of a piece are tiles of
 * the whole node. All operations are in float32, and the result is rounded once more at the end.
 * Padding is read as 0. Elements of X beyond its extent, which the last tile may read, are 0, too;
 * they do not affect elements of the result. Each of the 16 sums of a tile adds the input channels
 * in order, with one fused multiply-add each. The sixth sum begins with the bias. */

#include "conv-parts.h"
#include "products.h"
#include "reference.h"
#include "winograd.h"

enum { X, W, B };

gboolean
cleave_conv_is_winograd (const CleaveCall *call)
{
  return ((const CleaveConvAttrs *) call->attrs)->winograd.n != 0;
}

gboolean
cleave_conv_could_be_winograd (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *w = &call->operands[W].shape;
  gboolean could = call->operands[X].element != CLEAVE_FLOAT64 && w->rank == 4;

  for (guint i = 0; i < 2 && could; i++)
    could = w->dim[2 + i] == 3 && cleave_ints_at (&a->strides, i, 1) == 1 &&
            cleave_ints_at (&a->dilations, i, 1) == 1;
  return could;
}

/* With at least this many channels and tiles, Winograd's algorithm is faster (measured). With fewer
 * channels or tiles, the algorithm is slower: it must transform the tiles, and read 16 factors
 * instead of 9 weights. */
#define MIN_CHANNELS 24
#define MIN_TILES 12

gboolean
cleave_conv_pays_winograd (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[X].shape, *w = &call->operands[W].shape;
  CleaveDims dims = cleave_layout_dims (a->layout, 4);
  gint64 n_tiles;

  if (!cleave_conv_could_be_winograd (call) || x->rank != 4 || a->group != 1 ||
      MIN (w->dim[0], w->dim[1]) < MIN_CHANNELS)
    return FALSE;
  n_tiles = x->dim[dims.n];
  for (guint i = 0; i < 2; i++)
    {
      gint64 pads = cleave_ints_at (&a->pads, i, 0) + cleave_ints_at (&a->pads, 2 + i, 0);

      n_tiles = cleave_saturated_mul (n_tiles, (x->dim[dims.h + i] + pads - 1) / 2);
    }
  return n_tiles >= MIN_TILES;
}

gboolean
cleave_conv_check_winograd (const CleaveCall *call, GError **error)
{
  const CleaveConvAttrs *a = call->attrs;

  if (a->winograd.n == 0)
    return TRUE;
  if (!cleave_conv_could_be_winograd (call))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "winograd is for float32, float16 and bfloat16, two spatial dimensions, "
                        "kernels of 3x3, strides and dilations of 1");
  if (!cleave_window_check_list (&a->winograd, 2, "winograd", error))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (a->winograd.v[i] != 0 && a->winograd.v[i] != 1)
      return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                          "winograd has the phase %" G_GINT64_FORMAT ", but a phase is 0 or 1",
                          a->winograd.v[i]);
  return TRUE;
}

void
cleave_conv_narrow_winograd (const CleaveCall *call, const CleaveRange *chunk, CleaveConvAttrs *a)
{
  CleaveDims dims = cleave_layout_dims (a->layout, call->operands[X].shape.rank);

  for (guint i = 0; i < a->winograd.n; i++)
    a->winograd.v[i] = (a->winograd.v[i] + chunk->dim[dims.h + i].begin) % 2;
}

typedef struct
{
  CleaveDims dims;
  const CleaveConvAttrs *attrs;
  const CleaveView *x, *w, *y;
  const CleaveView *bias; /* bias of each channel of the result; NULL: no bias */
  gint64 n_in, n_out;     /* numbers of channels of a group: in X (`n_in`) and in the result
                           * (`n_out`) */
  float *factors;         /* transformed weights: 16 for each pair of a result channel and a channel
                           * of X in the same group */
  float *image;           /* a transformed tile for each input channel of a group */
} Walk;

static float
load (const CleaveView *view, const gint64 *index)
{
  return (float) cleave_real_load (view->type.element, cleave_view_at (view, index));
}

static void
make_factors (const Walk *walk)
{
  const CleaveView *w = walk->w;
  float *to = walk->factors;

  for (gint64 o = 0; o < w->type.shape.dim[0]; o++)
    for (gint64 c = 0; c < walk->n_in; c++, to += CLEAVE_WINOGRAD_PRODUCTS)
      {
        float taps[9];

        for (gint64 i = 0; i < 9; i++)
          taps[i] = load (w, (const gint64[]){ o, c, i / 3, i % 3 });
        CLEAVE_WINOGRAD_FILTER (float, taps, to);
      }
}

/* Transforms a tile of each input channel of a group. `at` holds the indices of the image, of the
 * group's first channel, and of the first row and column that the tile reads. */
static void
make_image (const Walk *walk, const gint64 *at)
{
  const CleaveView *x = walk->x;
  CleaveDims dims = walk->dims;
  float *to = walk->image;
  gint64 from[4];

  from[dims.n] = at[0];
  for (gint64 c = 0; c < walk->n_in; c++, to += CLEAVE_WINOGRAD_PRODUCTS)
    {
      from[dims.c] = at[1] + c;
      for (gint64 i = 0; i < CLEAVE_WINOGRAD_PRODUCTS; i++)
        {
          from[dims.h] = at[2] + i / 4;
          from[dims.h + 1] = at[3] + i % 4;
          to[i] = from[dims.h] >= 0 && from[dims.h] < x->type.shape.dim[dims.h] &&
                          from[dims.h + 1] >= 0 && from[dims.h + 1] < x->type.shape.dim[dims.h + 1]
                      ? load (x, from)
                      : 0;
        }
      for (gint64 j = 0; j < 4; j++)
        CLEAVE_WINOGRAD_IMAGE (float, to + j, 4);
      for (gint64 i = 0; i < 4; i++)
        CLEAVE_WINOGRAD_IMAGE (float, to + 4 * i, 1);
    }
}

/* Computes the 16 sums of a tile for one channel of the result. */
static void
sum_up (const Walk *walk, gint64 channel, float *m)
{
  const CleaveSumOps *ops = cleave_sum_ops (CLEAVE_FLOAT32);
  const float *factors = walk->factors + channel * walk->n_in * CLEAVE_WINOGRAD_PRODUCTS;

  for (gint64 i = 0; i < CLEAVE_WINOGRAD_PRODUCTS; i++)
    {
      gboolean has_bias = walk->bias != NULL && i == CLEAVE_WINOGRAD_BIASED;
      float bias = has_bias ? load (walk->bias, &channel) : 0;
      CleaveSum sum;

      ops->begin (&sum, has_bias ? &bias : NULL);
      ops->add (&sum, walk->image + i, CLEAVE_WINOGRAD_PRODUCTS, factors + i,
                CLEAVE_WINOGRAD_PRODUCTS, walk->n_in);
      ops->end (&sum, m + i);
    }
  for (gint64 j = 0; j < 4; j++)
    CLEAVE_WINOGRAD_RESULT (float, m + j, 4);
  for (gint64 i = 0; i < 2; i++)
    CLEAVE_WINOGRAD_RESULT (float, m + 4 * i, 1);
}

/* Computes a tile of the result for all channels of a group. `at`: four indices in the result:
 * image, first channel of the group, first row of the tile, first column of the tile. The row and
 * the column may be -1; then the tile lies partly outside of the result. */
static void
compute_tile (const Walk *walk, const gint64 *at)
{
  const CleaveView *y = walk->y;
  CleaveDims dims = walk->dims;
  gint64 to[4];

  make_image (walk, (const gint64[]){ at[0], at[1] / walk->n_out * walk->n_in,
                                      at[2] - cleave_ints_at (&walk->attrs->pads, 0, 0),
                                      at[3] - cleave_ints_at (&walk->attrs->pads, 1, 0) });
  to[dims.n] = at[0];
  for (to[dims.c] = at[1]; to[dims.c] < at[1] + walk->n_out; to[dims.c]++)
    {
      float m[CLEAVE_WINOGRAD_PRODUCTS];

      sum_up (walk, to[dims.c], m);
      for (gint64 i = 0; i < 4; i++)
        {
          to[dims.h] = at[2] + i / 2;
          to[dims.h + 1] = at[3] + i % 2;
          if (to[dims.h] >= 0 && to[dims.h] < y->type.shape.dim[dims.h] && to[dims.h + 1] >= 0 &&
              to[dims.h + 1] < y->type.shape.dim[dims.h + 1])
            cleave_real_store (y->type.element, cleave_view_at (y, to),
                               (double) m[i / 2 * 4 + i % 2]);
        }
    }
}

void
cleave_conv_compute_winograd (const CleaveCall *call,
                              const CleaveView *operands,
                              const CleaveView *y)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *w = &operands[W].type.shape, *shape = &y->type.shape;
  Walk walk = { .dims = cleave_layout_dims (a->layout, 4),
                .attrs = a,
                .x = &operands[X],
                .w = &operands[W],
                .y = y,
                .bias = cleave_call_has (call, B) ? &operands[B] : NULL,
                .n_in = w->dim[1],
                .n_out = w->dim[0] / a->group };
  CleaveDims dims = walk.dims;

  walk.factors = g_new (float, (gsize) (w->dim[0] * walk.n_in * CLEAVE_WINOGRAD_PRODUCTS));
  walk.image = g_new (float, (gsize) (walk.n_in * CLEAVE_WINOGRAD_PRODUCTS));
  make_factors (&walk);
  for (gint64 n = 0; n < shape->dim[dims.n]; n++)
    for (gint64 o = 0; o < w->dim[0]; o += walk.n_out)
      for (gint64 i = -a->winograd.v[0]; i < shape->dim[dims.h]; i += 2)
        for (gint64 j = -a->winograd.v[1]; j < shape->dim[dims.h + 1]; j += 2)
          compute_tile (&walk, (const gint64[]){ n, o, i, j });
  g_free (walk.factors);
  g_free (walk.image);
}
