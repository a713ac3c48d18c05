/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions by Winograd's F(2x2, 3x3). Transforms tiles of 4 x 4 pixels of x, multiplies their
 * 16 elements by 16 matrices of weights, and transforms the products to 2 x 2 pixels of y. */

#include "../../../ops/winograd.h"
#include "direct.h"
#include "plans.h"
#include "winograd-factors.h"

#include <string.h>

enum { X, W, B };

/* BLOCK_FLOATS: preferred number of floats of a block of transformed tiles. Each block reads all
 * transformed weights. Weights of more than FAR_FACTORS floats exceed the L2 cache, so a block then
 * has at least FAR_TILES tiles (measured). */
#define BLOCK_FLOATS 32768
#define FAR_FACTORS 131072
#define FAR_TILES 96

typedef struct
{
  CleaveWinogradFactors factors;
  const float *packed; /* packed weights; NULL: each run packs the weights */
  GArray *columns;
  guint c; /* dimension of the channels */
  gboolean has_bias, nests;
  gint64 n_images, x_image, y_image;
  gint64 n_x[2], x_step[2]; /* extent and stride of x, by axis: 0 for rows, 1 for columns */
  gint64 n_y[2], y_step[2];
  gint64 pad[2], phase[2];
  gint64 n_tiles[2];
  gint64 band, block; /* number of rows of tiles in a band; number of tiles in a block */
  gint64 pitch;       /* number of channels of x, rounded up to whole vectors */
} Winograd;

/* State of a run. */
typedef struct
{
  const Winograd *plan;
  const CleaveKernelInstance *instance;
  const float *factors, *bias;
  const float *x; /* address of the current image of x */
  float *y;
  float *zeros, *image, *sums;
} Work;

static void
set_axes (Winograd *plan, const CleaveKernelInstance *instance, CleaveDims dims)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];

  for (guint i = 0; i < 2; i++)
    {
      guint d = dims.h + i;

      plan->n_x[i] = x->type.shape.dim[d];
      plan->x_step[i] = x->stride[d];
      plan->n_y[i] = y->type.shape.dim[d];
      plan->y_step[i] = y->stride[d];
      plan->pad[i] = cleave_ints_at (&a->pads, i, 0);
      plan->phase[i] = a->winograd.v[i];
      plan->n_tiles[i] = (plan->n_y[i] + plan->phase[i] + 1) / 2;
    }
  plan->n_images = y->type.shape.dim[dims.n];
  plan->x_image = x->stride[dims.n];
  plan->y_image = y->stride[dims.n];
}

/* Sets `nests` to TRUE if pixels, rows and images of y do not interleave in memory. If an axis of y
 * has one position, sets y_step of the axis as in a dense y. `size`: elements of a pixel. */
static void
find_nesting (Winograd *plan, gint64 size)
{
  plan->nests = TRUE;
  for (guint i = 2; i-- > 0;)
    {
      if (plan->n_y[i] == 1)
        plan->y_step[i] = size;
      plan->nests = plan->nests && plan->y_step[i] >= size;
      size = plan->n_y[i] * plan->y_step[i];
    }
  plan->nests = plan->nests && (plan->n_images == 1 || plan->y_image >= size);
}

static void
set_blocks (Winograd *plan, gint64 n_out)
{
  gint64 n_factors = CLEAVE_WINOGRAD_PRODUCTS * plan->factors.n_in * n_out;
  gint64 most = BLOCK_FLOATS / (CLEAVE_WINOGRAD_PRODUCTS * plan->factors.n_in), n_parts;

  most = MAX (most, n_factors > FAR_FACTORS ? FAR_TILES : 12);
  plan->band = CLAMP (most / MAX (plan->n_tiles[1], 1), 1, MAX (plan->n_tiles[0], 1));
  n_parts = (plan->n_tiles[0] + plan->band - 1) / plan->band;
  plan->band = (plan->n_tiles[0] + n_parts - 1) / MAX (n_parts, 1);
  plan->block = plan->n_tiles[1] * plan->band;
  if (plan->block <= most)
    return;
  n_parts = (plan->n_tiles[1] + most - 1) / most;
  plan->block = (plan->n_tiles[1] + n_parts - 1) / n_parts;
}

