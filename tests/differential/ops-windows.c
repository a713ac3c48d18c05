/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions and poolings: ops with windows over the dimensions after the first two. */

#include "trial.h"

#include "trial-ops.h"

#define MAX_SPATIAL 4

typedef struct
{
  guint n; /* number of spatial dimensions */
  gint64 kernel[MAX_SPATIAL], strides[MAX_SPATIAL], dilations[MAX_SPATIAL];
  gint64 pads[2 * MAX_SPATIAL];
  gint64 out[MAX_SPATIAL];
  const char *auto_pad;
  gboolean ceil;
} Window;

static gint64
reach (const Window *w, guint i)
{
  return (w->kernel[i] - 1) * w->dilations[i] + 1;
}

/* Computes the extents of the result, with explicit pads or with the pads of auto_pad. Returns
 * FALSE if the window does not fit. */
static gboolean
find_out (Window *w, const TrialType *x)
{
  for (guint i = 0; i < w->n; i++)
    {
      gint64 in = x->dim[2 + i], room;

      if (w->auto_pad != NULL && w->auto_pad[0] == 'S')
        {
          w->out[i] = (in + w->strides[i] - 1) / w->strides[i];
          if (in == 0)
            return FALSE;
          continue;
        }
      room = in + w->pads[i] + w->pads[w->n + i] - reach (w, i);
      if (room < 0)
        return FALSE;
      w->out[i] = (room + (w->ceil ? w->strides[i] - 1 : 0)) / w->strides[i] + 1;
      /* a window that begins in the padding at the end is not part of the result */
      if (w->ceil && (w->out[i] - 1) * w->strides[i] >= in + w->pads[i])
        w->out[i]--;
    }
  return TRUE;
}

static void
pick_window (Trial *trial, Window *w, const TrialType *x, gboolean dilates)
{
  static const gint64 kernels[] = { 1, 3, 3, 2, 3, 5, 4, 7 };
  gboolean same = !chance (trial, 30), padded = chance (trial, 60);

  *w = (Window){ .n = x->rank - 2 };
  for (guint i = 0; i < w->n; i++)
    {
      w->kernel[i] = i > 0 && same ? w->kernel[0] : kernels[pick (trial, 8)];
      w->strides[i] = i > 0 && same ? w->strides[0] : chance (trial, 35) ? 2 + pick (trial, 2) : 1;
      w->dilations[i] = dilates && chance (trial, 15) ? 2 + pick (trial, 2) : 1;
    }
  if (chance (trial, 12))
    {
      static const char *const names[] = { "VALID", "SAME_UPPER", "SAME_LOWER" };

      w->auto_pad = names[pick (trial, 3)];
      return;
    }
  for (guint i = 0; padded && i < 2 * w->n; i++)
    w->pads[i] = same ? w->kernel[i % w->n] / 2 : pick (trial, w->kernel[i % w->n]);
}

static void
set_window (Trial *trial, const Window *w, gboolean dilates)
{
  gboolean strides = FALSE, dilations = FALSE, pads = FALSE;

  for (guint i = 0; i < w->n; i++)
    {
      strides |= w->strides[i] != 1;
      dilations |= w->dilations[i] != 1;
      pads |= w->pads[i] != 0 || w->pads[w->n + i] != 0;
    }
  if (strides || chance (trial, 50))
    set_ints (trial, "strides", w->strides, w->n);
  if (dilates && (dilations || chance (trial, 30)))
    set_ints (trial, "dilations", w->dilations, w->n);
  if (w->auto_pad != NULL)
    set_string (trial, "auto_pad", w->auto_pad);
  else if (pads || chance (trial, 30))
    set_ints (trial, "pads", w->pads, 2 * w->n);
}

static TrialType
make_result (const Window *w, const TrialType *x, gint64 channels)
{
  TrialType y = *x;

  y.dim[1] = channels;
  for (guint i = 0; i < w->n; i++)
    y.dim[2 + i] = w->out[i];
  return y;
}

