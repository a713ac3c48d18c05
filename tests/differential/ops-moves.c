/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Adds ops that move elements without reading their values.
 *
 * Over 400 lines: this file has one function for each op. */

#include "trial.h"

#include <string.h>

#include "trial-ops.h"

static void
grow_identity (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 0, 6);
  TrialType type = type_of (trial, x);

  add_node (trial, op);
  add_in (trial, x);
  add_out (trial, &type);
}

static void
grow_dropout (Trial *trial, const char *op)
{
  guint x = use_any (trial, FLOATS, 0, 6);
  TrialType type = type_of (trial, x);

  add_node (trial, op);
  add_in (trial, x);
  if (chance (trial, 40))
    add_in (trial, use_float (trial, 0.25f));
  add_out (trial, &type);
  type.element = BOOL;
  if (chance (trial, 30))
    add_out (trial, &type);
}

/* Returns a shape with the same number of elements. Some dimensions are merged, some are divided.
 */
static TrialType
pick_shape (Trial *trial, const TrialType *type)
{
  TrialType to = { type->element, 0, { 0 } };

  for (guint d = 0; d < type->rank; d++)
    {
      gint64 n = type->dim[d];
      gint64 part = n > 3 && n % 2 == 0 ? 2 : n > 3 && n % 3 == 0 ? 3 : 0;

      if (to.rank > 0 && chance (trial, 35))
        to.dim[to.rank - 1] *= n;
      else if (part > 0 && to.rank < 5 && chance (trial, 40))
        {
          to.dim[to.rank++] = part;
          to.dim[to.rank++] = n / part;
        }
      else if (to.rank < 6)
        to.dim[to.rank++] = n;
      else
        to.dim[to.rank - 1] *= n;
      if (to.rank < 6 && chance (trial, 10))
        to.dim[to.rank++] = 1;
    }
  return to;
}

static void
grow_reshape (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 0, 6), shape;
  TrialType type = type_of (trial, x), to = pick_shape (trial, &type);
  gint64 dims[TRIAL_MAX_RANK];
  gboolean empty = type_n_elements (&type) == 0;

  memcpy (dims, to.dim, sizeof dims);
  if (to.rank > 0 && !empty && chance (trial, 40))
    dims[pick (trial, to.rank)] = -1;
  for (guint d = 0; d < to.rank && d < type.rank; d++)
    if (!empty && dims[d] == type.dim[d] && chance (trial, 15))
      dims[d] = 0;
  shape = use_ints (trial, dims, to.rank);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, shape);
  if (empty)
    set_int (trial, "allowzero", 1);
  add_out (trial, &to);
}

static void
grow_flatten (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 0, 6), axis;
  TrialType type = type_of (trial, x), to = type_make (type.element, 2, (gint64) 1, (gint64) 1);

  axis = (guint) pick (trial, type.rank + 1);
  for (guint d = 0; d < type.rank; d++)
    to.dim[d >= axis] *= type.dim[d];
  add_node (trial, op);
  add_in (trial, x);
  set_int (trial, "axis", axis);
  add_out (trial, &to);
}

static void
grow_squeeze (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 1, 6), list = 0, n = 0;
  TrialType type = type_of (trial, x), to = { type.element, 0, { 0 } };
  gint64 axes[TRIAL_MAX_RANK];
  gboolean all = chance (trial, 30);

  for (guint d = 0; d < type.rank; d++)
    if (type.dim[d] == 1 && (all || chance (trial, 60)))
      axes[n++] = maybe_negative (trial, d, type.rank);
    else
      to.dim[to.rank++] = type.dim[d];
  if (!need (trial, n > 0))
    return;
  if (!all)
    list = use_ints (trial, axes, n);
  add_node (trial, op);
  add_in (trial, x);
  if (!all)
    add_in (trial, list);
  add_out (trial, &to);
}

static void
grow_unsqueeze (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 0, 4), list, n = 0;
  TrialType type = type_of (trial, x), to = { type.element, 0, { 0 } };
  guint rank = type.rank + 1 + (guint) pick (trial, 2), left = rank - type.rank;
  gint64 axes[TRIAL_MAX_RANK];

  for (guint d = 0, from = 0; d < rank; d++)
    if (left > 0 && (from == type.rank || chance (trial, 50)))
      {
        axes[n++] = maybe_negative (trial, d, rank);
        to.dim[to.rank++] = 1;
        left--;
      }
    else
      to.dim[to.rank++] = type.dim[from++];
  list = use_ints (trial, axes, n);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, list);
  add_out (trial, &to);
}

