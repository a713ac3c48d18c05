/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Matrix products of 16-bit floats. A run converts n_rows rows of A at a time to 32-bit floats and
 * multiplies them. B is packed as 32-bit floats. */

#include "../sides.h"
#include "upcast.h"

#include "../../../ops/quantized.h"
#include "../../../ops/reference.h"

enum { A };

typedef struct
{
  CleaveUpcast common;
  CleaveSides sides;
  gint64 n_rows;      /* number of rows of A that are converted and multiplied at once */
  gint64 column_step; /* distance of adjacent columns of y, in elements */
} Plan;

/* The following functions plan a product. */

/* Packs a constant B. If B is a slice of a larger constant, packs the larger constant, which other
 * pieces share. Returns the index of B's first column in the packed matrix. */
static gint64
pack_weights (const CleaveKernelInstance *instance, CleaveWeights *weights, Plan *plan)
{
  const CleaveSides *s = &plan->sides;
  const CleaveView *b = &instance->operands[s->b.operand];
  CleavePanels *panels = &plan->common.panels;
  gint64 first = 0;

  *panels = (CleavePanels){ .element = b->type.element,
                            .n_columns = s->n_columns,
                            .column_stride = cleave_sides_column_stride (s, &s->b),
                            .extent = { 1, 1, 1, s->length },
                            .stride = { 0, 0, 0, s->b.k_stride },
                            .width = cleave_panels_width (s->n_columns) };
  if (instance->constants[s->b.operand] != NULL && s->batches.n_indices == 1 &&
      b->type.shape.rank >= 2)
    {
      /* the column stride of a piece with one column is arbitrary: take the stride of B */
      panels->column_stride = b->stride[s->b_columns_dim];
      plan->common.packed = cleave_panels_of_constant (weights, instance->constants[s->b.operand],
                                                       s->b_columns_dim, panels, &first);
    }
  return first;
}

/* Appends to the product's bands a band that computes n_rows rows of y from n_rows converted rows
 * of A. */
static void
add_rows (const Plan *plan, CleaveProduct *product, gint64 n_rows)
{
  const CleaveSides *s = &plan->sides;
  CleaveTap tap = { 0, 0 };
  CleaveTapRegion region = { .extent = { 1, 1, n_rows },
                             .x_step = { 0, 0, s->length },
                             .y_step = { 0, 0, s->n_columns },
                             .k = s->length,
                             .n_taps = 1,
                             .taps = &tap };

  cleave_product_add_region (product, &region);
  cleave_product_end_band (
      product, &(CleaveBand){ .x_end = n_rows * s->length, .y_end = n_rows * s->n_columns });
}

/* Returns a product with two bands: one of plan->n_rows rows, and one for the remaining rows. */
static CleaveProduct *
make_product (const Plan *plan, gint64 first)
{
  const CleavePanels *panels = &plan->common.panels;
  CleaveProduct *product = cleave_product_new (panels->width, TRUE, FALSE);

  cleave_brgemm_add_columns (product, panels, first, 1, 0, plan->sides.n_columns);
  add_rows (plan, product, plan->n_rows);
  add_rows (plan, product, plan->sides.rows.n_indices % plan->n_rows);
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
  plan->n_rows = CLAMP (most, 1, MAX (s->rows.n_indices, 1));
  plan->column_step = s->n_columns == 1 ? 1 : y->stride[s->columns_dim];
  plan->common.weights = s->b.operand;
  plan->common.reports_progress = s->batches.n_indices == 1 && cleave_view_is_dense (y);
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

  plan->common.product = make_product (plan, pack_weights (instance, weights, plan));
  cleave_product_prepare (plan->common.product);
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

/* The following functions run a product. */

/* The operands of a run at one index of the batch dimensions. */
typedef struct
{
  CleaveUpcastWork common;
  const Plan *plan;
  const CleaveSides *sides;
  gint64 batch;
} Work;

/* Returns the address of an operand's first element in row `row`. The operand must not be
 * absent. */
static gpointer
find (const Work *work, const CleaveSide *side, gint64 row)
{
  return cleave_view_element (&work->common.instance->operands[side->operand],
                              cleave_sides_offset (work->sides, side, work->batch, row));
}

static void
widen_rows (const Work *work, gint64 begin, gint64 n)
{
  const CleaveSides *s = work->sides;
  float *to = work->common.x;

  for (gint64 i = begin; i < begin + n; i++, to += s->length)
    cleave_upcast (work->common.instance->operands[A].type.element, find (work, &s->a, i),
                   s->a.k_stride, 0, to, s->length);
}

/* Multiplies a row of sums by alpha and adds beta * C (attributes and operand of Gemm). */
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

/* Finishes row `row` of y: multiplies by alpha and adds beta * C (Gemm), converts the sums to the
 * type of y, and stores them. `at`: index of the row's first sum in the buffer of sums. */
static void
finish_row (Work *work, gint64 row, gint64 at)
{
  const CleaveSides *s = work->sides;
  gpointer y = cleave_view_element (&work->common.instance->results[0],
                                    cleave_sides_offset (s, &s->y, work->batch, row));

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
    cleave_upcast_pack (&work->common, find (work, &s->b, 0));
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

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_matmul);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_matmul) = {
  .prepare = prepare,
  .run = run,
  .free = cleave_upcast_free,
  .reports_progress = cleave_upcast_reports_progress,
  .reads = cleave_upcast_reads,
};

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_gemm);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_gemm) = {
  .prepare = prepare_gemm,
  .run = run,
  .free = cleave_upcast_free,
  .reports_progress = cleave_upcast_reports_progress,
  .reads = cleave_upcast_reads,
};
