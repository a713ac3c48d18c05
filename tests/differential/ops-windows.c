/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Adds convolutions and poolings: ops with windows over the dimensions after the first two.
 *
 * Over 400 lines: this file has one function for each op. */

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

/* Adds a DeformConv. Its offsets are numbers in [-2, 2) or arbitrary floats. With offsets in [-2,
 * 2), a tap moves by about the distance of neighboring taps. */
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
  { NULL, NULL, 0 },
};
