/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of matrix products of bytes, computed in integer arithmetic. A run copies
 * n_rows rows of A at a time to scratch, minus the zero point of each row. */

#include "../sides.h"
#include "byte-product.h"
#include "byte-units.h"

#include "../../../ops/quantized.h"
#include "../../../ops/reference.h"

enum { A };

typedef struct
{
  CleaveSides sides;
  CleaveBytePanels panels;
  CleaveElement element;       /* element type of A */
  const gint8 *packed;         /* packed B; NULL: each run packs B */
  gint64 first;                /* index of the packed column at which B begins */
  gint64 n_rows;               /* number of rows of A that are copied and multiplied at once */
  gint64 row_bytes;            /* bytes of a row of A in scratch */
  gint64 column_step;          /* distance of adjacent columns of y, in elements */
  gboolean has_b_zeros, by_row /* `has_b_zeros`: B has zero points that packing does not subtract;
                                  `by_row`: each row of y has its own scales and zero points */
      ,
      reports_progress;
  gint64 *x_at; /* indexed by row of A: byte offset of the row in scratch */
  /* byte offsets in scratch. `at_x`: rows of A; `at_y`: offsets of rows in y (the field `y_at` of
   * CleaveByteProduct); `at_bias`, `at_scale`, `at_b_zero`: biases, scales and zero points of the
   * columns of B; `at_sums`: sum of each row of A; `at_packed`: packed B */
  gsize at_x, at_y, at_bias, at_scale, at_b_zero, at_sums, at_packed;
} Plan;

/* The following functions plan a product. */

/* Returns an element of an operand; 0 if the operand is absent. */
static double
load (const CleaveKernelInstance *instance, const CleaveSide *side, gint64 offset)
{
  const CleaveView *view;

  if (side->operand == G_MAXUINT)
    return 0;
  view = &instance->operands[side->operand];
  return cleave_real_load (view->type.element, cleave_view_element (view, offset));
}

/* Returns the number that packing subtracts from the elements of B. */
static gint32
packed_zero (CleaveElement b)
{
  return b == CLEAVE_UINT8 ? 128 : 0;
}

static gboolean
has_b_zeros (const CleaveKernelInstance *instance, const CleaveSides *s)
{
  gint32 none = packed_zero (instance->operands[s->b.operand].type.element);
  gint64 n;

  if (s->b_zero.operand == G_MAXUINT)
    return none != 0;
  if (instance->constants[s->b_zero.operand] == NULL)
    return TRUE;
  n = cleave_shape_n_elements (&instance->operands[s->b_zero.operand].type.shape);
  for (gint64 i = 0; i < n; i++)
    if (instance->operands[s->b_zero.operand].type.shape.rank > 1 ||
        (gint32) cleave_quantized_load (&instance->call, instance->operands, s->b_zero.operand,
                                        i) != none)
      return TRUE;
  return FALSE;
}

static gboolean
varies_by_row (const CleaveSides *s, const CleaveSide *side)
{
  for (guint i = 0; i < s->rows.n; i++)
    if (side->stride[s->rows.dim[i]] != 0)
      return TRUE;
  return FALSE;
}

static void
pack_weights (const CleaveKernelInstance *instance, CleaveWeights *weights, Plan *plan)
{
  const CleaveSides *s = &plan->sides;
  const CleaveView *b = &instance->operands[s->b.operand];
  CleaveTensor *constant = instance->constants[s->b.operand];
  CleaveBytePanels *panels = &plan->panels;

  if (s->batches.n_indices != 1 || b->type.shape.rank < 2)
    constant = NULL;
  *panels = (CleaveBytePanels){ .element = b->type.element,
                                .n_columns = s->n_columns,
                                .column_stride = cleave_sides_column_stride (s, &s->b),
                                .extent = { 1, 1, 1, s->length },
                                .stride = { 0, 0, 0, s->b.k_stride },
                                .n_tap_dims = 3,
                                .unit = CLEAVE_DOT2 };
  /* if the piece has one column, the stride of its columns is arbitrary: take the operand's
   * stride */
  if (constant != NULL)
    panels->column_stride = b->stride[s->b_columns_dim];
  /* rows with different zero points need CLEAVE_DOT2 */
  if (!varies_by_row (s, &s->a_zero))
    panels->unit = cleave_byte_panels_find_unit (weights, constant, s->b_columns_dim, panels);
  if (constant != NULL)
    plan->packed =
        cleave_byte_panels_of_constant (weights, constant, s->b_columns_dim, panels, &plan->first);
}

