/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Matrix products of bytes and of 16-bit floats, some rows at a time: these rows of A become
 * floats, B is packed as floats. */

#include "../sides.h"
#include "upcast.h"

#include "../../../ops/quantized.h"
#include "../../../ops/reference.h"

enum { A };

typedef struct
{
  CleaveUpcast common;
  CleaveSides sides;
  gboolean has_bytes;
  gint64 n_rows;      /* at once */
  gint64 column_step; /* in y */
} Plan;

/* Preparing. */

/* 0 if the operand is absent. */
static double
load (const CleaveKernelInstance *instance, const CleaveSide *side, gint64 offset)
{
  const CleaveView *view;

  if (side->operand == G_MAXUINT)
    return 0;
  view = &instance->operands[side->operand];
  return cleave_real_load (view->type.element, cleave_view_element (view, offset));
}

/* What B is, column by column. */
static void
sum_weights (const CleaveKernelInstance *instance, gconstpointer self, gint64 column, gint64 *sums)
{
  const CleaveSides *s = self;
  gint64 at = column * cleave_sides_column_stride (s, &s->b);
  double zero = load (instance, &s->b_zero, column * cleave_sides_column_stride (s, &s->b_zero));

  for (gint64 k = 0; k < s->length; k++)
    sums[k] = (gint64) ABS (load (instance, &s->b, at + k * s->b.k_stride) - zero);
}

/* Into how many parts K is cut; 0: no cut makes the sums exact. */
static gint64
count_parts (const CleaveKernelInstance *instance, const CleaveSides *s)
{
  gboolean known = s->batches.n_indices == 1 && cleave_instance_knows (instance, s->b.operand) &&
                   cleave_instance_knows (instance, s->b_zero.operand);
  CleaveSums sums = { .n_columns = s->n_columns,
                      .n_channels = s->length,
                      .largest_x = cleave_largest_byte_of (instance, A, s->a_zero.operand),
                      .largest_w =
                          cleave_largest_byte (instance->operands[s->b.operand].type.element,
                                               s->b_zero.operand != G_MAXUINT, NULL),
                      .distances = known ? sum_weights : NULL,
                      .self = s };

  return cleave_count_exact_parts (instance, &sums);
}

/* Whether B is packed for good. */
static gboolean
can_share (const CleaveKernelInstance *instance, const CleaveSides *s)
{
  guint zero = s->b_zero.operand;

  return instance->constants[s->b.operand] != NULL && s->batches.n_indices == 1 &&
         instance->operands[s->b.operand].type.shape.rank >= 2 &&
         cleave_instance_knows (instance, zero) &&
         (zero == G_MAXUINT || instance->operands[zero].type.shape.rank <= 1);
}

/* Returns the packed column of the first. */
static gint64
pack_weights (const CleaveKernelInstance *instance, CleaveWeights *weights, Plan *plan)
{
  const CleaveSides *s = &plan->sides;
  const CleaveView *b = &instance->operands[s->b.operand];
  guint zero = s->b_zero.operand;
  CleavePanels *panels = &plan->common.panels;
  gint64 first = 0;

  *panels = (CleavePanels){ .element = b->type.element,
                            .n_columns = s->n_columns,
                            .column_stride = cleave_sides_column_stride (s, &s->b),
                            .extent = { 1, 1, 1, s->length },
                            .stride = { 0, 0, 0, s->b.k_stride },
                            .width = cleave_panels_width (s->n_columns) };
  if (can_share (instance, s))
    {
      /* a piece of one column has no step of its own, but what it was cut out of has */
      panels->column_stride = b->stride[s->b_columns_dim];
      plan->common.packed = cleave_panels_of_constant (
          weights, instance->constants[s->b.operand],
          zero == G_MAXUINT ? NULL : instance->constants[zero], s->b_columns_dim, panels, &first);
    }
  return first;
}

