/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans the ops MatMul and Gemm on floats, which a CleaveProduct (gemm.h) computes. A plan decides
 * how runs read the operands, and which dimensions of y are the rows, the columns and the batches
 * of the product. */

#include "plans.h"

enum { A, B, C };

/* A product y = a b for each index of the batch dimensions, where a is m x k and b is k x n. If y
 * is stored column by column, the kernel computes the transposed product: `a` is then operand B of
 * the node, and `b` is operand A. */
typedef struct
{
  gint64 m, n, k;
  gint64 a_row, a_column, b_row, b_column, y_row, y_column;
  guint a, b;          /* indices of the node's operands that are a and b */
  guint b_columns_dim; /* dimension of b whose indices are the columns of b */
  /* dimensions of y whose indices are the rows and the columns of the product */
  guint rows_dim, columns_dim;
  /* TRUE: the rows or the columns of the product are the indices of a batch dimension of y
   * (take_innermost()). Other kernels then cannot use the packed layout of a constant operand */
  gboolean takes_batch;
} Plan;

/* Limit on the number of floats of x and y in a band (gemm.h). If `b` has more floats than
 * BAND_FLOATS, the number of floats of `b` is the limit, since each band reads all of `b`. */
#define BAND_FLOATS 65536
/* Smallest number of columns of `b` that the product reads in place. Fewer columns do not fill a
 * vector, so each run packs `b`. */
#define MIN_IN_PLACE CLEAVE_VECTOR

static gboolean
is_float_without_negative_steps (const CleaveView *view)
{
  if (view->type.element != CLEAVE_FLOAT32)
    return FALSE;
  for (guint d = 0; d < view->type.shape.rank; d++)
    if (view->stride[d] < 0)
      return FALSE;
  return TRUE;
}

static gboolean
can_serve (const CleaveKernelInstance *instance)
{
  return is_float_without_negative_steps (&instance->operands[A]) &&
         is_float_without_negative_steps (&instance->operands[B]) &&
         is_float_without_negative_steps (&instance->results[0]);
}

static gboolean
has_strided_columns (const Plan *plan)
{
  return plan->n > 1 && plan->y_column != 1;
}

static gboolean
has_batches (const CleaveBrgemm *brgemm)
{
  for (guint d = 0; d < brgemm->n_batch_dims; d++)
    if (brgemm->extent[d] != 1 && brgemm->a_step[d] != 0)
      return TRUE;
  return FALSE;
}

/* Plans how runs read b: from a packed constant, in place, or packed by each run. Returns a product
 * (gemm.h) with the columns of b; add_rows() adds the rows later. Returns NULL if `blockwise`
 * (blockwise.h) computes the product instead. */
static CleaveProduct *
add_b (const Plan *plan,
       const CleaveKernelInstance *instance,
       CleaveWeights *weights,
       CleaveBrgemm *brgemm)
{
  CleavePanels panels = { .element = CLEAVE_FLOAT32,
                          .n_columns = plan->n,
                          .column_stride = plan->b_column,
                          .extent = { 1, 1, 1, plan->k },
                          .stride = { 0, 0, 0, plan->b_row },
                          .width = cleave_panels_width (plan->n) };
  gboolean in_place =
      plan->b_column == 1 && plan->n >= MIN_IN_PLACE && plan->b_row >= MIN (plan->n, panels.width);
  CleaveTensor *constant = instance->constants[plan->b];
  gboolean is_constant = constant != NULL && !plan->takes_batch && !has_batches (brgemm) &&
                         instance->operands[plan->b].type.shape.rank >= 2;
  CleaveProduct *product;
  gint64 first = 0;

  if (is_constant && (plan->a_column == 1 || plan->k <= 1) && !has_strided_columns (plan))
    brgemm->blockwise = cleave_blockwise_new (weights, constant, plan->b_columns_dim, &panels,
                                              plan->m, plan->n, plan->a_row, plan->y_row);
  if (brgemm->blockwise != NULL)
    return NULL;
  if (is_constant)
    brgemm->a = cleave_panels_of_constant (weights, constant, plan->b_columns_dim, &panels, &first);
  else if (in_place)
    {
      product = cleave_product_new (plan->b_row, FALSE, FALSE);
      for (gint64 i = 0; i < plan->n; i += panels.width)
        cleave_product_add_columns (
            product,
            &(CleaveColumns){ .m = MIN (panels.width, plan->n - i), .a_offset = i, .y_offset = i });
      return product;
    }
  else
    brgemm->panels = panels;
  product = cleave_product_new (panels.width, TRUE, FALSE);
  cleave_brgemm_add_columns (product, &panels, first, 1, 0, plan->n);
  return product;
}