static void
grow_transpose (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 0, 6);
  TrialType type = type_of (trial, x), to = type;
  gint64 perm[TRIAL_MAX_RANK];
  gboolean reversed = chance (trial, 10);

  for (guint d = 0; d < type.rank; d++)
    perm[d] = reversed ? type.rank - 1 - d : d;
  for (guint d = 0; d + 1 < type.rank && !reversed; d++)
    {
      guint other = d + (guint) pick (trial, type.rank - d);
      gint64 first = perm[d];

      perm[d] = perm[other];
      perm[other] = first;
    }
  for (guint d = 0; d < type.rank; d++)
    to.dim[d] = type.dim[perm[d]];
  add_node (trial, op);
  add_in (trial, x);
  if (!reversed)
    set_ints (trial, "perm", perm, type.rank);
  add_out (trial, &to);
}

static void
grow_concat (Trial *trial, const char *op)
{
  guint values[4] = { use_any (trial, ALL, 1, 6) }, n = 1 + pick (trial, 4), axis;
  TrialType type = type_of (trial, values[0]), to = type;

  axis = (guint) pick (trial, type.rank);
  for (guint i = 1; i < n; i++)
    {
      TrialType part = type;

      if (chance (trial, 50))
        part.dim[axis] = pick_extent (trial);
      values[i] = use_type (trial, &part);
      to.dim[axis] += part.dim[axis];
    }
  add_node (trial, op);
  for (guint i = 0; i < n; i++)
    add_in (trial, values[(i + 1) % n]);
  set_int (trial, "axis", maybe_negative (trial, axis, type.rank));
  add_out (trial, &to);
}

static void
grow_split (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 1, 6), n = 1 + pick (trial, 4), axis, list = 0;
  TrialType type = type_of (trial, x);
  gint64 sizes[4] = { 0 }, left;
  gboolean equal;

  axis = (guint) pick (trial, type.rank);
  left = type.dim[axis];
  equal = left > 0 && left % n == 0 && chance (trial, 50);
  for (guint i = 0; i < n; i++)
    {
      sizes[i] = equal ? type.dim[axis] / n : i + 1 == n ? left : pick (trial, left + 1);
      left -= sizes[i];
    }
  if (!equal || chance (trial, 50))
    list = use_ints (trial, sizes, n);
  add_node (trial, op);
  add_in (trial, x);
  if (list != 0)
    add_in (trial, list);
  set_int (trial, "axis", maybe_negative (trial, axis, type.rank));
  if (list == 0 && trial->opset >= 18)
    set_int (trial, "num_outputs", n);
  for (guint i = 0; i < n; i++)
    {
      type.dim[axis] = sizes[i];
      add_out (trial, &type);
    }
}

/* Adds a Slice. Starts and ends may be out of range or negative. Steps may be negative. */
static void
grow_slice (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 1, 6), n = 0, lists[4];
  TrialType type = type_of (trial, x), to = type;
  gint64 v[4][TRIAL_MAX_RANK];
  gboolean steps = chance (trial, 40);

  for (guint d = 0; d < type.rank; d++)
    {
      gint64 extent = type.dim[d], step, begin, end;

      if (d + 1 < type.rank && !chance (trial, 60))
        continue;
      step = steps ? (gint64[]){ 1, 2, -1, 3, -2 }[pick (trial, 5)] : 1;
      begin = pick (trial, extent + 1);
      end = begin + pick (trial, extent - begin + 1);
      v[2][n] = maybe_negative (trial, d, type.rank);
      v[3][n] = step;
      if (step > 0)
        {
          v[0][n] = begin > 0 && begin < extent && chance (trial, 30) ? begin - extent : begin;
          v[1][n] = end == extent && chance (trial, 40) ? G_MAXINT64 : end;
          to.dim[d] = (end - begin + step - 1) / step;
        }
      else /* a negative step: the Slice reads elements `end` - 1 down to `begin` */
        {
          v[0][n] = end == extent && chance (trial, 40) ? G_MAXINT32 : end - 1;
          v[1][n] = begin == 0 ? G_MININT64 + 1 : begin - 1;
          if (!need (trial, end > 0))
            return;
          to.dim[d] = (end - begin - step - 1) / -step;
        }
      n++;
    }
  if (!need (trial, n > 0))
    return;
  for (guint i = 0; i < 4; i++)
    lists[i] = use_ints (trial, v[i], n);
  add_node (trial, op);
  add_in (trial, x);
  for (guint i = 0; i < (steps ? 4 : 3); i++)
    add_in (trial, lists[i]);
  add_out (trial, &to);
}

