/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops that gather and scatter elements by indices that are operands. */

#include "trial.h"

#include "trial-ops.h"

/* Returns a value of the type for indices into `extent` elements. The value exists already, and may
 * have indices out of range, or it is new, and all its indices are in range. */
static guint
pick_indices (Trial *trial, const TrialType *type, gint64 extent)
{
  if (chance (trial, 10))
    return use_type (trial, type);
  return use_indices (trial, type, chance (trial, 40) ? -extent : 0, extent - 1);
}

/* Returns indices for GatherElements and similar ops. In 30 % of the calls, all indices along the
 * last dimension are equal. */
static guint
pick_expanded (Trial *trial, const TrialType *type, gint64 extent)
{
  TrialType rows = *type;
  guint indices, shape;

  if (!chance (trial, 30))
    return pick_indices (trial, type, extent);
  for (guint d = (guint) pick (trial, type->rank); d < type->rank; d++)
    rows.dim[d] = 1;
  indices = pick_indices (trial, &rows, extent);
  shape = use_ints (trial, type->dim, type->rank);
  add_node (trial, "Expand");
  add_in (trial, indices);
  add_in (trial, shape);
  return add_out (trial, type);
}

static void
grow_gather (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 1, 5), indices;
  TrialType type = type_of (trial, x), of_indices = pick_type (trial, INDICES, 0, 2);
  TrialType to = { type.element, 0, { 0 } };
  guint axis = (guint) pick (trial, type.rank);

  if (!need (trial, type.dim[axis] > 0))
    return;
  indices = pick_indices (trial, &of_indices, type.dim[axis]);
  for (guint d = 0; d < type.rank; d++)
    if (d == axis)
      for (guint i = 0; i < of_indices.rank; i++)
        to.dim[to.rank++] = of_indices.dim[i];
    else
      to.dim[to.rank++] = type.dim[d];
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, indices);
  set_int (trial, "axis", maybe_negative (trial, axis, type.rank));
  add_out (trial, &to);
}

static void
grow_gather_elements (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 1, 5), indices;
  TrialType type = type_of (trial, x), to = type;
  guint axis = (guint) pick (trial, type.rank);

  if (!need (trial, type.dim[axis] > 0))
    return;
  for (guint d = 0; d < to.rank; d++)
    if (d == axis)
      to.dim[d] = pick_extent (trial);
    else if (chance (trial, 20))
      to.dim[d] = pick (trial, to.dim[d] + 1);
  to.element = pick_element (trial, INDICES);
  indices = pick_expanded (trial, &to, type.dim[axis]);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, indices);
  set_int (trial, "axis", maybe_negative (trial, axis, type.rank));
  to.element = type.element;
  add_out (trial, &to);
}

/* Returns tuples of indices into the dimensions from `first` on. Each index is less than the
 * smallest of these dimensions. */
static guint
pick_tuples (Trial *trial, const TrialType *data, guint first, TrialType *of_indices)
{
  guint depth = 1 + (guint) pick (trial, data->rank - first);
  gint64 least = G_MAXINT32;

  for (guint d = first; d < first + depth; d++)
    least = MIN (least, data->dim[d]);
  if (!need (trial, least > 0))
    return 0;
  of_indices->dim[of_indices->rank++] = depth;
  return use_indices (trial, of_indices, chance (trial, 30) ? -least : 0, least - 1);
}

static void
grow_gather_nd (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 1, 4), batch, depth, indices;
  TrialType type = type_of (trial, x), of_indices = { I64, 0, { 0 } }, to;

  batch = (guint) pick (trial, type.rank);
  for (guint d = 0; d < batch; d++)
    of_indices.dim[of_indices.rank++] = type.dim[d];
  for (guint i = (guint) pick (trial, 3); i > 0; i--)
    of_indices.dim[of_indices.rank++] = pick_extent (trial);
  indices = pick_tuples (trial, &type, batch, &of_indices);
  if (trial->failed)
    return;
  depth = (guint) of_indices.dim[of_indices.rank - 1];
  to = of_indices;
  to.element = type.element;
  to.rank--;
  for (guint d = batch + depth; d < type.rank; d++)
    to.dim[to.rank++] = type.dim[d];
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, indices);
  if (batch > 0)
    set_int (trial, "batch_dims", batch);
  add_out (trial, &to);
}

static void
pick_reduction (Trial *trial, guint element)
{
  static const char *const names[] = { "none", "add", "mul", "max", "min" };

  if (element != BOOL && chance (trial, 50))
    set_string (trial, "reduction", names[pick (trial, trial->opset >= 18 ? 5 : 3)]);
}

