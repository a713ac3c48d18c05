/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops along dimensions: normalizations, reductions, arg-min and arg-max. */

#include "trial.h"

#include "trial-ops.h"

static void
grow_batch_norm (Trial *trial, const char *op)
{
  gboolean batch = g_str_equal (op, "BatchNormalization");
  guint x = use_any (trial, FLOATS, batch ? 2 : 3, 5), values[4];
  TrialType type = type_of (trial, x), factors = type_make (type.element, 1, type.dim[1]);

  for (guint i = 0; i < (batch ? 4 : 2); i++)
    values[i] = i == 3 ? use_new (trial, &factors, MODE_POSITIVE) : use_type (trial, &factors);
  add_node (trial, op);
  add_in (trial, x);
  for (guint i = 0; i < (batch ? 4 : 2); i++)
    add_in (trial, values[i]);
  if (chance (trial, 50))
    set_float (trial, "epsilon", pick_real (trial, 0.00001, 0.1));
  add_out (trial, &type);
}

static void
grow_layer_norm (Trial *trial, const char *op)
{
  guint x = use_any (trial, FLOATS, 1, 5), scale, bias = 0;
  TrialType type = type_of (trial, x), factors = { type.element, 0, { 0 } }, mean = type;
  guint axis = (guint) pick (trial, type.rank), n_results;

  for (guint d = axis; d < type.rank; d++)
    {
      factors.dim[factors.rank++] = type.dim[d];
      mean.dim[d] = 1;
      need (trial, type.dim[d] > 0);
    }
  if (trial->failed)
    return;
  mean.element = F32;
  scale = use_type (trial, &factors);
  if (chance (trial, 60))
    bias = use_type (trial, &factors);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, scale);
  if (bias != 0)
    add_in (trial, bias);
  set_int (trial, "axis", maybe_negative (trial, axis, type.rank));
  if (chance (trial, 50))
    set_float (trial, "epsilon", pick_real (trial, 0.00001, 0.1));
  n_results = 1 + (chance (trial, 25) ? pick (trial, 3) : 0);
  for (guint i = 0; i < n_results; i++)
    add_out (trial, i == 0 ? &type : &mean);
}

/* Picks some dimensions, in any order. Returns their number. */
static guint
pick_axes (Trial *trial, guint rank, gint64 *axes)
{
  guint n = 0;

  for (guint d = 0; d < rank; d++)
    if (chance (trial, 45))
      axes[n++] = d;
  if (n == 0 && rank > 0)
    axes[n++] = pick (trial, rank);
  if (n > 1 && chance (trial, 20))
    {
      gint64 first = axes[0];

      axes[0] = axes[n - 1];
      axes[n - 1] = first;
    }
  return n;
}

static void
negate_axes (Trial *trial, gint64 *axes, guint n, guint rank)
{
  if (chance (trial, 30))
    for (guint i = 0; i < n; i++)
      axes[i] -= rank;
}

static void
grow_mvn (Trial *trial, const char *op)
{
  guint x = use_any (trial, FLOATS, 2, 5), n;
  TrialType type = type_of (trial, x);
  gint64 axes[TRIAL_MAX_RANK];

  n = pick_axes (trial, type.rank, axes);
  negate_axes (trial, axes, n, type.rank);
  add_node (trial, op);
  add_in (trial, x);
  set_ints (trial, "axes", axes, n);
  add_out (trial, &type);
}

static void
grow_along (Trial *trial, const char *op)
{
  gboolean norm = g_str_equal (op, "LpNormalization");
  guint x = use_any (trial, norm ? NO_BF16 : FLOATS, 1, 6);
  TrialType type = type_of (trial, x);

  add_node (trial, op);
  add_in (trial, x);
  if (chance (trial, 80))
    set_int (trial, "axis", maybe_negative (trial, pick (trial, type.rank), type.rank));
  if (norm && chance (trial, 50))
    set_int (trial, "p", 1 + pick (trial, 2));
  add_out (trial, &type);
}

static void
drop_axes (TrialType *type, const gint64 *axes, guint n, gboolean keep)
{
  TrialType rest = { type->element, 0, { 0 } };

  for (guint d = 0; d < type->rank; d++)
    {
      gboolean goes = FALSE;

      for (guint i = 0; i < n; i++)
        goes |= (axes[i] + type->rank) % type->rank == d;
      if (!goes || keep)
        rest.dim[rest.rank++] = goes ? 1 : type->dim[d];
    }
  *type = rest;
}