static void
grow_pad (Trial *trial, const char *op)
{
  static const char *const modes[] = { "constant", "edge", "reflect" };
  guint x = use_any (trial, ALL, 1, 6), list, value = 0, mode = (guint) pick (trial, 3);
  TrialType type = type_of (trial, x), to = type;
  gint64 pads[2 * TRIAL_MAX_RANK] = { 0 };

  for (guint i = 0; i < 2 * type.rank; i++)
    {
      gint64 extent = type.dim[i % type.rank];
      gint64 most = mode == 0 ? 3 : mode == 1 ? (extent > 0 ? 3 : 0) : MIN (3, MAX (extent - 1, 0));

      if (chance (trial, 40))
        pads[i] = pick (trial, most + 1);
      if (chance (trial, 5) && to.dim[i % type.rank] > 1 && extent > 1)
        pads[i] = -1;
      to.dim[i % type.rank] += pads[i];
    }
  list = use_ints (trial, pads, 2 * type.rank);
  if (mode == 0 && chance (trial, 50))
    value = use_fixed (trial, &(TrialType){ type.element, 0, { 0 } },
                       type.element == I64 || type.element == U64 ? MODE_BETWEEN : MODE_ANY);
  if (value != 0) /* limits the numbers to 64-bit integers that a double represents exactly */
    g_array_index (trial->values, TrialValue, value).max = 100;
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, list);
  if (value != 0)
    add_in (trial, value);
  if (mode != 0 || chance (trial, 50))
    set_string (trial, "mode", modes[mode]);
  add_out (trial, &to);
}

static void
grow_expand (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 0, 5), shape;
  TrialType type = type_of (trial, x), to = { type.element, 0, { 0 } };

  if (chance (trial, 30))
    to.dim[to.rank++] = pick_extent (trial);
  for (guint d = 0; d < type.rank; d++)
    to.dim[to.rank++] = type.dim[d] == 1 && chance (trial, 60) ? pick_extent (trial)
                        : chance (trial, 20)                   ? 1
                                                               : type.dim[d];
  shape = use_ints (trial, to.dim, to.rank);
  if (!need (trial, trial_broadcast (&to, &type)))
    return;
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, shape);
  add_out (trial, &to);
}

static void
grow_tile (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 1, 6), list;
  TrialType type = type_of (trial, x);
  gint64 repeats[TRIAL_MAX_RANK];

  for (guint d = 0; d < type.rank; d++)
    {
      repeats[d] = chance (trial, 3) ? 0 : chance (trial, 30) ? 2 + pick (trial, 2) : 1;
      type.dim[d] *= repeats[d];
    }
  list = use_ints (trial, repeats, type.rank);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, list);
  add_out (trial, &type);
}

static void
grow_depth_space (Trial *trial, const char *op)
{
  gboolean to_space = g_str_equal (op, "DepthToSpace");
  gint64 block = 2 + pick (trial, 2);
  TrialType type, to;
  guint x;

  if (chance (trial, 50))
    x = use_any (trial, ALL, 4, 4);
  else
    {
      type = pick_type (trial, ALL, 4, 4);
      if (to_space)
        type.dim[1] = block * block * (1 + pick (trial, 3));
      else
        {
          type.dim[2] = block * (1 + pick (trial, 4));
          type.dim[3] = block * (1 + pick (trial, 4));
        }
      if (!need (trial, type_n_elements (&type) <= trial->max_elements))
        return;
      x = use_type (trial, &type);
    }
  to = type = type_of (trial, x);
  if (!need (trial, to_space ? type.dim[1] % (block * block) == 0
                             : type.dim[2] % block == 0 && type.dim[3] % block == 0))
    return;
  to.dim[1] = to_space ? type.dim[1] / (block * block) : type.dim[1] * block * block;
  for (guint d = 2; d < 4; d++)
    to.dim[d] = to_space ? type.dim[d] * block : type.dim[d] / block;
  add_node (trial, op);
  add_in (trial, x);
  set_int (trial, "blocksize", block);
  if (to_space && chance (trial, 60))
    set_string (trial, "mode", chance (trial, 50) ? "CRD" : "DCR");
  add_out (trial, &to);
}

const TrialOp trial_moves[] = {
  { "Identity", grow_identity, 3 },
  { "Dropout", grow_dropout, 3 },
  { "Reshape", grow_reshape, 12 },
  { "Flatten", grow_flatten, 4 },
  { "Squeeze", grow_squeeze, 5 },
  { "Unsqueeze", grow_unsqueeze, 5 },
  { "Transpose", grow_transpose, 14 },
  { "Concat", grow_concat, 14 },
  { "Split", grow_split, 10 },
  { "Slice", grow_slice, 12 },
  { "Pad", grow_pad, 8 },
  { "Expand", grow_expand, 5 },
  { "Tile", grow_tile, 4 },
  { "DepthToSpace", grow_depth_space, 5 },
  { "SpaceToDepth", grow_depth_space, 5 },
  { NULL, NULL, 0 },
};
