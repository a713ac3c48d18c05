/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tries the integer kernels that compute a whole quantized group: convolution, table lookup,
 * addition and mean. A step here is the call of one internal op, such as cleave_op_qdq_conv, with
 * the kernel that is prepared for it. */

#include "quantized-whole.h"

#include "kernels/places.h"
#include "qdq-conv.h"

/* A call of one op, and the kernel that is prepared for it. */
typedef struct
{
  /* kernel family that computes the call; NULL: the group needs no call here, and the other fields
   * are unused */
  const CleaveKernelFamily *family;
  gpointer state;
  /* kernel instance; each run copies the instance and gives the copy views of its own */
  CleaveKernelInstance instance;
  CleaveView operands[2], result; /* views without final data pointers; each run copies the views
                                     and sets their pointers */
  CleaveTensorType types[3];
} Step;

struct _CleaveWhole
{
  CleaveQdqConv *conv; /* the op that computes the group: exactly one of the pointers `conv`,
                          `table`, `add` and `mean` is not NULL */
  CleaveQdqTable *table;
  CleaveQdqAdd *add;
  CleaveQdqMean *mean;
  Step step;  /* the step that reads the group's operands */
  Step after; /* a table lookup that runs after `step` and replaces each byte of the group's result;
                 `family` NULL: there is no lookup */
  guint from[2], n_from; /* indices of the group's operands that `step` reads, and their number */
};

/* Prepares the kernel of a call with `n_operands` operands. Returns FALSE if no family serves the
 * call. `constant` is operand 1; NULL if operand 1 is not constant. */
static gboolean
step_prepare (Step *step,
              const CleaveOp *op,
              gconstpointer attrs,
              guint n_operands,
              CleaveTensor *constant,
              CleaveWeights *weights,
              gsize *n_scratch)
{
  CleaveTensor *constants[] = { NULL, constant };
  const CleaveKernelFamily *family;
  gsize n = 0;

  for (guint i = 0; i < n_operands; i++)
    step->types[i] = step->operands[i].type;
  step->types[2] = step->result.type;
  step->instance = (CleaveKernelInstance){ .call = { .op = op,
                                                     .attrs = attrs,
                                                     .n_operands = n_operands,
                                                     .n_results = 1,
                                                     .operands = step->types,
                                                     .results = &step->types[2] },
                                           .operands = step->operands,
                                           .results = &step->result,
                                           .constants = constants };
  family = cleave_kernel_find (&step->instance.call);
  if (family != NULL && family->prepare (&step->instance, weights, &step->state, &n))
    step->family = family;
  step->instance.constants = NULL;
  *n_scratch = MAX (*n_scratch, n);
  return step->family != NULL;
}

static void
step_clear (Step *step)
{
  if (step->family != NULL && step->family->free != NULL)
    step->family->free (step->state);
}

/* Runs the kernel of a step. `x` contains the data pointers of the first `n_x` operands. The other
 * operands are constants, whose views already contain their pointers. The kernel writes to the
 * result of `group`. */
static void
step_run (const Step *step,
          const CleaveKernelInstance *group,
          gconstpointer const *x,
          guint n_x,
          gpointer scratch)
{
  CleaveView operands[2] = { step->operands[0], step->operands[1] }, result = step->result;
  CleaveKernelInstance instance = step->instance;

  for (guint i = 0; i < n_x; i++)
    operands[i].data = (gpointer) x[i];
  result.data = group->results[0].data;
  instance.operands = operands;
  instance.results = &result;
  step->family->run (step->state, &instance, scratch);
}

static gboolean
prepare_conv (CleaveWhole *whole,
              const CleaveKernelInstance *group,
              CleaveWeights *weights,
              gsize *n_scratch)
{
  whole->conv = cleave_qdq_conv_find (group);
  if (whole->conv == NULL)
    return FALSE;
  whole->n_from = 1;
  whole->step.operands[0] = cleave_qdq_conv_view (whole->conv, &group->operands[0]);
  whole->step.operands[1] = whole->conv->w_view;
  whole->step.result = cleave_qdq_conv_view (whole->conv, &group->results[0]);
  return step_prepare (&whole->step, &cleave_op_qdq_conv, whole->conv, 2, whole->conv->w, weights,
                       n_scratch);
}

/* Prepares a step that maps each byte of x through a table, into y. x and y may have the same
 * memory. Returns FALSE if no family serves the step. */
static gboolean
prepare_table (Step *step,
               const CleaveQdqTable *table,
               const CleaveView *x,
               const CleaveView *y,
               CleaveWeights *weights,
               gsize *n_scratch)
{
  step->operands[0] = *x;
  step->result = *y;
  return step_prepare (step, &cleave_op_qdq_table, table, 1, NULL, weights, n_scratch);
}