static gsize
lay_out (Plan *plan)
{
  gint64 n_columns = plan->sides.n_columns + CLEAVE_BYTE_PANEL;
  gsize n = 0;

  plan->at_x = cleave_take_scratch (&n, plan->n_rows * plan->row_bytes / 4 + 16);
  plan->at_y = cleave_take_scratch (&n, plan->n_rows * 2);
  plan->at_bias = cleave_take_scratch (&n, n_columns);
  plan->at_scale = cleave_take_scratch (&n, n_columns);
  plan->at_b_zero = cleave_take_scratch (&n, plan->has_b_zeros ? n_columns : 0);
  plan->at_sums = cleave_take_scratch (&n, plan->has_b_zeros ? plan->n_rows : 0);
  plan->at_packed = n;
  return plan->packed == NULL ? n + cleave_byte_panels_n_bytes (&plan->panels) : n;
}

/* Limit on the bytes of the rows of A that are multiplied at once, so that they stay in the L2
 * cache. */
#define BAND_BYTES (64 << 10)

static void
init_plan (Plan *plan, const CleaveKernelInstance *instance)
{
  const CleaveView *y = &instance->results[0];
  const CleaveSides *s = &plan->sides;

  plan->element = instance->operands[A].type.element;
  plan->row_bytes = 4 * cleave_byte_panels_n_units (&plan->panels);
  plan->n_rows = CLAMP (BAND_BYTES / MAX (plan->row_bytes, 1), 8, MAX (s->rows.n_indices, 8));
  plan->column_step = s->n_columns == 1 ? 1 : y->stride[s->columns_dim];
  plan->has_b_zeros = has_b_zeros (instance, s);
  plan->by_row = varies_by_row (s, &s->a_scale) || varies_by_row (s, &s->y_scale) ||
                 varies_by_row (s, &s->y_zero);
  plan->reports_progress = s->batches.n_indices == 1 && cleave_view_is_dense (y);
  plan->x_at = g_new (gint64, (gsize) plan->n_rows);
  for (gint64 i = 0; i < plan->n_rows; i++)
    plan->x_at[i] = i * plan->row_bytes;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  Plan *plan = g_new0 (Plan, 1);

  plan->sides = cleave_sides_of_matmul (instance);
  pack_weights (instance, weights, plan);
  init_plan (plan, instance);
  *n_scratch = lay_out (plan);
  *state = plan;
  return TRUE;
}

static void
plan_free (gpointer state)
{
  Plan *plan = state;

  g_free (plan->x_at);
  g_free (plan);
}

/* The following functions run a product. */

/* State of a run, at one index of the batch dimensions. */
typedef struct
{
  const Plan *plan;
  const CleaveKernelInstance *instance;
  gint64 batch;
  CleaveByteProduct product;
  char *x;
  gint64 *y_at;
  gint32 *bias, *b_zero, *sums;
  float *scale;
  gint8 *packed;
} Work;

/* Returns the address of an operand's first element in row `row`. The operand must not be
 * absent. */
static gpointer
find (const Work *work, const CleaveSide *side, gint64 row)
{
  return cleave_view_element (&work->instance->operands[side->operand],
                              cleave_sides_offset (&work->plan->sides, side, work->batch, row));
}

/* Returns the element of an operand for a row and a column of y; 0 if the operand is absent. */
static double
get (const Work *work, const CleaveSide *side, gint64 row, gint64 column)
{
  const CleaveSides *s = &work->plan->sides;

  return load (work->instance, side,
               cleave_sides_offset (s, side, work->batch, row) +
                   column * cleave_sides_column_stride (s, side));
}

/* Sets the scale by which each column's sum is multiplied, for one row of y: a_scale * b_scale /
 * y_scale, in the order of operations of the reference kernel. */
static void
read_scales (Work *work, gint64 row)
{
  const CleaveSides *s = &work->plan->sides;
  float a, y;

  if (s->y_scale.operand == G_MAXUINT)
    return;
  a = (float) get (work, &s->a_scale, row, 0);
  y = (float) get (work, &s->y_scale, row, 0);
  for (gint64 j = 0; j < s->n_columns; j++)
    work->scale[j] = a * (float) get (work, &s->b_scale, row, j) / y;
  work->product.finish.has_odd_scales = cleave_byte_has_odd_scales (work->scale, s->n_columns);
  work->product.finish.zero = (gint32) get (work, &s->y_zero, row, 0);
}