static gint64
whole_vectors (gint64 n)
{
  return (n + CLEAVE_VECTOR - 1) / CLEAVE_VECTOR * CLEAVE_VECTOR;
}

static gsize
scratch_n_bytes (const Winograd *plan)
{
  gint64 n = plan->pitch + plan->block * CLEAVE_WINOGRAD_PRODUCTS *
                               (plan->pitch + whole_vectors (plan->factors.width));

  return (gsize) n * sizeof (float) +
         (plan->packed == NULL ? cleave_winograd_n_bytes (&plan->factors) : 0);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  const CleaveView *w = &instance->operands[W];
  CleaveDims dims = cleave_layout_dims (a->layout, 4);
  gint64 n_out = instance->results[0].type.shape.dim[dims.c], first = 0;
  Winograd *plan;

  if (a->group != 1 || !cleave_brgemm_can_serve_conv (instance, &dims))
    return FALSE;
  plan = g_new0 (Winograd, 1);
  plan->c = dims.c;
  plan->factors = (CleaveWinogradFactors){ .element = CLEAVE_FLOAT32,
                                           .n_columns = n_out,
                                           .width = cleave_panels_width (n_out),
                                           .n_in = w->type.shape.dim[1],
                                           .stride = { w->stride[0], w->stride[1], w->stride[2],
                                                       w->stride[3] } };
  if (instance->constants[W] != NULL)
    plan->packed =
        cleave_winograd_pack_for_good (weights, instance->constants[W], &plan->factors, &first);
  plan->columns = cleave_winograd_cut_columns (&plan->factors, first, n_out);
  plan->has_bias = cleave_call_has (&instance->call, B);
  plan->pitch = whole_vectors (plan->factors.n_in);
  set_axes (plan, instance, dims);
  find_nesting (plan, n_out);
  set_blocks (plan, n_out);
  *n_scratch = scratch_n_bytes (plan);
  *state = plan;
  return TRUE;
}

static void
winograd_free (gpointer state)
{
  Winograd *plan = state;

  g_array_unref (plan->columns);
  g_free (plan);
}

/* Transforms channels [c, c + n) of a tile; n is at most CLEAVE_VECTOR. `from`: addresses of the 16
 * pixels of the tile. */
static CLEAVE_SPECIALISED void
transform_channels (const float *const *from, gint64 c, gint64 n, gint64 to_step, float *to)
{
  CleaveVector d[CLEAVE_WINOGRAD_PRODUCTS];

  CLEAVE_EACH (i, CLEAVE_WINOGRAD_PRODUCTS)
    d[i] = n < CLEAVE_VECTOR ? cleave_vector_load_some (from[i] + c, (int) n)
                             : cleave_vector_load (from[i] + c);
  CLEAVE_EACH (j, CLEAVE_WINOGRAD_SIDE)
    CLEAVE_WINOGRAD_IMAGE (CleaveVector, d + j, CLEAVE_WINOGRAD_SIDE);
  CLEAVE_EACH (i, CLEAVE_WINOGRAD_SIDE)
    CLEAVE_WINOGRAD_IMAGE (CleaveVector, d + CLEAVE_WINOGRAD_SIDE * i, 1);
  CLEAVE_EACH (i, CLEAVE_WINOGRAD_PRODUCTS)
    cleave_vector_store (to + i * to_step + c, d[i]);
}

/* Transforms the tile of x in row `row` and column `column` of the grid of tiles. */
static void
transform_image (const Work *work, gint64 row, gint64 column, gint64 to_step, float *to)
{
  const Winograd *plan = work->plan;
  gint64 at[] = { 2 * row - plan->phase[0] - plan->pad[0],
                  2 * column - plan->phase[1] - plan->pad[1] };
  const float *from[CLEAVE_WINOGRAD_PRODUCTS];
  gint64 c = 0, n = plan->factors.n_in;

  for (gint64 i = 0; i < CLEAVE_WINOGRAD_PRODUCTS; i++)
    {
      gint64 h = at[0] + i / CLEAVE_WINOGRAD_SIDE, w = at[1] + i % CLEAVE_WINOGRAD_SIDE;

      from[i] = h >= 0 && h < plan->n_x[0] && w >= 0 && w < plan->n_x[1]
                    ? work->x + h * plan->x_step[0] + w * plan->x_step[1]
                    : work->zeros;
    }
  for (; c + CLEAVE_VECTOR <= n; c += CLEAVE_VECTOR)
    transform_channels (from, c, CLEAVE_VECTOR, to_step, to);
  if (c < n)
    transform_channels (from, c, n - c, to_step, to);
}

