/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of ArgMax and ArgMin, which search along contiguous rows, or in many adjacent
 * rows at once (arg-floats.h, arg-integers.h). */

#include "arg-floats.h"
#include "arg-integers.h"

#include "../../ops/axes.h"

enum { X };
enum { Y_AT, X_AT };

typedef struct
{
  CleaveLoops loops; /* loops over the rows; view 0 is y, view 1 is x */
  CleaveArgRow row;
  CleaveArgSearch search;
} Arg;

extern const CleaveOp cleave_op_arg_max, cleave_op_arg_min;

static const struct
{
  const CleaveOp *op;
  gboolean is_min;
} finds[] = { { &cleave_op_arg_max, FALSE }, { &cleave_op_arg_min, TRUE } };

static gboolean
finds_min (const CleaveOp *op)
{
  guint i = 0;

  while (finds[i].op != op)
    i++;
  return finds[i].is_min;
}

static const CleaveArgSearch searches[CLEAVE_N_ELEMENTS] = { [CLEAVE_FLOAT32] = search_FLOAT32,
#define X(e, E, U) [CLEAVE_##e] = search_##e,
                                                             ARG_INTEGERS (X)
#undef X
};

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveArgAttrs *a = instance->call.attrs;
  CleaveView x = instance->operands[X], y;
  CleaveArgSearch search = searches[x.type.element];
  Arg *arg;

  if (x.type.shape.dim[a->axis] > G_MAXINT32 || search == NULL)
    return FALSE;
  y = cleave_axes_expand (&instance->results[0], &x.type.shape, 1u << a->axis, a->keepdims);
  arg = g_new0 (Arg, 1);
  arg->search = search;
  arg->row = (CleaveArgRow){ .n = x.type.shape.dim[a->axis],
                             .step = x.stride[a->axis],
                             .is_min = finds_min (instance->call.op),
                             .last = a->select_last_index };
  x.type.shape.dim[a->axis] = 1;
  cleave_loops_init (&arg->loops, &y, &x, 1);
  *state = arg;
  return TRUE;
}

static void
run_line (gconstpointer state, const CleaveKernelInstance *instance, const gint64 *offset, gint64 n)
{
  const Arg *arg = state;
  const CleaveLoops *loops = &arg->loops;

  arg->search (
      &arg->row, (const char *) instance->operands[X].data + offset[X_AT] * loops->size[X_AT],
      loops->step[X_AT], n, (gint64 *) instance->results[0].data + offset[Y_AT], loops->step[Y_AT]);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  cleave_loops_run_lines (&((const Arg *) state)->loops, run_line, state, instance);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_arg);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_arg) = { .prepare = prepare, .run = run, .free = g_free };