static void
begin_batch (Work *work)
{
  const Plan *plan = work->plan;
  const CleaveSides *s = &plan->sides;
  CleaveByteProduct *product = &work->product;
  gint32 none = packed_zero (plan->panels.element), zero;
  const gint32 *sums;

  product->w = plan->packed;
  if (plan->packed == NULL)
    {
      cleave_byte_panels_pack (&plan->panels, find (work, &s->b, 0), work->packed);
      product->w = work->packed;
    }
  for (gint64 j = 0; plan->has_b_zeros && j < s->n_columns; j++)
    work->b_zero[j] = (gint32) get (work, &s->b_zero, 0, j) - none;
  sums = cleave_byte_panels_sums (&plan->panels, product->w) + plan->first;
  zero = cleave_byte_unit_zero (plan->panels.unit, plan->element,
                                (gint32) get (work, &s->a_zero, 0, 0));
  for (gint64 j = 0; j < s->n_columns; j++)
    work->bias[j] =
        plan->panels.unit == CLEAVE_DOT2 ? 0 : (gint32) (0 - (guint32) zero * (guint32) sums[j]);
  read_scales (work, 0);
}

static void
make_rows (const Work *work, gint64 begin, gint64 n)
{
  const Plan *plan = work->plan;
  const CleaveSides *s = &plan->sides;
  gint64 unit = plan->panels.unit;

  for (gint64 i = 0; i < n; i++)
    {
      char *to = work->x + i * plan->row_bytes;
      gint32 zero = (gint32) get (work, &s->a_zero, begin + i, 0);

      cleave_byte_units_make (unit, plan->element, zero, find (work, &s->a, begin + i),
                              s->a.k_stride, to, 1, s->length);
      work->y_at[i] = cleave_sides_offset (s, &s->y, work->batch, begin + i);
      if (plan->has_b_zeros)
        work->sums[i] = (gint32) cleave_byte_units_add (
            unit, cleave_byte_unit_zero (unit, plan->element, zero), to, s->length);
    }
}

/* Computes rows [begin, begin + n) of y. If each row has its own scales, computes one row at a
 * time, otherwise all rows together. */
static void
run_rows (Work *work, gint64 begin, gint64 n)
{
  const Plan *plan = work->plan;
  CleaveByteProduct *product = &work->product;

  make_rows (work, begin, n);
  product->n_pixels = plan->by_row ? 1 : n;
  for (gint64 i = 0; i < n; i += product->n_pixels)
    {
      product->x_at = plan->x_at + i;
      product->y_at = work->y_at + i;
      product->x_sums = work->sums + i;
      if (plan->by_row)
        read_scales (work, begin + i);
      cleave_byte_product_run (product);
    }
}

static void
run_batch (Work *work)
{
  const CleaveSides *s = &work->plan->sides;

  begin_batch (work);
  for (gint64 i = 0, n; i < s->rows.n_indices; i += n)
    {
      n = MIN (work->plan->n_rows, s->rows.n_indices - i);
      run_rows (work, i, n);
      if (work->plan->reports_progress)
        cleave_kernel_range_done (work->instance, i * s->n_columns, (i + n) * s->n_columns);
    }
}

static Work
begin_work (const Plan *plan, const CleaveKernelInstance *instance, char *scratch)
{
  static const gint64 tap_at = 0;
  Work work = { .plan = plan,
                .instance = instance,
                .x = scratch + plan->at_x,
                .y_at = (gint64 *) (void *) (scratch + plan->at_y),
                .bias = (gint32 *) (void *) (scratch + plan->at_bias),
                .scale = (float *) (void *) (scratch + plan->at_scale),
                .b_zero = (gint32 *) (void *) (scratch + plan->at_b_zero),
                .sums = (gint32 *) (void *) (scratch + plan->at_sums),
                .packed = (gint8 *) scratch + plan->at_packed };

  work.product =
      (CleaveByteProduct){ .panels = &plan->panels,
                           .first = plan->first,
                           .n_columns = plan->sides.n_columns,
                           .x = work.x,
                           .tap_at = &tap_at,
                           .y = instance->results[0].data,
                           .column_step = plan->column_step,
                           .finish = { .element = instance->results[0].type.element,
                                       .bias = work.bias,
                                       .scale = work.scale,
                                       .w_zero = plan->has_b_zeros ? work.b_zero : NULL } };
  return work;
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *plan = state;
  Work work;

  if (plan->sides.n_columns == 0 || plan->sides.rows.n_indices == 0)
    return;
  work = begin_work (plan, instance, scratch);
  for (; work.batch < plan->sides.batches.n_indices; work.batch++)
    run_batch (&work);
}

static gboolean
reports_progress (gconstpointer state)
{
  const Plan *plan = state;

  return plan->reports_progress;
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const Plan *plan = state;

  return plan->packed == NULL || operand != plan->sides.b.operand;
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_integer_matmul);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_integer_matmul) = {
  .prepare = prepare,
  .run = run,
  .free = plan_free,
  .reports_progress = reports_progress,
  .reads = reads,
};