static gint64
n_taps (const Window *w)
{
  gint64 n = 1;

  for (guint i = 0; i < w->n; i++)
    n *= w->kernel[i];
  return n;
}

/* Picks the number of groups: one for each channel (depthwise), a few, or one. */
static gint64
pick_group (Trial *trial, gint64 channels)
{
  gint64 group;

  if (!chance (trial, 45))
    return 1;
  if (chance (trial, 50))
    return channels;
  group = 2 + pick (trial, 3);
  return channels % group == 0 ? group : 1;
}

static gint64
pick_channels (Trial *trial, gint64 group)
{
  static const gint64 counts[] = { 1, 2, 3, 4, 5, 8, 13, 16, 17, 24, 32, 33, 48 };
  gint64 n = counts[pick (trial, G_N_ELEMENTS (counts))];

  return group == 1 ? n : group * (n > 4 ? 1 + n % 3 : n);
}

static TrialType
make_weights (const Window *w, guint element, gint64 first, gint64 second)
{
  TrialType type = { element, 2 + w->n, { first, second } };

  for (guint i = 0; i < w->n; i++)
    type.dim[2 + i] = w->kernel[i];
  return type;
}

static void
grow_conv (Trial *trial, const char *op)
{
  guint x = use_any (trial, FLOATS, 3, 5);
  TrialType type = type_of (trial, x), weights, bias, result;
  Window w;
  gint64 group, m;

  if (!need (trial, type.dim[1] > 0))
    return;
  pick_window (trial, &w, &type, TRUE);
  group = pick_group (trial, type.dim[1]);
  m = pick_channels (trial, group);
  if (!need (trial, find_out (&w, &type)))
    return;
  weights = make_weights (&w, type.element, m, type.dim[1] / group);
  bias = type_make (type.element, 1, m);
  result = make_result (&w, &type, m);
  weights.element = type.element;
  guint wv = use_type (trial, &weights), b = chance (trial, 50) ? use_type (trial, &bias) : 0;

  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, wv);
  if (b != 0)
    add_in (trial, b);
  set_window (trial, &w, TRUE);
  if (group != 1 || chance (trial, 30))
    set_int (trial, "group", group);
  if (chance (trial, 50))
    set_ints (trial, "kernel_shape", w.kernel, w.n);
  add_out (trial, &result);
  if (!trial->failed)
    add_work (trial, type_n_elements (&result) * n_taps (&w) * type.dim[1] / group);
}

/* Adds a DeformConv. Its offsets are slightly larger than the distance of taps, or arbitrary. */
static void
grow_deform_conv (Trial *trial, const char *op)
{
  guint x = use_any (trial, FLOATS, 4, 4), wv, offset, b = 0, mask = 0;
  TrialType type = type_of (trial, x), weights, bias, result, places;
  int mode = chance (trial, 60) ? MODE_REAL : MODE_ANY;
  gint64 group, offset_group, m;
  Window w;

  if (!need (trial, trial->opset >= 19 && type.dim[1] > 0))
    return;
  pick_window (trial, &w, &type, TRUE);
  w.auto_pad = NULL;
  group = pick_group (trial, type.dim[1]);
  offset_group = pick_group (trial, type.dim[1]);
  m = pick_channels (trial, group);
  if (!need (trial, find_out (&w, &type)))
    return;
  weights = make_weights (&w, type.element, m, type.dim[1] / group);
  bias = type_make (type.element, 1, m);
  places = make_result (&w, &type, offset_group * n_taps (&w) * w.n);
  result = make_result (&w, &type, m);
  wv = use_type (trial, &weights);
  offset = use_new (trial, &places, mode);
  if (chance (trial, 50))
    b = use_type (trial, &bias);
  places.dim[1] /= w.n;
  if (chance (trial, 50))
    mask = use_new (trial, &places, mode);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, wv);
  add_in (trial, offset);
  if (b != 0 || mask != 0)
    add_in (trial, b);
  if (mask != 0)
    add_in (trial, mask);
  set_window (trial, &w, TRUE);
  set_int (trial, "group", group);
  set_int (trial, "offset_group", offset_group);
  if (chance (trial, 50))
    set_ints (trial, "kernel_shape", w.kernel, w.n);
  add_out (trial, &result);
  if (!trial->failed)
    add_work (trial, type_n_elements (&result) * n_taps (&w) * (8 + type.dim[1] / group));
}