/* So many rows of floats. */
static void
add_rows (const Plan *plan, CleaveProduct *product, gint64 n_rows, const CleaveSpan *part)
{
  const CleaveSides *s = &plan->sides;
  CleaveTap tap = { part->begin, part->begin * plan->common.panels.width };
  CleaveZone zone = { .extent = { 1, 1, n_rows },
                      .x_step = { 0, 0, s->length },
                      .y_step = { 0, 0, s->n_columns },
                      .k = part->end - part->begin,
                      .n_taps = 1,
                      .taps = &tap };

  cleave_product_add_zone (product, &zone);
  cleave_product_end_band (
      product, &(CleaveBand){ .x_end = n_rows * s->length, .y_end = n_rows * s->n_columns });
}

/* Two bands: as many rows as there are at once, and the rest. */
static CleaveProduct *
make_part (const CleaveKernelInstance *instance,
           gconstpointer self,
           gint64 first,
           const CleaveSpan *part)
{
  const Plan *plan = self;
  const CleavePanels *panels = &plan->common.panels;
  CleaveProduct *product = cleave_product_new (panels->width, TRUE, FALSE);

  cleave_brgemm_add_columns (product, panels, first, 1, 0, plan->sides.n_columns);
  add_rows (plan, product, plan->n_rows, part);
  add_rows (plan, product, plan->sides.rows.n_indices % plan->n_rows, part);
  return product;
}

#define BAND_FLOATS 65536

static Plan *
new_plan (const CleaveKernelInstance *instance, const CleaveSides *s)
{
  const CleaveView *y = &instance->results[0];
  gint64 most = MAX (BAND_FLOATS, s->length * s->n_columns) / MAX (s->length + s->n_columns, 1);
  Plan *plan = g_new0 (Plan, 1);

  plan->sides = *s;
  plan->has_bytes = cleave_is_byte (instance->operands[A].type.element);
  plan->n_rows = CLAMP (most, 1, MAX (s->rows.n_indices, 1));
  plan->column_step = s->n_columns == 1 ? 1 : y->stride[s->columns_dim];
  plan->common.weights = s->b.operand;
  plan->common.reports_progress = s->batches.n_indices == 1 && cleave_view_is_dense (y);
  plan->common.n_parts = plan->has_bytes ? count_parts (instance, s) : 1;
  return plan;
}

static gboolean
prepare_sides (const CleaveKernelInstance *instance,
               const CleaveSides *sides,
               CleaveWeights *weights,
               gpointer *state,
               gsize *n_scratch)
{
  Plan *plan = new_plan (instance, sides);

  if (plan->common.n_parts == 0 ||
      !cleave_upcast_make_products (&plan->common, instance, pack_weights (instance, weights, plan),
                                    sides->length, make_part))
    {
      cleave_upcast_free (plan);
      return FALSE;
    }
  *n_scratch = cleave_upcast_lay_out (&plan->common, sides->n_columns);
  *state = plan;
  return TRUE;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  CleaveSides sides = cleave_sides_of_matmul (instance);

  return prepare_sides (instance, &sides, weights, state, n_scratch);
}

static gboolean
prepare_gemm (const CleaveKernelInstance *instance,
              CleaveWeights *weights,
              gpointer *state,
              gsize *n_scratch)
{
  CleaveSides sides = cleave_sides_of_gemm (instance);

  return prepare_sides (instance, &sides, weights, state, n_scratch);
}

/* Running. */

/* A run at work on one index of the batches. */
typedef struct
{
  CleaveUpcastWork common;
  const Plan *plan;
  const CleaveSides *sides;
  gint64 batch;
} Work;

/* The first column of a row; the operand is there. */
static gpointer
find (const Work *work, const CleaveSide *side, gint64 row)
{
  return cleave_view_element (&work->common.instance->operands[side->operand],
                              cleave_sides_offset (work->sides, side, work->batch, row));
}

/* 0 if absent. */
static double
get (const Work *work, const CleaveSide *side, gint64 row, gint64 column)
{
  return load (work->common.instance, side,
               cleave_sides_offset (work->sides, side, work->batch, row) +
                   column * cleave_sides_column_stride (work->sides, side));
}

static void
pack_panels (Work *work)
{
  float *zeros = work->common.at_zeros;

  for (gint64 j = 0; j < work->sides->n_columns; j++)
    zeros[j] = (float) get (work, &work->sides->b_zero, 0, j);
  cleave_upcast_pack (&work->common, find (work, &work->sides->b, 0), zeros);
}