static void
grow_scatter_elements (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 1, 5), indices, updates;
  TrialType type = type_of (trial, x), part = type;
  guint axis = (guint) pick (trial, type.rank);

  if (!need (trial, type.dim[axis] > 0))
    return;
  for (guint d = 0; d < part.rank; d++)
    part.dim[d] = chance (trial, 50) ? type.dim[d] : pick (trial, type.dim[d] + 1);
  updates = use_type (trial, &part);
  part.element = pick_element (trial, INDICES);
  indices = pick_expanded (trial, &part, type.dim[axis]);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, indices);
  add_in (trial, updates);
  set_int (trial, "axis", maybe_negative (trial, axis, type.rank));
  pick_reduction (trial, type.element);
  add_out (trial, &type);
}

static void
grow_scatter_nd (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 1, 4), indices, updates, depth;
  TrialType type = type_of (trial, x), of_indices = { I64, 0, { 0 } }, part;

  for (guint i = (guint) pick (trial, 3); i > 0; i--)
    of_indices.dim[of_indices.rank++] = pick_extent (trial);
  indices = pick_tuples (trial, &type, 0, &of_indices);
  if (trial->failed)
    return;
  depth = (guint) of_indices.dim[of_indices.rank - 1];
  part = of_indices;
  part.element = type.element;
  part.rank--;
  for (guint d = depth; d < type.rank; d++)
    part.dim[part.rank++] = type.dim[d];
  updates = use_type (trial, &part);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, indices);
  add_in (trial, updates);
  pick_reduction (trial, type.element);
  add_out (trial, &type);
}

static void
grow_one_hot (Trial *trial, const char *op)
{
  TrialType type = pick_type (trial, NUMBERS, 0, 4), two = type_make (0, 1, (gint64) 2), to;
  gint64 depth = 1 + pick (trial, 9);
  guint indices = use_indices (
            trial,
            &(TrialType){ I64, type.rank, { type.dim[0], type.dim[1], type.dim[2], type.dim[3] } },
            -depth, depth),
        values, count;
  guint axis = (guint) pick (trial, type.rank + 1);

  if (chance (trial, 40))
    indices = use_type (trial, &type);
  two.element = pick_element (trial, ALL);
  values = use_type (trial, &two);
  count = use_int (trial, depth);
  if (trial->failed)
    return;
  to = type_of (trial, indices);
  to.element = two.element;
  for (guint d = to.rank++; d > axis; d--)
    to.dim[d] = to.dim[d - 1];
  to.dim[axis] = depth;
  add_node (trial, op);
  add_in (trial, indices);
  add_in (trial, count);
  add_in (trial, values);
  set_int (trial, "axis", maybe_negative (trial, axis, to.rank));
  add_out (trial, &to);
}

static void
grow_reverse (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 2, 5), lengths, batch = (guint) pick (trial, 2);
  TrialType type = type_of (trial, x), of_lengths = type_make (I64, 1, type.dim[batch]);

  lengths = use_indices (trial, &of_lengths, MIN (1, type.dim[!batch]), type.dim[!batch]);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, lengths);
  set_int (trial, "batch_axis", batch);
  set_int (trial, "time_axis", !batch);
  add_out (trial, &type);
}

static void
grow_tfidf (Trial *trial, const char *op)
{
  static const gint64 counts[] = { 0, 4 }, pool[] = { 1, 2, 3, 0, 1, 2, 2, 1, 0, 3 };
  static const gint64 indexes[] = { 0, 1, 2, 3, 4, 5, 6 };
  static const float weights[] = { 1, 0.5f, 2, 0.25f, 3, 1.5f, 0.75f };
  static const char *const modes[] = { "TF", "IDF", "TFIDF" };
  guint x, mode = (guint) pick (trial, 3);
  TrialType type = pick_type (trial, INDICES, 1, 2), to = type;

  if (!need (trial, type.dim[type.rank - 1] > 0))
    return;
  x = use_type (trial, &type);
  to.element = F32;
  to.dim[to.rank - 1] = 7;
  add_node (trial, op);
  add_in (trial, x);
  set_string (trial, "mode", modes[mode]);
  set_int (trial, "min_gram_length", 1);
  set_int (trial, "max_gram_length", 1 + pick (trial, 2));
  set_int (trial, "max_skip_count", pick (trial, 3));
  set_ints (trial, "ngram_counts", counts, 2);
  set_ints (trial, "ngram_indexes", indexes, 7);
  set_ints (trial, "pool_int64s", pool, 10);
  if (mode > 0)
    set_floats (trial, "weights", weights, 7);
  add_out (trial, &to);
}

const TrialOp trial_indices[] = {
  { "Gather", grow_gather, 6 },
  { "GatherElements", grow_gather_elements, 4 },
  { "GatherND", grow_gather_nd, 4 },
  { "ScatterElements", grow_scatter_elements, 4 },
  { "ScatterND", grow_scatter_nd, 4 },
  { "OneHot", grow_one_hot, 3 },
  { "ReverseSequence", grow_reverse, 3 },
  { "TfIdfVectorizer", grow_tfidf, 2 },
  { NULL, NULL, 0 },
};