static void
grow_reduce (Trial *trial, const char *op)
{
  gboolean moved = trial->opset >= 18 || g_str_equal (op, "ReduceSum");
  gboolean extreme = g_str_equal (op, "ReduceMax") || g_str_equal (op, "ReduceMin");
  guint x = use_any (trial, FLOATS | WIDE | (extreme ? BYTES : 0), 0, 6), n, list = 0;
  TrialType type = type_of (trial, x), result = type;
  gboolean keep = chance (trial, 50), noop = FALSE;
  gint64 axes[TRIAL_MAX_RANK];

  n = chance (trial, 20) ? 0 : pick_axes (trial, type.rank, axes);
  negate_axes (trial, axes, n, type.rank);
  if (moved && n == 0)
    noop = chance (trial, 40);
  if (moved && n > 0)
    list = use_ints (trial, axes, n);
  add_node (trial, op);
  add_in (trial, x);
  if (list != 0)
    add_in (trial, list);
  else if (n > 0)
    set_ints (trial, "axes", axes, n);
  if (noop)
    set_int (trial, "noop_with_empty_axes", 1);
  if (!keep || chance (trial, 30))
    set_int (trial, "keepdims", keep);
  if (n == 0 && !noop)
    for (; n < type.rank; n++)
      axes[n] = n;
  drop_axes (&result, axes, n, keep);
  add_out (trial, &result);
  add_work (trial, type_n_elements (&type));
}

static void
grow_arg (Trial *trial, const char *op)
{
  guint x = use_any (trial, NUMBERS, 1, 6);
  TrialType type = type_of (trial, x);
  gint64 axis = pick (trial, type.rank);
  gboolean keep = chance (trial, 50);

  if (!need (trial, type.dim[axis] > 0))
    return;
  add_node (trial, op);
  add_in (trial, x);
  set_int (trial, "axis", maybe_negative (trial, axis, type.rank));
  set_int (trial, "keepdims", keep);
  if (chance (trial, 40))
    set_int (trial, "select_last_index", 1);
  type.element = I64;
  drop_axes (&type, &axis, 1, keep);
  add_out (trial, &type);
}

static void
grow_cumsum (Trial *trial, const char *op)
{
  guint x = use_any (trial, FLOATS | WIDE, 1, 6), axis;
  TrialType type = type_of (trial, x);

  axis = use_int (trial, maybe_negative (trial, pick (trial, type.rank), type.rank));
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, axis);
  if (chance (trial, 40))
    set_int (trial, "exclusive", 1);
  if (chance (trial, 40))
    set_int (trial, "reverse", 1);
  add_out (trial, &type);
}

static void
grow_topk (Trial *trial, const char *op)
{
  guint x = use_any (trial, NUMBERS, 1, 6), count;
  TrialType type = type_of (trial, x);
  guint axis = (guint) pick (trial, type.rank);
  gint64 k = chance (trial, 5) ? 0 : 1 + pick (trial, 5);

  k = MIN (k, type.dim[axis]);
  count = use_ints (trial, &k, 1);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, count);
  set_int (trial, "axis", maybe_negative (trial, axis, type.rank));
  if (chance (trial, 40))
    set_int (trial, "largest", 0);
  if (chance (trial, 10))
    set_int (trial, "sorted", 0);
  type.dim[axis] = k;
  add_out (trial, &type);
  type.element = I64;
  add_out (trial, &type);
}

const TrialOp trial_reductions[] = {
  { "BatchNormalization", grow_batch_norm, 10 },
  { "InstanceNormalization", grow_batch_norm, 4 },
  { "LayerNormalization", grow_layer_norm, 6 },
  { "MeanVarianceNormalization", grow_mvn, 3 },
  { "LpNormalization", grow_along, 3 },
  { "Softmax", grow_along, 8 },
  { "LogSoftmax", grow_along, 3 },
  { "Hardmax", grow_along, 3 },
  { "ReduceSum", grow_reduce, 4 },
  { "ReduceMean", grow_reduce, 5 },
  { "ReduceMax", grow_reduce, 3 },
  { "ReduceMin", grow_reduce, 3 },
  { "ReduceProd", grow_reduce, 2 },
  { "ReduceL1", grow_reduce, 2 },
  { "ReduceL2", grow_reduce, 2 },
  { "ReduceSumSquare", grow_reduce, 2 },
  { "ReduceLogSum", grow_reduce, 2 },
  { "ReduceLogSumExp", grow_reduce, 2 },
  { "ArgMax", grow_arg, 3 },
  { "ArgMin", grow_arg, 3 },
  { "CumSum", grow_cumsum, 4 },
  { "TopK", grow_topk, 4 },
  { NULL, NULL, 0 },
};