/* Adds a Col2Im. Its image has the extents of another value. */
static void
grow_col2im (Trial *trial, const char *op)
{
  TrialType image = pick_type (trial, FLOATS, 3, 5), type;
  gint64 n_blocks = 1;
  guint x, shape, block;
  Window w;

  if (!need (trial, trial->opset >= 18 && image.dim[1] > 0))
    return;
  pick_window (trial, &w, &image, TRUE);
  w.auto_pad = NULL;
  if (!need (trial, find_out (&w, &image)))
    return;
  for (guint i = 0; i < w.n; i++)
    if (!need (trial, image.dim[2 + i] > 0))
      return;
    else
      n_blocks *= w.out[i];
  type = type_make (image.element, 3, image.dim[0], image.dim[1] * n_taps (&w), n_blocks);
  x = use_type (trial, &type);
  shape = use_ints (trial, image.dim + 2, w.n);
  block = use_ints (trial, w.kernel, w.n);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, shape);
  add_in (trial, block);
  set_window (trial, &w, TRUE);
  add_out (trial, &image);
  if (!trial->failed)
    add_work (trial, type_n_elements (&type));
}

/* Picks the attribute output_padding, and sets `w->out` to the extents of the result of a
 * transposed convolution. Returns FALSE if a value would be empty or auto_pad is illegal. */
static gboolean
find_transposed (Trial *trial, Window *w, const TrialType *x, gint64 *output_padding)
{
  for (guint i = 0; i < w->n; i++)
    {
      output_padding[i] = w->auto_pad == NULL && w->strides[i] > 1 && chance (trial, 30) ? 1 : 0;
      w->out[i] = w->strides[i] * (x->dim[2 + i] - 1) + output_padding[i] + reach (w, i) -
                  w->pads[i] - w->pads[w->n + i];
      if (w->auto_pad != NULL && w->auto_pad[0] == 'S')
        w->out[i] = x->dim[2 + i] * w->strides[i];
      if (w->out[i] <= 0 || x->dim[2 + i] <= 0)
        return FALSE;
      if (w->auto_pad != NULL && w->auto_pad[0] == 'S' && reach (w, i) < w->strides[i])
        return FALSE;
    }
  return TRUE;
}

static void
grow_conv_transpose (Trial *trial, const char *op)
{
  guint x = use_any (trial, FLOATS, 3, 5);
  TrialType type = type_of (trial, x), weights, bias, result;
  Window w;
  gint64 group, m, padding[MAX_SPATIAL];

  if (!need (trial, type.dim[1] > 0))
    return;
  pick_window (trial, &w, &type, TRUE);
  group = pick_group (trial, type.dim[1]);
  m = pick_channels (trial, group) / group;
  if (!need (trial, m > 0 && find_transposed (trial, &w, &type, padding)))
    return;
  weights = make_weights (&w, type.element, type.dim[1], m);
  bias = type_make (type.element, 1, m * group);
  result = make_result (&w, &type, m * group);
  guint wv = use_type (trial, &weights), b = chance (trial, 50) ? use_type (trial, &bias) : 0;

  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, wv);
  if (b != 0)
    add_in (trial, b);
  set_window (trial, &w, TRUE);
  set_int (trial, "group", group);
  for (guint i = 0; i < w.n; i++)
    if (padding[i] != 0)
      {
        set_ints (trial, "output_padding", padding, w.n);
        break;
      }
  add_out (trial, &result);
  if (!trial->failed)
    add_work (trial, type_n_elements (&type) * n_taps (&w) * m);
}

