/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs an Einsum of two operands as a MatMul of views of the operands, if such views exist. Labels
 * that are in both operands and in the result are batch dimensions. Labels that are in the result
 * and one operand are rows or columns. Summed labels must form one dimension in memory.
 *
 * Example: bhqd,bhkd->bhqk has batch dimensions b and h, rows q and columns k, and sums over d. */

#include "level.h"

#include "../../ops/einsum.h"

#include <string.h>

enum { A, B, Y, N_SIDES };

extern const CleaveOp cleave_op_matmul;

/* A loop over one label, or over several adjacent labels that form one dimension: an extent, and a
 * stride in A, B and Y. */
typedef struct
{
  gint64 extent, stride[N_SIDES];
} Loop;

typedef struct
{
  guint n;
  Loop loop[CLEAVE_MAX_LABELS];
} Loops;

typedef struct
{
  /* own[i]: loops over the labels that only operand i and the result contain */
  Loops batch, own[2], sums;
} Parts;

typedef struct
{
  const CleaveKernelFamily *family;
  gpointer state;
  gboolean swapped; /* TRUE: operand 1 of the Einsum is A of the MatMul */
  CleaveView views[N_SIDES];
  CleaveTensorType types[N_SIDES];
} Einsum;

/* Finds the stride of a label in `view`. The labels of the view's dimensions are in `term`, an
 * operand or the result of the equation. Sets `has` to whether the term contains the label. Returns
 * FALSE if the term contains the label twice. */
static gboolean
find_stride (
    const CleaveTerm *term, const CleaveView *view, guint8 label, gboolean *has, gint64 *stride)
{
  *has = FALSE;
  *stride = 0;
  for (guint d = 0; d < term->rank; d++)
    if (term->label[d] == label)
      {
        if (*has)
          return FALSE;
        *has = TRUE;
        *stride = view->type.shape.dim[d] == 1 ? 0 : view->stride[d];
      }
  return TRUE;
}

/* Adds a loop to `loops`, or merges it into the previous loop if both form one dimension in A, B
 * and Y. */
static void
add_loop (Loops *loops, const Loop *loop)
{
  Loop *last = loops->n == 0 ? NULL : &loops->loop[loops->n - 1];
  gboolean joins = last != NULL;

  if (loop->extent == 1)
    return;
  for (guint k = 0; joins && k < N_SIDES; k++)
    joins = last->stride[k] == loop->extent * loop->stride[k];
  if (!joins)
    {
      loops->loop[loops->n++] = *loop;
      return;
    }
  memcpy (last->stride, loop->stride, sizeof last->stride);
  last->extent *= loop->extent;
}

/* Adds the loop over a label to `parts`. Returns FALSE if a matrix product cannot loop over the
 * label. */
static gboolean
add_label (Parts *parts,
           const CleaveEquation *e,
           const CleaveView *const *views,
           guint8 label,
           gboolean is_summed)
{
  Loop loop = { .extent = e->extent[label] };
  gboolean has[N_SIDES];

  for (guint k = 0; k < N_SIDES; k++)
    if (!find_stride (k == Y ? &e->result : &e->operands[k], views[k], label, &has[k],
                      &loop.stride[k]))
      return FALSE;
  if (is_summed) /* a matrix product cannot sum over a label that only one operand contains */
    {
      if (loop.extent != 1 && (loop.stride[A] == 0 || loop.stride[B] == 0))
        return FALSE;
      add_loop (&parts->sums, &loop);
    }
  else if (has[A] && has[B])
    add_loop (&parts->batch, &loop);
  else
    add_loop (&parts->own[has[A] ? A : B], &loop);
  return TRUE;
}

static gboolean
find_parts (Parts *parts, const CleaveEquation *e, const CleaveView *const *views)
{
  memset (parts, 0, sizeof *parts);
  for (guint d = 0; d < e->result.rank; d++)
    if (!add_label (parts, e, views, e->result.label[d], FALSE))
      return FALSE;
  for (guint s = 0; s < e->n_summed; s++)
    if (!add_label (parts, e, views, e->summed[s], TRUE))
      return FALSE;
  return parts->sums.n <= 1;
}

/* Returns the loop that becomes the rows or columns of the MatMul: the loop that is contiguous in
 * `side` (A, B or Y), or the longest loop if no loop is contiguous. Adds the other loops to
 * `batch`. */
static Loop
take_loop (const Loops *loops, guint side, Loops *batch)
{
  Loop one = { .extent = 1 };
  guint best = 0;

  if (loops->n == 0)
    return one;
  for (guint i = 1; i < loops->n; i++)
    {
      const Loop *now = &loops->loop[i], *so_far = &loops->loop[best];

      if (now->stride[side] == 1 || (so_far->stride[side] != 1 && now->extent > so_far->extent))
        best = i;
    }
  for (guint i = 0; i < loops->n; i++)
    if (i != best)
      batch->loop[batch->n++] = loops->loop[i];
  return loops->loop[best];
}