static void
multiply (const Work *work, const CleaveWinogradColumns *columns, gint64 n_tiles)
{
  static const unsigned long long nowhere;
  const Winograd *plan = work->plan;
  gint64 width = plan->factors.width, step = whole_vectors (width);
  CleaveDirect direct = { .n = n_tiles,
                          .x_step = plan->pitch,
                          .y_step = step,
                          .m = columns->m,
                          .lda = width,
                          .k = plan->factors.n_in,
                          .n_taps = 1,
                          .a_offset = &nowhere,
                          .x_offset = &nowhere };

  for (gint64 i = 0; i < CLEAVE_WINOGRAD_PRODUCTS; i++)
    {
      direct.x = work->image + i * plan->block * plan->pitch;
      direct.a = work->factors + columns->at + i * plan->factors.n_in * width;
      direct.bias = i == CLEAVE_WINOGRAD_BIASED && plan->has_bias ? work->bias + columns->y : NULL;
      direct.y = work->sums + i * plan->block * step;
      cleave_direct_run (&direct);
    }
}

static CLEAVE_SPECIALISED void
transform_sums (const float *from, gint64 from_step, CleaveVector *m)
{
  CLEAVE_EACH (i, CLEAVE_WINOGRAD_PRODUCTS)
    m[i] = cleave_vector_load (from + i * from_step);
  CLEAVE_EACH (j, CLEAVE_WINOGRAD_SIDE)
    CLEAVE_WINOGRAD_RESULT (CleaveVector, m + j, CLEAVE_WINOGRAD_SIDE);
  CLEAVE_EACH (i, 2)
    CLEAVE_WINOGRAD_RESULT (CleaveVector, m + CLEAVE_WINOGRAD_SIDE * i, 1);
}

/* Computes a tile of four pixels of y. Stores only the pixels that are inside the image. */
static void
make_tile (const Work *work,
           const CleaveWinogradColumns *columns,
           gint64 row,
           gint64 column,
           const float *sums)
{
  const Winograd *plan = work->plan;
  gint64 step = whole_vectors (plan->factors.width), m = columns->m;
  gint64 at[] = { 2 * row - plan->phase[0], 2 * column - plan->phase[1] };
  float *to = work->y + columns->y;
  gboolean rows[] = { at[0] >= 0, at[0] + 1 < plan->n_y[0] };
  gboolean there[] = { at[1] >= 0, at[1] + 1 < plan->n_y[1] };

  for (gint64 j = 0; j < m; j += CLEAVE_VECTOR)
    {
      CleaveVector made[CLEAVE_WINOGRAD_PRODUCTS];

      transform_sums (sums + j, plan->block * step, made);
      CLEAVE_EACH (i, 4)
        {
          float *pixel = to + (at[0] + i / 2) * plan->y_step[0] + (at[1] + i % 2) * plan->y_step[1];
          CleaveVector value = made[i / 2 * CLEAVE_WINOGRAD_SIDE + i % 2];

          if (!rows[i / 2] || !there[i % 2])
            continue;
          if (m - j >= CLEAVE_VECTOR)
            cleave_vector_store (pixel + j, value);
          else
            cleave_vector_store_some (pixel + j, value, (int) (m - j));
        }
    }
}

/* Applies the epilogue ops to the pixels of a row of tiles while they are in the L1 cache. */
static void
do_epilogue (const Work *work,
             const CleaveEpilogue *epilogue,
             const CleaveWinogradColumns *columns,
             gint64 row,
             CleaveSpan tiles)
{
  const Winograd *plan = work->plan;
  gint64 begin = MAX (2 * tiles.begin - plan->phase[1], 0);
  gint64 end = MIN (2 * tiles.end - plan->phase[1], plan->n_y[1]);

  for (gint64 i = MAX (2 * row - plan->phase[0], 0);
       i < MIN (2 * row + 2 - plan->phase[0], plan->n_y[0]); i++)
    cleave_direct_do_epilogue (epilogue,
                               work->y + columns->y + i * plan->y_step[0] + begin * plan->y_step[1],
                               plan->y_step[1], end - begin, columns->m);
}

