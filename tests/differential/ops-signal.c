/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Transforms, window functions and resizing. */

#include "trial.h"

#include <math.h>

#include "trial-ops.h"

static void
grow_dft (Trial *trial, const char *op)
{
  guint rank = 2 + (guint) pick (trial, 3), axis, length = 0, x, of_axis = 0;
  TrialType type = pick_type (trial, FLOATS, rank, rank), to;
  gboolean complex = chance (trial, 50), inverse = chance (trial, 30), one_sided;

  one_sided = !complex && !inverse && chance (trial, 40);
  type.dim[rank - 1] = complex ? 2 : 1;
  axis = rank == 2 ? 0 : 1 + (guint) pick (trial, rank - 2);
  if (!need (trial, type.dim[axis] > 0))
    return;
  x = use_type (trial, &type);
  to = type;
  to.dim[rank - 1] = 2;
  if (chance (trial, 30))
    {
      to.dim[axis] = 1 + pick (trial, 12);
      length = use_int (trial, to.dim[axis]);
    }
  if (one_sided)
    to.dim[axis] = to.dim[axis] / 2 + 1;
  if (trial->opset >= 20)
    of_axis = use_int (trial, axis);
  add_node (trial, op);
  add_in (trial, x);
  if (length != 0 || of_axis != 0)
    add_in (trial, length);
  if (of_axis != 0)
    add_in (trial, of_axis);
  else
    set_int (trial, "axis", axis);
  if (inverse)
    set_int (trial, "inverse", 1);
  if (one_sided)
    set_int (trial, "onesided", 1);
  add_out (trial, &to);
  add_work (trial, type_n_elements (&to) * type.dim[axis]);
}

static void
grow_stft (Trial *trial, const char *op)
{
  gint64 batch = 1 + pick (trial, 3), frame = 1 + pick (trial, 16), step = 1 + pick (trial, 8);
  gint64 n = frame + pick (trial, 40);
  gboolean complex = chance (trial, 30), one_sided = !complex && chance (trial, 60);
  guint element = pick_element (trial, FLOATS), x, window = 0, length = 0,
        by = use_int (trial, step);
  TrialType type = type_make (element, 3, batch, n, (gint64) (complex ? 2 : 1));
  TrialType of_window = type_make (element, 1, frame);
  TrialType to = type_make (element, 4, batch, (n - frame) / step + 1,
                            one_sided ? frame / 2 + 1 : frame, (gint64) 2);

  x = use_type (trial, &type);
  if (chance (trial, 60))
    window = use_type (trial, &of_window);
  if (window == 0 || chance (trial, 50))
    length = use_int (trial, frame);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, by);
  add_in (trial, window);
  if (length != 0)
    add_in (trial, length);
  set_int (trial, "onesided", one_sided);
  add_out (trial, &to);
  add_work (trial, type_n_elements (&to) * frame);
}

static void
grow_window (Trial *trial, const char *op)
{
  gint64 n = 1 + pick (trial, 20);
  TrialType type = type_make (F32, 1, n);
  guint size = use_int (trial, n);

  add_node (trial, op);
  add_in (trial, size);
  if (chance (trial, 50))
    set_int (trial, "periodic", pick (trial, 2));
  if (chance (trial, 50))
    {
      type.element = pick_element (trial, NUMBERS);
      set_int (trial, "output_datatype", type.element);
    }
  add_out (trial, &type);
}

static void
grow_mel (Trial *trial, const char *op)
{
  gint64 bins = 1 + pick (trial, 8), length = 2 + pick (trial, 40);
  TrialType type = type_make (F32, 2, length / 2 + 1, bins);
  guint in[5] = { use_int (trial, bins), use_int (trial, length), use_int (trial, 8000),
                  use_float (trial, 20), use_float (trial, 3500) };

  add_node (trial, op);
  for (guint i = 0; i < 5; i++)
    add_in (trial, in[i]);
  add_out (trial, &type);
}

static gint64
scaled (gint64 extent, float scale)
{
  return (gint64) floor ((double) ((float) extent * scale));
}

/* Adds a Resize by sizes, or by scales. An extent times its scale is rounded down. */
static void
grow_resize (Trial *trial, const char *op)
{
  static const char *const modes[] = { "nearest", "linear", "cubic" };
  static const char *const nearests[] = { "round_prefer_floor", "round_prefer_ceil", "floor",
                                          "ceil" };
  static const char *const coordinates[] = { "half_pixel", "asymmetric", "align_corners",
                                             "pytorch_half_pixel", "tf_crop_and_resize" };
  static const float scales[] = { 1, 2, 0.5f, 1.5f, 3, 0.75f, 0.3f };
  guint mode = (guint) pick (trial, 3), how = (guint) pick (trial, 5), first, list, roi = 0;
  guint x = use_any (trial, FLOATS | BYTES, mode == 2 ? 4 : 1, mode == 2 ? 4 : 5);
  TrialType type = type_of (trial, x), to = type;
  gboolean sizes = chance (trial, 50);
  float by[TRIAL_MAX_RANK], region[2 * TRIAL_MAX_RANK], part;

  first = type.rank > 2 ? type.rank - 2 : 0;
  for (guint d = 0; d < type.rank; d++)
    {
      region[d] = d < first ? 0 : (float) pick (trial, 2) / 4;
      region[type.rank + d] = d < first ? 1 : 1 - (float) pick (trial, 2) / 4;
      by[d] = d < first ? 1 : scales[pick (trial, G_N_ELEMENTS (scales))];
      part = how == 4 ? region[type.rank + d] - region[d] : 1;
      to.dim[d] = d < first ? type.dim[d]
                  : sizes   ? 1 + pick (trial, 12)
                            : scaled (type.dim[d], part * by[d]);
      if (!need (trial, to.dim[d] > 0 && type.dim[d] > 0))
        return;
    }
  if (how == 4)
    roi = use_floats (trial, region, 2 * type.rank);
  list = sizes ? use_ints (trial, to.dim, to.rank) : use_floats (trial, by, type.rank);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, roi);
  if (sizes)
    add_in (trial, 0);
  add_in (trial, list);
  set_string (trial, "mode", modes[mode]);
  set_string (trial, "coordinate_transformation_mode", coordinates[how]);
  if (mode == 0)
    set_string (trial, "nearest_mode", nearests[pick (trial, 4)]);
  if (mode == 2 && chance (trial, 50))
    set_float (trial, "cubic_coeff_a", -0.5);
  if (mode == 2 && chance (trial, 30))
    set_int (trial, "exclude_outside", 1);
  if (how == 4 && chance (trial, 50))
    set_float (trial, "extrapolation_value", 7);
  add_out (trial, &to);
  add_work (trial, trial->failed ? 0 : 16 * type_n_elements (&to));
}

const TrialOp trial_signal[] = {
  { "DFT", grow_dft, 3 },
  { "STFT", grow_stft, 2 },
  { "HannWindow", grow_window, 1 },
  { "HammingWindow", grow_window, 1 },
  { "BlackmanWindow", grow_window, 1 },
  { "MelWeightMatrix", grow_mel, 1 },
  { "Resize", grow_resize, 10 },
  { NULL, NULL, 0 },
};