static void
add_dim (CleaveView *view, gint64 extent, gint64 stride)
{
  guint d = view->type.shape.rank++;

  view->type.shape.dim[d] = extent;
  view->stride[d] = stride;
}

/* Makes the views of A, B and Y for the MatMul. Operand `a` of the Einsum becomes A. Returns FALSE
 * if a view would have too many dimensions. */
static gboolean
make_views (const Parts *parts, guint a, CleaveView *views)
{
  Loops batch = parts->batch;
  guint sides[] = { a, 1 - a, Y };
  Loop columns = take_loop (&parts->own[1 - a], Y, &batch);
  Loop rows = take_loop (&parts->own[a], N_SIDES - 1, &batch);
  Loop sum = parts->sums.n == 1 ? parts->sums.loop[0] : (Loop){ 1, { 1, 1, 0 } };

  if (batch.n + 2 > CLEAVE_MAX_RANK)
    return FALSE;
  for (guint k = 0; k < N_SIDES; k++)
    {
      views[k].type.shape.rank = 0;
      for (guint i = 0; i < batch.n; i++)
        {
          gint64 stride = batch.loop[i].stride[sides[k]];

          add_dim (&views[k], k != Y && stride == 0 ? 1 : batch.loop[i].extent, stride);
        }
    }
  add_dim (&views[A], rows.extent, rows.stride[a]);
  add_dim (&views[A], sum.extent, sum.stride[a]);
  add_dim (&views[B], sum.extent, sum.stride[1 - a]);
  add_dim (&views[B], columns.extent, columns.stride[1 - a]);
  add_dim (&views[Y], rows.extent, rows.stride[Y]);
  add_dim (&views[Y], columns.extent, columns.stride[Y]);
  return TRUE;
}

static CleaveKernelInstance
product_of (const Einsum *e, const CleaveKernelInstance *instance, CleaveView *views)
{
  memcpy (views, e->views, sizeof e->views);
  views[A].data = instance->operands[e->swapped ? 1 : 0].data;
  views[B].data = instance->operands[e->swapped ? 0 : 1].data;
  views[Y].data = instance->results[0].data;
  return (CleaveKernelInstance){ .call = { .op = &cleave_op_matmul,
                                           .n_operands = 2,
                                           .n_results = 1,
                                           .operands = e->types,
                                           .results = &e->types[Y] },
                                 .operands = views,
                                 .results = &views[Y] };
}

/* Returns the constant of operand `operand` of the Einsum, if the view of the MatMul has the
 * operand's own shape and strides; NULL otherwise. */
static CleaveTensor *
constant_of (const CleaveKernelInstance *instance, guint operand, const CleaveView *view)
{
  const CleaveView *whole = &instance->operands[operand];
  guint rank = view->type.shape.rank;

  return cleave_shape_equal (&whole->type.shape, &view->type.shape) &&
                 memcmp (whole->stride, view->stride, rank * sizeof *whole->stride) == 0
             ? instance->constants[operand]
             : NULL;
}

static gboolean
prepare_order (Einsum *e,
               const Parts *parts,
               const CleaveKernelInstance *instance,
               CleaveWeights *weights,
               gsize *n_scratch)
{
  CleaveTensor *constants[2] = { NULL };
  CleaveView views[N_SIDES];
  CleaveKernelInstance product;

  if (!make_views (parts, e->swapped ? 1 : 0, e->views))
    return FALSE;
  for (guint k = 0; k < N_SIDES; k++)
    {
      e->views[k].type.element = instance->results[0].type.element;
      e->types[k] = e->views[k].type;
    }
  product = product_of (e, instance, views);
  constants[B] = constant_of (instance, e->swapped ? 0 : 1, &views[B]);
  product.constants = constants;
  e->family = cleave_kernel_find_at (&product.call, G_STRINGIFY (CLEAVE_LEVEL));
  return e->family != NULL && e->family->prepare (&product, weights, &e->state, n_scratch);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveView *views[] = { &instance->operands[0], &instance->operands[1],
                                &instance->results[0] };
  CleaveEquation equation;
  Parts parts;
  Einsum *e;

  if (!cleave_equation_read (&equation, &instance->call, NULL) ||
      !find_parts (&parts, &equation, views))
    return FALSE;
  e = g_new0 (Einsum, 1);
  *state = e;
  for (guint swapped = 0; swapped < 2; swapped++)
    {
      e->swapped = swapped == 1;
      if (prepare_order (e, &parts, instance, weights, n_scratch))
        return TRUE;
    }
  g_free (e);
  return FALSE;
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Einsum *e = state;
  CleaveView views[N_SIDES];
  CleaveKernelInstance product = product_of (e, instance, views);

  e->family->run (e->state, &product, scratch);
}

static void
einsum_free (gpointer state)
{
  Einsum *e = state;

  if (e->family->free != NULL)
    e->family->free (e->state);
  g_free (e);
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const Einsum *e = state;

  return e->family->reads == NULL ||
         e->family->reads (e->state, e->swapped ? 1 - operand : operand);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_einsum);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_einsum) = {
  .prepare = prepare, .run = run, .free = einsum_free, .reads = reads
};