static void
add_rows (const Plan *plan, CleaveProduct *product, CleavePackedRows *packed)
{
  CleaveTap tap = { 0, 0 };
  gint64 length = MAX (MAX (BAND_FLOATS, plan->k * plan->n) / MAX (plan->k + plan->n, 1), 1);
  gboolean packs = plan->k > 1 && plan->a_column != 1;
  gint64 step = packs ? plan->k : plan->a_row;

  if (packs)
    *packed = (CleavePackedRows){ .n = plan->m,
                                  .n_per_band = length,
                                  .k = plan->k,
                                  .row_step = plan->a_row,
                                  .column_step = plan->a_column };
  for (gint64 i = 0; i < plan->m; i += length)
    {
      CleaveTapRegion region = { .x_offset = packs ? 0 : i * step,
                                 .y_offset = i * plan->y_row,
                                 .extent = { 1, 1, MIN (length, plan->m - i) },
                                 .x_step = { 0, 0, step },
                                 .y_step = { 0, 0, plan->y_row },
                                 .k = plan->k,
                                 .n_taps = 1,
                                 .taps = &tap };

      cleave_product_add_region (product, &region);
      cleave_product_end_band (product,
                               &(CleaveBand){ .y_begin = i * plan->y_row,
                                              .y_end = MIN (i + length, plan->m) * plan->y_row });
    }
}

/* Makes the product compute a dense result in scratch. A run then copies the result to y. */
static void
lay_apart (Plan *plan, CleaveBrgemm *brgemm)
{
  brgemm->apart = (CleaveView){ .type = CLEAVE_TYPE (CLEAVE_FLOAT32, plan->m, plan->n),
                                .stride = { plan->y_row, plan->y_column } };
  plan->y_row = plan->n;
  plan->y_column = 1;
}

static gboolean
plan_product (Plan *plan,
              const CleaveKernelInstance *instance,
              CleaveWeights *weights,
              CleaveBrgemm *brgemm)
{
  if (!can_serve (instance) || (has_strided_columns (plan) && brgemm->finish != NULL))
    return FALSE;
  brgemm->operand_x = plan->a;
  brgemm->operand_a = plan->b;
  if (has_strided_columns (plan))
    lay_apart (plan, brgemm);
  if (plan->m == 1)
    plan->y_row = plan->n;
  brgemm->nests = brgemm->finish == NULL && brgemm->apart.type.shape.rank == 0 &&
                  plan->y_row >= plan->n && cleave_brgemm_nests (brgemm, plan->m * plan->y_row);
  brgemm->product = add_b (plan, instance, weights, brgemm);
  if (brgemm->product != NULL)
    add_rows (plan, brgemm->product, &brgemm->rows);
  return TRUE;
}

/* Returns the stride, in an operand, of a batch dimension of y; 0 if the operand lacks the
 * dimension. `from_inner` counts the batch dimensions, from 0 for the innermost. */
static gint64
batch_step (const CleaveView *view, guint from_inner)
{
  const CleaveShape *shape = &view->type.shape;
  guint d;

  if (shape->rank < from_inner + 3)
    return 0;
  d = shape->rank - 3 - from_inner;
  return shape->dim[d] == 1 ? 0 : view->stride[d];
}