/* As the reference kernel has them, from left to right. */
static void
read_scales (Work *work, gint64 row)
{
  const CleaveSides *s = work->sides;
  guint32 *bias = work->common.at_bias;
  float *scale = work->common.at_scale;
  float a = (float) get (work, &s->a_scale, row, 0), y = (float) get (work, &s->y_scale, row, 0);

  for (gint64 j = 0; j < s->n_columns; j++)
    {
      bias[j] = 0;
      scale[j] = a * (float) get (work, &s->b_scale, row, j) / y;
    }
  work->common.finish.bias = bias;
  work->common.finish.scale = scale;
}

static void
widen_rows (const Work *work, gint64 begin, gint64 n)
{
  const CleaveSides *s = work->sides;
  float *to = work->common.x;

  for (gint64 i = begin; i < begin + n; i++, to += s->length)
    cleave_upcast (work->common.instance->operands[A].type.element, find (work, &s->a, i),
                   s->a.k_stride, (gint32) get (work, &s->a_zero, i, 0), to, s->length);
}

/* What Gemm does with its sums. */
static void
add_c (const Work *work, gint64 row, float *sums)
{
  const CleaveSides *s = work->sides;
  float alpha = (float) s->alpha, beta = (float) s->beta, *c = work->common.at_bias;

  if (alpha != 1)
    for (gint64 j = 0; j < s->n_columns; j++)
      sums[j] *= alpha;
  if (s->c.operand == G_MAXUINT)
    return;
  cleave_upcast (work->common.instance->operands[s->c.operand].type.element,
                 find (work, &s->c, row), cleave_sides_column_stride (s, &s->c), 0, c,
                 s->n_columns);
  for (gint64 j = 0; j < s->n_columns; j++)
    sums[j] += beta == 1 ? c[j] : beta * c[j];
}

/* Row `row`, whose sums begin at `at`. */
static void
finish_row (Work *work, gint64 row, gint64 at)
{
  const CleaveSides *s = work->sides;
  gpointer y = cleave_view_element (&work->common.instance->results[0],
                                    cleave_sides_offset (s, &s->y, work->batch, row));

  if (s->scales_by_row)
    read_scales (work, row);
  work->common.finish.zero = (gint32) get (work, &s->y_zero, row, 0);
  if (!work->plan->has_bytes)
    add_c (work, row, work->common.y + at);
  cleave_upcast_finish (&work->common, at, y, work->plan->column_step, s->n_columns);
}

static void
run_rows (Work *work, gint64 begin, gint64 n)
{
  widen_rows (work, begin, n);
  cleave_upcast_run_band (&work->common, n < work->plan->n_rows);
  for (gint64 i = 0; i < n; i++)
    finish_row (work, begin + i, i * work->sides->n_columns);
}

static void
run_batch (Work *work)
{
  const CleaveSides *s = work->sides;

  if (work->plan->common.packed == NULL)
    pack_panels (work);
  if (s->y_scale.operand != G_MAXUINT)
    read_scales (work, 0);
  for (gint64 i = 0, n; i < s->rows.n_indices; i += n)
    {
      n = MIN (work->plan->n_rows, s->rows.n_indices - i);
      run_rows (work, i, n);
      if (work->plan->common.reports_progress)
        cleave_kernel_range_done (work->common.instance, i * s->n_columns, (i + n) * s->n_columns);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *plan = state;
  Work work = { .common = cleave_upcast_begin (&plan->common, instance, scratch),
                .plan = plan,
                .sides = &plan->sides };

  if (plan->sides.n_columns == 0 || plan->sides.rows.n_indices == 0)
    return;
  for (; work.batch < plan->sides.batches.n_indices; work.batch++)
    run_batch (&work);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_matmul); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_matmul) = {
  .prepare = prepare,
  .run = run,
  .free = cleave_upcast_free,
  .reports_progress = cleave_upcast_reports_progress,
  .reads = cleave_upcast_reads,
};

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_gemm); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_gemm) = {
  .prepare = prepare_gemm,
  .run = run,
  .free = cleave_upcast_free,
  .reports_progress = cleave_upcast_reports_progress,
  .reads = cleave_upcast_reads,
};