/* Computes a block of the grid of tiles: the rows `rows` and the columns `tiles` of the grid. */
static void
run_block (const Work *work, CleaveSpan rows, CleaveSpan tiles)
{
  const Winograd *plan = work->plan;
  const CleaveEpilogue epilogue = cleave_epilogue_of (work->instance);
  gint64 n = tiles.end - tiles.begin, step = whole_vectors (plan->factors.width);

  for (gint64 i = 0; i < (rows.end - rows.begin) * n; i++)
    transform_image (work, rows.begin + i / n, tiles.begin + i % n, plan->block * plan->pitch,
                     work->image + i * plan->pitch);
  for (guint p = 0; p < plan->columns->len; p++)
    {
      const CleaveWinogradColumns *columns =
          &g_array_index (plan->columns, CleaveWinogradColumns, p);

      multiply (work, columns, (rows.end - rows.begin) * n);
      for (gint64 i = 0; i < (rows.end - rows.begin) * n; i++)
        {
          make_tile (work, columns, rows.begin + i / n, tiles.begin + i % n, work->sums + i * step);
          if (epilogue.n != 0 && (i + 1) % n == 0)
            do_epilogue (work, &epilogue, columns, rows.begin + i / n, tiles);
        }
    }
}

static void
run_band (const Work *work, gint64 y_at, gint64 begin)
{
  const Winograd *plan = work->plan;
  CleaveSpan rows = { begin, MIN (begin + plan->band, plan->n_tiles[0]) };
  gint64 n = MIN (plan->block, plan->n_tiles[1]);

  for (gint64 i = 0; i < plan->n_tiles[1]; i += n)
    run_block (work, rows, (CleaveSpan){ i, MIN (i + n, plan->n_tiles[1]) });
  cleave_kernel_range_done (
      work->instance, y_at + MAX (2 * rows.begin - plan->phase[0], 0) * plan->y_step[0],
      y_at + MIN (2 * rows.end - plan->phase[0], plan->n_y[0]) * plan->y_step[0]);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Winograd *plan = state;
  float *free = scratch;
  Work work = { .plan = plan,
                .instance = instance,
                .factors = plan->packed,
                .bias = plan->has_bias ? instance->operands[B].data : NULL };

  if (cleave_shape_n_elements (&instance->results[0].type.shape) == 0)
    return;
  work.zeros = free;
  work.image = work.zeros + plan->pitch;
  work.sums = work.image + plan->block * CLEAVE_WINOGRAD_PRODUCTS * plan->pitch;
  memset (work.zeros, 0, (gsize) plan->pitch * sizeof (float));
  if (plan->packed == NULL)
    {
      free =
          work.sums + plan->block * CLEAVE_WINOGRAD_PRODUCTS * whole_vectors (plan->factors.width);
      cleave_winograd_pack (&plan->factors, instance->operands[W].data, free);
      work.factors = free;
    }
  for (gint64 n = 0; n < plan->n_images; n++)
    {
      work.x = (const float *) instance->operands[X].data + n * plan->x_image;
      work.y = (float *) instance->results[0].data + n * plan->y_image;
      for (gint64 i = 0; i < plan->n_tiles[0]; i += plan->band)
        run_band (&work, n * plan->y_image, i);
    }
}

static gboolean
reports_progress (gconstpointer state)
{
  return ((const Winograd *) state)->nests;
}

static gboolean
does_epilogue (gconstpointer state, const CleaveKernelInstance *instance, guint *along)
{
  *along = ((const Winograd *) state)->c;
  return TRUE;
}

static gboolean
reads (gconstpointer state, guint operand)
{
  return operand != W || ((const Winograd *) state)->packed == NULL;
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_winograd);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_winograd) = {
  .prepare = prepare,
  .run = run,
  .free = winograd_free,
  .reports_progress = reports_progress,
  .does_epilogue = does_epilogue,
  .packs = W,
  .reads = reads,
  .n_state = sizeof (Winograd),
};