static void
add_batches (const CleaveKernelInstance *instance, guint n_matrix_dims, CleaveBrgemm *brgemm)
{
  const CleaveView *y = &instance->results[0];

  brgemm->n_batch_dims = y->type.shape.rank - n_matrix_dims;
  for (guint d = 0; d < brgemm->n_batch_dims; d++)
    {
      guint from_inner = brgemm->n_batch_dims - 1 - d;

      brgemm->extent[d] = y->type.shape.dim[d];
      brgemm->x_step[d] = batch_step (&instance->operands[A], from_inner);
      brgemm->a_step[d] = batch_step (&instance->operands[B], from_inner);
      brgemm->y_step[d] = y->stride[d];
    }
}

/* If all batches share b, and the rows of the batches follow each other in a and in y, merges the
 * batches into one matrix with more rows. */
static void
join_batches (Plan *plan, CleaveBrgemm *brgemm)
{
  while (brgemm->n_batch_dims > 0)
    {
      guint d = brgemm->n_batch_dims - 1;

      if (plan->m == 1)
        {
          plan->a_row = brgemm->x_step[d];
          plan->y_row = brgemm->y_step[d];
        }
      if (brgemm->extent[d] != 1 &&
          (brgemm->a_step[d] != 0 || brgemm->x_step[d] != plan->m * plan->a_row ||
           brgemm->y_step[d] != plan->m * plan->y_row))
        return;
      plan->m *= brgemm->extent[d];
      brgemm->n_batch_dims--;
    }
}

static void
swap (gint64 *a, gint64 *b)
{
  gint64 was = *a;

  *a = *b;
  *b = was;
}

/* Exchanges a and b, so that the product computes the transpose of y: the rows of y become
 * columns. */
static void
transpose (Plan *plan, const CleaveKernelInstance *instance, CleaveBrgemm *brgemm)
{
  swap (&plan->m, &plan->n);
  swap (&plan->a_row, &plan->b_column);
  swap (&plan->a_column, &plan->b_row);
  swap (&plan->y_row, &plan->y_column);
  for (guint d = 0; d < brgemm->n_batch_dims; d++)
    swap (&brgemm->x_step[d], &brgemm->a_step[d]);
  plan->a = B;
  plan->b = A;
  plan->b_columns_dim = instance->operands[A].type.shape.rank - 2;
  plan->columns_dim = plan->rows_dim;
}

/* Exchanges the rows or the columns of the product with a batch dimension d along which the
 * elements of y are contiguous. If operand `b` does not have dimension d, the indices of d become
 * the rows. If operand `a` does not have dimension d, the indices of d become the columns. The
 * former rows or columns become a batch dimension. Example: `a` is an image with contiguous
 * channels, and `b` multiplies the last dimension of the image; the channels then become the
 * rows. */
static void
take_innermost (Plan *plan, CleaveBrgemm *brgemm)
{
  for (guint d = 0; d < brgemm->n_batch_dims; d++)
    if (brgemm->extent[d] > 1 && brgemm->y_step[d] == 1)
      {
        if (brgemm->x_step[d] == 0)
          {
            swap (&plan->n, &brgemm->extent[d]);
            swap (&plan->b_column, &brgemm->a_step[d]);
            swap (&plan->y_column, &brgemm->y_step[d]);
            plan->columns_dim = d;
          }
        else if (brgemm->a_step[d] == 0)
          {
            swap (&plan->m, &brgemm->extent[d]);
            swap (&plan->a_row, &brgemm->x_step[d]);
            swap (&plan->y_row, &brgemm->y_step[d]);
            plan->rows_dim = d;
          }
        plan->takes_batch = plan->y_column == 1 || plan->y_row == 1;
        return;
      }
}

