/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ArgMax and ArgMin of floats: rows that lie side by side are searched side by side; one whose
 * elements lie side by side is searched for its best value, then for where that is. */

#include "level.h"
#include "loops.h"
#include "vector.h"

#include "../../ops/axes.h"

#include <math.h>

enum { X };
enum { Y_AT, X_AT };

/* Rows that are searched side by side. */
#define ROWS 64
/* Elements among which the best one is looked for at once. */
#define BLOCK 64

typedef struct
{
  CleaveLoops loops; /* over the rows: of y, then of x */
  gint64 n, step;    /* of a row */
  gboolean is_min, last;
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

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveArgAttrs *a = instance->call.attrs;
  CleaveView x = instance->operands[X], y;
  Arg *arg;

  /* Places are counted in 32 bits. */
  if (x.type.shape.dim[a->axis] > G_MAXINT32)
    return FALSE;
  y = cleave_axes_expand (&instance->results[0], &x.type.shape, 1u << a->axis, a->keepdims);
  arg = g_new0 (Arg, 1);
  arg->n = x.type.shape.dim[a->axis];
  arg->step = x.stride[a->axis];
  arg->is_min = finds_min (instance->call.op);
  arg->last = a->select_last_index;
  x.type.shape.dim[a->axis] = 1;
  cleave_loops_init (&arg->loops, &y, &x, 1);
  *state = arg;
  return TRUE;
}

/* Whether x takes the place of what is best so far; of equal ones the first stays, or the last. */
static inline gboolean
wins (float x, float best, gboolean is_min, gboolean last)
{
  gboolean better = is_min ? x < best : x > best;
  gboolean nan_wins = (x != x) & (best == best);
  gboolean same = (x == best) | ((x != x) & (best != best));

  return better | nan_wins | (last & same);
}

/* Up to ROWS of them, `apart`; both choices are known to the compiler. */
static CLEAVE_SPECIALISED void
search_rows (const Arg *arg,
             const float *x,
             gint64 apart,
             gint64 n_rows,
             gint32 *at,
             gboolean is_min,
             gboolean last)
{
  float best[ROWS];

  for (gint64 r = 0; r < n_rows; r++)
    {
      best[r] = x[r * apart];
      at[r] = 0;
    }
  for (gint64 i = 1; i < arg->n; i++)
    {
      const float *from = x + i * arg->step;

      CLEAVE_INDEPENDENT
      for (gint64 r = 0; r < n_rows; r++)
        {
          const float value = from[r * apart], so_far = best[r];
          const gboolean choice = wins (value, so_far, is_min, last);

          best[r] = choice ? value : so_far;
          at[r] = choice ? (gint32) i : at[r];
        }
    }
}

static CLEAVE_SPECIALISED void
search_rows_of (
    const Arg *arg, const float *x, gint64 apart, gint64 n_rows, gint32 *at, gboolean is_min)
{
  if (arg->last)
    search_rows (arg, x, apart, n_rows, at, is_min, TRUE);
  else if (apart == 1)
    search_rows (arg, x, 1, n_rows, at, is_min, FALSE);
  else
    search_rows (arg, x, apart, n_rows, at, is_min, FALSE);
}

static gboolean
any_of (CleaveMask mask)
{
  int any = 0;

  for (int i = 0; i < CLEAVE_VECTOR; i++)
    any |= mask[i];
  return any != 0;
}

/* The best of a row without NaN; FALSE: it has one. */
static CLEAVE_SPECIALISED gboolean
find_best (const float *x, gint64 n, gboolean is_min, float *best)
{
  CleaveVector found = cleave_vector_all (x[0]), value;
  CleaveMask nan = { 0 };
  gint64 i = 0;

  for (; i + CLEAVE_VECTOR <= n; i += CLEAVE_VECTOR)
    {
      value = cleave_vector_load (x + i);
      nan |= value != value;
      found = cleave_vector_select (is_min ? value < found : value > found, value, found);
    }
  *best = found[0];
  for (int j = 1; j < CLEAVE_VECTOR; j++)
    *best = (is_min ? found[j] < *best : found[j] > *best) ? found[j] : *best;
  for (; i < n; i++)
    {
      if (x[i] != x[i])
        return FALSE;
      *best = (is_min ? x[i] < *best : x[i] > *best) ? x[i] : *best;
    }
  return !any_of (nan);
}

/* Where the first one is that equals `best`, which is there. */
static gint64
find_place (const float *x, gint64 n, float best)
{
  gint64 i = 0;

  for (; i + BLOCK <= n; i += BLOCK)
    {
      int any = 0;

      for (gint64 j = 0; j < BLOCK; j++)
        any |= x[i + j] == best;
      if (any)
        break;
    }
  while (i < n && x[i] != best)
    i++;
  return i;
}

static gint32
search_row (const Arg *arg, const float *x)
{
  float best;
  gint32 at;

  if (!arg->last &&
      (arg->is_min ? find_best (x, arg->n, TRUE, &best) : find_best (x, arg->n, FALSE, &best)))
    return (gint32) find_place (x, arg->n, best);
  if (arg->is_min)
    search_rows_of (arg, x, 1, 1, &at, TRUE);
  else
    search_rows_of (arg, x, 1, 1, &at, FALSE);
  return at;
}

static void
run_rows (const Arg *arg, const float *x, gint64 n_rows, gint64 *y)
{
  gint64 apart = arg->loops.step[X_AT];
  gint32 at[ROWS];

  if (arg->step == 1 && apart != 1)
    for (gint64 r = 0; r < n_rows; r++)
      at[r] = search_row (arg, x + r * apart);
  else if (arg->is_min)
    search_rows_of (arg, x, apart, n_rows, at, TRUE);
  else
    search_rows_of (arg, x, apart, n_rows, at, FALSE);
  for (gint64 r = 0; r < n_rows; r++)
    y[r * arg->loops.step[Y_AT]] = at[r];
}

static void
run_line (gconstpointer state, const CleaveKernelInstance *instance, const gint64 *offset, gint64 n)
{
  const Arg *arg = state;
  const float *x = (const float *) instance->operands[X].data + offset[X_AT];
  gint64 *y = (gint64 *) instance->results[0].data + offset[Y_AT];

  for (gint64 row = 0; row < n; row += ROWS)
    run_rows (arg, x + row * arg->loops.step[X_AT], MIN (n - row, ROWS),
              y + row * arg->loops.step[Y_AT]);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  cleave_loops_run_lines (&((const Arg *) state)->loops, run_line, state, instance);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_arg); /* for levels.h */
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_arg) = { .prepare = prepare, .run = run, .free = g_free };
