/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops that read or write an image at places that another operand gives. */

#include "trial.h"

#include "trial-ops.h"

/* Adds a MaxUnpool by the indices of a pooling, or by any indices inside of the image. */
static void
grow_unpool (Trial *trial, const char *op)
{
  guint x = use_any (trial, FLOATS, 3, 5), indices;
  TrialType type = type_of (trial, x), result = type, of_indices = type;
  gint64 kernel[3], strides[3], inside;
  guint n = type.rank - 2;

  for (guint i = 0; i < n; i++)
    {
      kernel[i] = 2 + pick (trial, 2);
      strides[i] = 1 + pick (trial, 3);
      result.dim[2 + i] = (type.dim[2 + i] - 1) * strides[i] + kernel[i];
      if (!need (trial, result.dim[2 + i] > 0 && type.dim[2 + i] > 0))
        return;
    }
  of_indices.element = I64;
  inside = type_n_elements (&result);
  indices = use_indices (trial, &of_indices, 0, MAX (inside, 1) - 1);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, indices);
  set_ints (trial, "kernel_shape", kernel, n);
  set_ints (trial, "strides", strides, n);
  add_out (trial, &result);
}

static void
grow_regions (Trial *trial, const char *op)
{
  gboolean align = g_str_equal (op, "RoiAlign");
  guint x = use_any (trial, align ? FLOATS : NO_BF16, 4, 4), rois, batch = 0;
  TrialType type = type_of (trial, x), of_rois, of_batch, result = type;
  gint64 n = pick (trial, 5), size[2] = { 1 + pick (trial, 4), 1 + pick (trial, 4) };

  if (!need (trial, type.dim[0] > 0 && type.dim[2] > 0 && type.dim[3] > 0))
    return;
  of_rois = type_make (type.element, 2, n, (gint64) (align ? 4 : 5));
  of_batch = type_make (I64, 1, n);
  rois = use_new (trial, &of_rois, chance (trial, 70) ? MODE_POSITIVE : MODE_ANY);
  if (align)
    batch = use_indices (trial, &of_batch, 0, type.dim[0] - 1);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, rois);
  result.dim[0] = n;
  result.dim[2] = size[0];
  result.dim[3] = size[1];
  if (align)
    {
      add_in (trial, batch);
      set_int (trial, "output_height", size[0]);
      set_int (trial, "output_width", size[1]);
      set_int (trial, "sampling_ratio", pick (trial, 3));
      set_string (trial, "mode", chance (trial, 40) ? "max" : "avg");
      if (chance (trial, 50))
        set_string (trial, "coordinate_transformation_mode",
                    chance (trial, 50) ? "output_half_pixel" : "half_pixel");
    }
  else
    set_ints (trial, "pooled_shape", size, 2);
  set_float (trial, "spatial_scale", pick_real (trial, 0.25, 4.25));
  add_out (trial, &result);
  add_work (trial, trial->failed ? 0 : 16 * type_n_elements (&result));
}

static void
grow_grid_sample (Trial *trial, const char *op)
{
  static const char *const modes[2][3] = { { "bilinear", "nearest", "bicubic" },
                                           { "linear", "nearest", "cubic" } };
  static const char *const paddings[] = { "zeros", "border", "reflection" };
  gboolean any_rank = trial->opset >= 20;
  guint x = use_any (trial, FLOATS, any_rank ? 3 : 4, any_rank ? 5 : 4), grid;
  TrialType type = type_of (trial, x), of_grid = type, result = type;

  for (guint d = 2; d < type.rank; d++)
    {
      if (!need (trial, type.dim[d] > 0))
        return;
      of_grid.dim[d - 1] = result.dim[d] = pick_extent (trial);
    }
  of_grid.dim[type.rank - 1] = type.rank - 2;
  grid = use_new (trial, &of_grid, MODE_ANY);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, grid);
  set_string (trial, "mode", modes[any_rank][pick (trial, type.rank == 4 ? 3 : 2)]);
  set_string (trial, "padding_mode", paddings[pick (trial, 3)]);
  set_int (trial, "align_corners", pick (trial, 2));
  add_out (trial, &result);
  add_work (trial, trial->failed ? 0 : 16 * type_n_elements (&result));
}

const TrialOp trial_samples[] = {
  { "MaxUnpool", grow_unpool, 3 },
  { "MaxRoiPool", grow_regions, 3 },
  { "RoiAlign", grow_regions, 3 },
  { "GridSample", grow_grid_sample, 3 },
  { NULL, NULL, 0 },
};