static void
grow_pool (Trial *trial, const char *op)
{
  gboolean max = g_str_equal (op, "MaxPool"), average = g_str_equal (op, "AveragePool");
  gboolean dilates = max || trial->opset >= (average ? 19 : 18);
  guint x = use_any (trial, max ? FLOATS | BYTES : FLOATS, 3, 5);
  TrialType type = type_of (trial, x), result, indices;
  Window w;

  pick_window (trial, &w, &type, dilates);
  w.ceil = (max || average || dilates) && w.auto_pad == NULL && chance (trial, 25);
  if (!need (trial, find_out (&w, &type)))
    return;
  for (guint i = 0; i < 2 * w.n; i++)
    if (!need (trial, w.pads[i] < w.kernel[i % w.n]))
      return;
  result = make_result (&w, &type, type.dim[1]);
  add_node (trial, op);
  add_in (trial, x);
  set_ints (trial, "kernel_shape", w.kernel, w.n);
  set_window (trial, &w, dilates);
  if (w.ceil)
    set_int (trial, "ceil_mode", 1);
  if (average && chance (trial, 50))
    set_int (trial, "count_include_pad", 1);
  if (g_str_equal (op, "LpPool") && chance (trial, 50))
    set_int (trial, "p", 1 + pick (trial, 3));
  if (max && chance (trial, 20))
    set_int (trial, "storage_order", 1);
  add_out (trial, &result);
  indices = result;
  indices.element = I64;
  if (max && chance (trial, 30))
    add_out (trial, &indices);
  if (!trial->failed)
    add_work (trial, type_n_elements (&result) * n_taps (&w));
}

static void
grow_global_pool (Trial *trial, const char *op)
{
  guint x = use_any (trial, FLOATS, 3, 5);
  TrialType type = type_of (trial, x);

  add_node (trial, op);
  add_in (trial, x);
  if (g_str_equal (op, "GlobalLpPool") && chance (trial, 50))
    set_int (trial, "p", 1 + pick (trial, 3));
  for (guint d = 2; d < type.rank; d++)
    {
      need (trial, type.dim[d] > 0);
      type.dim[d] = 1;
    }
  add_out (trial, &type);
}

static void
grow_lrn (Trial *trial, const char *op)
{
  guint x = use_any (trial, FLOATS, 3, 5);
  TrialType type = type_of (trial, x);

  add_node (trial, op);
  add_in (trial, x);
  set_int (trial, "size", 1 + 2 * pick (trial, 4));
  if (chance (trial, 50))
    set_float (trial, "alpha", pick_real (trial, 0.0001, 1));
  if (chance (trial, 50))
    set_float (trial, "beta", pick_real (trial, 0.25, 1.25));
  if (chance (trial, 50))
    set_float (trial, "bias", pick_real (trial, 0.5, 2));
  add_out (trial, &type);
}

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

const TrialOp trial_windows[] = {
  { "Conv", grow_conv, 30 },
  { "ConvTranspose", grow_conv_transpose, 10 },
  { "DeformConv", grow_deform_conv, 8 },
  { "Col2Im", grow_col2im, 8 },
  { "MaxPool", grow_pool, 10 },
  { "AveragePool", grow_pool, 8 },
  { "LpPool", grow_pool, 3 },
  { "GlobalAveragePool", grow_global_pool, 4 },
  { "GlobalMaxPool", grow_global_pool, 3 },
  { "GlobalLpPool", grow_global_pool, 2 },
  { "LRN", grow_lrn, 4 },
  { "MaxUnpool", grow_unpool, 3 },
  { "MaxRoiPool", grow_regions, 3 },
  { "RoiAlign", grow_regions, 3 },
  { "GridSample", grow_grid_sample, 3 },
  { NULL, NULL, 0 },
};