static gboolean
prepare_function (CleaveWhole *whole,
                  const CleaveKernelInstance *group,
                  CleaveWeights *weights,
                  gsize *n_scratch)
{
  const CleaveView *x, *y = &group->results[0];

  whole->table = cleave_qdq_table_find (group);
  if (whole->table == NULL)
    return FALSE;
  whole->n_from = 1;
  whole->from[0] = whole->table->from;
  x = &group->operands[whole->table->from];
  if (!whole->table->has_pool)
    return prepare_table (&whole->step, whole->table, x, y, weights, n_scratch);
  if (cleave_places_overlap (x, y))
    return FALSE;
  whole->step.operands[0] = *x;
  whole->step.result = *y;
  whole->step.result.type.element = x->type.element;
  return step_prepare (&whole->step, whole->table->pool.op, whole->table->pool.attrs, 1, NULL,
                       weights, n_scratch) &&
         (whole->table->is_same ||
          prepare_table (&whole->after, whole->table, y, y, weights, n_scratch));
}

static gboolean
prepare_add (CleaveWhole *whole,
             const CleaveKernelInstance *group,
             CleaveWeights *weights,
             gsize *n_scratch)
{
  whole->add = cleave_qdq_add_find (group);
  if (whole->add == NULL)
    return FALSE;
  whole->n_from = 2;
  for (guint i = 0; i < 2; i++)
    {
      whole->from[i] = whole->add->x[i].from;
      whole->step.operands[i] = group->operands[whole->from[i]];
    }
  whole->step.result = group->results[0];
  return step_prepare (&whole->step, &cleave_op_qdq_add, whole->add, 2, NULL, weights, n_scratch);
}

static gboolean
prepare_mean (CleaveWhole *whole,
              const CleaveKernelInstance *group,
              CleaveWeights *weights,
              gsize *n_scratch)
{
  whole->mean = cleave_qdq_mean_find (group);
  if (whole->mean == NULL)
    return FALSE;
  whole->n_from = 1;
  whole->from[0] = whole->mean->x.from;
  whole->step.operands[0] = group->operands[whole->from[0]];
  whole->step.result = group->results[0];
  return step_prepare (&whole->step, &cleave_op_qdq_mean, whole->mean, 1, NULL, weights, n_scratch);
}

CleaveWhole *
cleave_whole_new (const CleaveKernelInstance *group, CleaveWeights *weights, gsize *n_scratch)
{
  static gboolean (*const prepares[]) (
      CleaveWhole * whole, const CleaveKernelInstance *group, CleaveWeights *weights,
      gsize *n_scratch) = { prepare_conv, prepare_function, prepare_add, prepare_mean };

  for (guint i = 0; i < G_N_ELEMENTS (prepares); i++)
    {
      CleaveWhole *whole = g_new0 (CleaveWhole, 1);
      gsize n = 0;

      if (prepares[i](whole, group, weights, &n))
        {
          *n_scratch = MAX (*n_scratch, n);
          return whole;
        }
      cleave_whole_free (whole);
    }
  return NULL;
}

void
cleave_whole_free (CleaveWhole *whole)
{
  if (whole == NULL)
    return;
  step_clear (&whole->step);
  step_clear (&whole->after);
  g_clear_pointer (&whole->conv, cleave_qdq_conv_free);
  g_free (whole->table);
  g_free (whole->add);
  g_free (whole->mean);
  g_free (whole);
}

void
cleave_whole_run (const CleaveWhole *whole, const CleaveKernelInstance *group, gpointer scratch)
{
  gconstpointer x[2] = { NULL };

  for (guint i = 0; i < whole->n_from; i++)
    x[i] = group->operands[whole->from[i]].data;
  step_run (&whole->step, group, x, whole->n_from, scratch);
  if (whole->after.family != NULL)
    step_run (&whole->after, group, (gconstpointer[]){ group->results[0].data }, 1, scratch);
}

void
cleave_whole_add_memory (const CleaveWhole *whole, GArray *lines)
{
  cleave_memory_lines_add (lines, whole, sizeof *whole);
  cleave_memory_lines_add (lines, whole->conv, sizeof *whole->conv);
  cleave_memory_lines_add (lines, whole->table, sizeof *whole->table);
  cleave_memory_lines_add (lines, whole->add, sizeof *whole->add);
  cleave_memory_lines_add (lines, whole->mean, sizeof *whole->mean);
  cleave_kernel_add_memory (whole->step.family, whole->step.state, lines);
  cleave_kernel_add_memory (whole->after.family, whole->after.state, lines);
}

gboolean
cleave_whole_reads (const CleaveWhole *whole, guint operand)
{
  for (guint i = 0; i < whole->n_from; i++)
    if (operand == whole->from[i])
      return TRUE;
  return FALSE;
}
