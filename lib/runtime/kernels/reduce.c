/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of reductions. It reduces rows with contiguous elements, or many adjacent rows
 * at once, for example if all pixels of each channel are reduced. */

#include "level.h"
#include "loops.h"
#include "reduce-exponentials.h"
#include "reduce-integers.h"

enum { Y_AT, X_AT };

typedef struct
{
  CleaveReduction reduction;
  CleaveLoops loops; /* loops over the rows; view 0 is y, view 1 is x */
  CleaveReduceBlock block;
  gboolean gathers;
} Reduce;

/* clang-format off */
#define X(word, ...) extern const CleaveOp cleave_op_##word;
REDUCTIONS (X)
#undef X
extern const CleaveOp cleave_op_reduce_log_sum_exp;

static const struct
{
  const CleaveOp *op;
  CleaveElement element;
  CleaveReduction reduction;
} reductions[] = {
#define X(word, ...) { &cleave_op_##word, CLEAVE_FLOAT32, word##_f32 },
  REDUCTIONS (X)
#undef X
  { &cleave_op_reduce_log_sum_exp, CLEAVE_FLOAT32, reduce_log_sum_exp_f32 },
#define X(word, e, ...) { &cleave_op_##word, CLEAVE_##e, word##_##e },
  INTEGER_REDUCTIONS (X)
#undef X
};
/* clang-format on */

static guint
axes_of (const CleaveCall *call)
{
  const CleaveReduceAttrs *a = call->attrs;
  guint all = (1u << call->operands[0].shape.rank) - 1, axes = 0;

  for (guint i = 0; i < a->axes.n; i++)
    axes |= 1u << a->axes.v[i];
  return a->axes.n > 0 ? axes & all : a->noop_with_empty_axes ? 0 : all;
}

static CleaveReduction
find_reduction (const CleaveOp *op, CleaveElement element)
{
  for (guint i = 0; i < G_N_ELEMENTS (reductions); i++)
    if (reductions[i].op == op && reductions[i].element == element)
      return reductions[i].reduction;
  return NULL;
}

/* Returns whether the reduction copies strided elements of rows to a contiguous buffer.
 * ReduceLogSumExp does not: it reads each row twice, and a row may be longer than the buffer. */
static gboolean
gathers (const Reduce *r, CleaveElement element)
{
  return element == CLEAVE_FLOAT32 && r->reduction != reduce_log_sum_exp_f32 &&
         r->loops.length < CLEAVE_REDUCE_FEW_ROWS && r->block.n >= CLEAVE_REDUCE_LONG_ROW &&
         !cleave_reduce_by_row (&r->block, r->loops.length);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveReduceAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[0];
  CleaveReduction reduction = find_reduction (instance->call.op, x->type.element);
  guint axes = axes_of (&instance->call);
  CleaveView y = cleave_axes_expand (&instance->results[0], &x->type.shape, axes, a->keepdims);
  CleaveView first = *x; /* view of the first element of each row */
  Reduce *r;

  if (reduction == NULL || cleave_shape_n_elements (&x->type.shape) == 0)
    return FALSE;
  r = g_new0 (Reduce, 1);
  r->reduction = reduction;
  r->block.n = 1;
  for (guint d = 0; d < x->type.shape.rank; d++)
    if ((axes >> d & 1) != 0)
      {
        r->block.n *= x->type.shape.dim[d];
        first.type.shape.dim[d] = 1;
      }
  cleave_loops_init_along (
      &r->loops, &first, &y, &first,
      1); /* the loops follow the memory order of x, since x is larger than y */
  cleave_lines_init_dims (&r->block.lines, &x, 1, axes);
  r->block.row_step = r->loops.step[X_AT];
  r->gathers = gathers (r, x->type.element);
  *n_scratch = r->gathers ? CLEAVE_REDUCE_GATHERED * sizeof (float) : 0;
  *state = r;
  return TRUE;
}

static void
run_line (gconstpointer state, const CleaveKernelInstance *instance, const gint64 *offset, gint64 n)
{
  const Reduce *reduce = state;
  const CleaveLoops *loops = &reduce->loops;

  reduce->reduction (
      &reduce->block, (const char *) instance->operands[0].data + offset[X_AT] * loops->size[X_AT],
      n, (char *) instance->results[0].data + offset[Y_AT] * loops->size[Y_AT], loops->step[Y_AT]);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Reduce *reduce = state;
  Reduce with_buffer;

  if (reduce->gathers)
    {
      with_buffer = *reduce;
      with_buffer.block.gathered = scratch;
      reduce = &with_buffer;
    }
  cleave_loops_run_lines (&reduce->loops, run_line, reduce, instance);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_reduce);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_reduce) = { .prepare = prepare, .run = run, .free = g_free };