gboolean
cleave_brgemm_plan_matmul (const CleaveKernelInstance *instance,
                           CleaveWeights *weights,
                           CleaveBrgemm *brgemm)
{
  const CleaveView *a = &instance->operands[A];
  const CleaveView *b = &instance->operands[B];
  const CleaveView *y = &instance->results[0];
  guint a_rank = a->type.shape.rank, b_rank = b->type.shape.rank, y_rank = y->type.shape.rank;
  gboolean has_m = a_rank > 1, has_n = b_rank > 1;
  Plan plan = { .m = has_m ? a->type.shape.dim[a_rank - 2] : 1,
                .n = has_n ? b->type.shape.dim[b_rank - 1] : 1,
                .k = a->type.shape.dim[a_rank - 1],
                .a_row = has_m ? a->stride[a_rank - 2] : 0,
                .a_column = a->stride[a_rank - 1],
                .b_row = b->stride[has_n ? b_rank - 2 : 0],
                .b_column = has_n ? b->stride[b_rank - 1] : 0,
                .y_row = has_m ? y->stride[y_rank - (has_n ? 2 : 1)] : 0,
                .y_column = has_n ? y->stride[y_rank - 1] : 0,
                .a = A,
                .b = B,
                .b_columns_dim = b_rank - 1,
                .rows_dim = y_rank - (has_n ? 2 : 1),
                .columns_dim = has_n ? y_rank - 1 : y_rank };

  add_batches (instance, (guint) has_m + (guint) has_n, brgemm);
  if (has_m && has_n && has_strided_columns (&plan))
    take_innermost (&plan, brgemm);
  if (has_m && has_n && has_strided_columns (&plan) && (plan.m == 1 || plan.y_row == 1))
    transpose (&plan, instance, brgemm);
  brgemm->columns_dim = plan.columns_dim;
  join_batches (&plan, brgemm);
  return plan_product (&plan, instance, weights, brgemm);
}

static void
finish_row (float *y, gint64 n, float alpha, float beta, const float *c, gint64 c_step)
{
  if (alpha != 1)
    for (gint64 j = 0; j < n; j++)
      y[j] *= alpha;
  if (c == NULL)
    return;
  if (beta == 1)
    for (gint64 j = 0; j < n; j++)
      y[j] += c[j * c_step];
  else
    for (gint64 j = 0; j < n; j++)
      y[j] += beta * c[j * c_step];
}

static void
finish_gemm (const CleaveKernelInstance *instance)
{
  const CleaveGemmAttrs *attrs = instance->call.attrs;
  const CleaveView *y = &instance->results[0];
  const CleaveView *c = cleave_call_has (&instance->call, C) ? &instance->operands[C] : NULL;
  guint c_rank = c == NULL ? 0 : c->type.shape.rank;
  gint64 row = c_rank < 2 || c->type.shape.dim[c_rank - 2] == 1 ? 0 : c->stride[c_rank - 2];
  gint64 column = c_rank < 1 || c->type.shape.dim[c_rank - 1] == 1 ? 0 : c->stride[c_rank - 1];

  for (gint64 i = 0; i < y->type.shape.dim[0]; i++)
    finish_row ((float *) y->data + i * y->stride[0], y->type.shape.dim[1], (float) attrs->alpha,
                (float) attrs->beta, c == NULL ? NULL : (const float *) c->data + i * row, column);
}

gboolean
cleave_brgemm_plan_gemm (const CleaveKernelInstance *instance,
                         CleaveWeights *weights,
                         CleaveBrgemm *brgemm)
{
  const CleaveGemmAttrs *attrs = instance->call.attrs;
  const CleaveView *a = &instance->operands[A];
  const CleaveView *b = &instance->operands[B];
  const CleaveView *y = &instance->results[0];
  guint a_row = attrs->transA ? 1 : 0, b_row = attrs->transB ? 1 : 0;
  Plan plan = { .m = y->type.shape.dim[0],
                .n = y->type.shape.dim[1],
                .k = a->type.shape.dim[1 - a_row],
                .a_row = a->stride[a_row],
                .a_column = a->stride[1 - a_row],
                .b_row = b->stride[b_row],
                .b_column = b->stride[1 - b_row],
                .y_row = y->stride[0],
                .y_column = y->stride[1],
                .a = A,
                .b = B,
                .b_columns_dim = 1 - b_row };

  brgemm->columns_dim = 1;
  if (attrs->alpha != 1 || cleave_call_has (&instance->call, C))
    brgemm->finish = finish_gemm;
  return (!cleave_call_has (&instance->call, C) ||
          instance->operands[C].type.element == CLEAVE_FLOAT32) &&
         plan_product (&plan, instance, weights, brgemm);
}
