/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random nodes of ops that depend on positions or shapes: Trilu, EyeLike, Shape, Size,
 * ConstantOfShape and Range. */

#include "trial.h"

#include "trial-ops.h"

static void
grow_trilu (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 2, 6), k = 0;
  TrialType type = type_of (trial, x);

  if (chance (trial, 60))
    k = use_int (trial, pick_between (trial, -4, 4));
  add_node (trial, op);
  add_in (trial, x);
  if (k != 0)
    add_in (trial, k);
  if (chance (trial, 60))
    set_int (trial, "upper", pick (trial, 2));
  add_out (trial, &type);
}

static void
grow_eye (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 2, 2);
  TrialType type = type_of (trial, x);

  add_node (trial, op);
  add_in (trial, x);
  if (chance (trial, 50))
    set_int (trial, "k", pick_between (trial, -4, 4));
  if (chance (trial, 50))
    {
      type.element = pick_element (trial, ALL);
      set_int (trial, "dtype", type.element);
    }
  add_out (trial, &type);
}

/* Adds Shape or Size, whose value is known at import. */
static void
grow_shape (Trial *trial, const char *op)
{
  gboolean size = g_str_equal (op, "Size");
  guint x = use_any (trial, ALL, 0, 6);
  TrialType type = type_of (trial, x), to = type_make (I64, 1, (gint64) type.rank);
  gint64 begin = 0, end = type.rank;

  add_node (trial, op);
  add_in (trial, x);
  if (size)
    to.rank = 0;
  else if (chance (trial, 40) && type.rank > 0)
    {
      begin = pick (trial, type.rank + 1);
      set_int (trial, "start", begin < end ? maybe_negative (trial, begin, type.rank) : begin);
      if (chance (trial, 50))
        {
          end = pick_between (trial, begin, type.rank);
          set_int (trial, "end", end);
        }
      to.dim[0] = end - begin;
    }
  add_out (trial, &to);
}

static void
grow_fill (Trial *trial, const char *op)
{
  TrialType type = pick_type (trial, ALL, 0, 5), one = type_make (type.element, 1, (gint64) 1);
  guint shape = use_ints (trial, type.dim, type.rank), value = use_new (trial, &one, MODE_ANY);

  add_node (trial, op);
  add_in (trial, shape);
  if (chance (trial, 70))
    set_tensor (trial, "value", value);
  else
    type.element = F32;
  add_out (trial, &type);
}

static void
grow_range (Trial *trial, const char *op)
{
  static const guint elements[] = { F32, F64, I16, I32, I64 };
  guint element = elements[pick (trial, 5)], values[3];
  gint64 n = pick_extent (trial), begin = pick_between (trial, -3, 9);
  gint64 delta = (gint64[]){ 1, 2, -1, 3, -3 }[pick (trial, 5)];
  gint64 numbers[3] = { begin, begin + n * delta, delta };
  TrialType type = type_make (element, 1, n);

  for (guint i = 0; i < 3; i++)
    values[i] = use_number (trial, element, numbers[i]);
  add_node (trial, op);
  for (guint i = 0; i < 3; i++)
    add_in (trial, values[i]);
  add_out (trial, &type);
}

const TrialOp trial_shapes[] = {
  { "Trilu", grow_trilu, 3 }, { "EyeLike", grow_eye, 2 },          { "Shape", grow_shape, 3 },
  { "Size", grow_shape, 1 },  { "ConstantOfShape", grow_fill, 3 }, { "Range", grow_range, 2 },
  { NULL, NULL, 0 },
};
