/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces the attributes kernel_shape, auto_pad and output_shape of convolutions and poolings by
 * explicit pads. */

#include "upgrades.h"

#include <string.h>

/* The window of a convolution or a pooling along each spatial dimension. */
typedef struct
{
  guint n;
  gint64 in[CLEAVE_MAX_RANK], kernel[CLEAVE_MAX_RANK], stride[CLEAVE_MAX_RANK],
      dilation[CLEAVE_MAX_RANK];
} Window;

/* Reads a list with an entry for each spatial dimension; all entries are 1 if the attribute is
 * absent. Fails if an entry is 2^31 or more, so that products of entries do not overflow. */
static gboolean
read_list (const CleaveOnnxNode *node, const char *name, guint n, gint64 *list, GError **error)
{
  const CleaveOnnxAttr *attr = cleave_onnx_node_find (node, name);

  if (attr != NULL && attr->ints->len != n)
    return cleave_onnx_node_fail (node, error,
                                  "%s has %u entries, but there are %u spatial dimensions", name,
                                  attr->ints->len, n);
  for (guint i = 0; i < n; i++)
    {
      list[i] = attr == NULL ? 1 : g_array_index (attr->ints, gint64, i);
      if (list[i] < 1 || list[i] > G_MAXINT32)
        return cleave_onnx_node_fail (node, error,
                                      "%s must have entries of at least 1, not %" G_GINT64_FORMAT,
                                      name, list[i]);
    }
  return TRUE;
}

static gboolean
read_window (const CleaveOnnxNode *node, guint weights, Window *window, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0),
                    *w = weights != 0 ? cleave_onnx_node_operand_shape (node, weights) : NULL;

  if (x == NULL || x->rank < 3 || (weights != 0 && (w == NULL || w->rank != x->rank)))
    return cleave_onnx_node_fail (node, error, "its operands have no spatial dimensions");
  window->n = x->rank - 2;
  if (!read_list (node, "strides", window->n, window->stride, error) ||
      !read_list (node, "dilations", window->n, window->dilation, error) ||
      (weights == 0 && !read_list (node, "kernel_shape", window->n, window->kernel, error)))
    return FALSE;
  for (guint i = 0; i < window->n; i++)
    {
      window->in[i] = x->dim[2 + i];
      if (weights != 0)
        window->kernel[i] = w->dim[2 + i];
      if (window->in[i] > G_MAXINT32 || window->kernel[i] > G_MAXINT32)
        return cleave_onnx_node_fail (node, error, "spatial dimension %u is too large", i);
    }
  return TRUE;
}

/* Removes kernel_shape if it equals the shape of operand `weights`. Fails if kernel_shape
 * differs. */
static gboolean
drop_kernel_shape (CleaveOnnxNode *node, guint weights, GError **error)
{
  g_autoptr (CleaveOnnxAttr) attr = cleave_onnx_node_take (node, "kernel_shape");
  const CleaveShape *w = cleave_onnx_node_operand_shape (node, weights);
  gboolean fits;

  if (attr == NULL || w == NULL)
    return TRUE;
  fits = attr->ints->len + 2 == w->rank;
  for (guint i = 0; fits && i < attr->ints->len; i++)
    fits = g_array_index (attr->ints, gint64, i) == w->dim[2 + i];
  return fits ||
         cleave_onnx_node_fail (node, error, "kernel_shape differs from the shape of its weights");
}

static void
set_pads (CleaveOnnxNode *node, guint n, const gint64 *total, gboolean more_at_end)
{
  gint64 pads[2 * CLEAVE_MAX_RANK];

  for (guint i = 0; i < n; i++)
    {
      pads[i] = more_at_end ? total[i] / 2 : total[i] - total[i] / 2;
      pads[n + i] = total[i] - pads[i];
    }
  cleave_onnx_attr_free (cleave_onnx_node_take (node, "pads"));
  g_ptr_array_add (node->attrs, cleave_onnx_attr_new_ints ("pads", pads, 2 * n));
}

typedef enum { PAD_EXPLICIT, PAD_VALID, PAD_SAME_UPPER, PAD_SAME_LOWER, N_PADS } AutoPad;

static gboolean
take_auto_pad (CleaveOnnxNode *node, AutoPad *mode, GError **error)
{
  static const char *const names[] = { "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER" };
  g_autoptr (CleaveOnnxAttr) attr = cleave_onnx_node_take (node, "auto_pad");

  *mode = PAD_EXPLICIT;
  if (attr == NULL || g_strcmp0 (attr->string, "") == 0)
    return TRUE;
  for (; *mode < N_PADS; (*mode)++)
    if (g_strcmp0 (attr->string, names[*mode]) == 0)
      return TRUE;
  return cleave_onnx_node_fail (node, error, "auto_pad '%s' is not known",
                                attr->string == NULL ? "" : attr->string);
}

/* Replaces auto_pad by pads. For the modes SAME_UPPER and SAME_LOWER, the result has ceil (extent /
 * stride) elements. */
static gboolean
resolve_auto_pad (CleaveOnnxNode *node, guint weights, GError **error)
{
  gint64 total[CLEAVE_MAX_RANK] = { 0 };
  Window window;
  AutoPad mode;

  if (!take_auto_pad (node, &mode, error))
    return FALSE;
  if (mode == PAD_EXPLICIT)
    return TRUE;
  if (!read_window (node, weights, &window, error))
    return FALSE;
  for (guint i = 0; mode != PAD_VALID && i < window.n; i++)
    {
      gint64 out = (window.in[i] + window.stride[i] - 1) / window.stride[i];
      gint64 extent = (window.kernel[i] - 1) * window.dilation[i] + 1;

      total[i] = MAX ((out - 1) * window.stride[i] + extent - window.in[i], 0);
    }
  set_pads (node, window.n, total, mode != PAD_SAME_LOWER);
  return TRUE;
}

gboolean
cleave_onnx_upgrade_conv (CleaveOnnxNode *node, GError **error)
{
  return drop_kernel_shape (node, 1, error) && resolve_auto_pad (node, 1, error);
}

gboolean
cleave_onnx_upgrade_deform_conv (CleaveOnnxNode *node, GError **error)
{
  return drop_kernel_shape (node, 1, error);
}

gboolean
cleave_onnx_upgrade_qlinear_conv (CleaveOnnxNode *node, GError **error)
{
  return drop_kernel_shape (node, 3, error) && resolve_auto_pad (node, 3, error);
}

gboolean
cleave_onnx_upgrade_pool (CleaveOnnxNode *node, GError **error)
{
  return resolve_auto_pad (node, 0, error);
}

/* Sets `out` to the spatial extents of the result of a ConvTranspose. If the attribute output_shape
 * (`attr`) is present, the extents are its last entries: in old files, N and C come first. Without
 * output_shape, the extents are the operand's extents times the strides. */
static gboolean
read_output_shape (const CleaveOnnxNode *node,
                   const CleaveOnnxAttr *attr,
                   const Window *window,
                   gint64 *out,
                   GError **error)
{
  guint skip = attr != NULL && attr->ints->len == window->n + 2 ? 2 : 0;

  if (attr != NULL && attr->ints->len != window->n + skip)
    return cleave_onnx_node_fail (
        node, error, "output_shape has %u entries, but there are %u spatial dimensions",
        attr->ints->len, window->n);
  for (guint i = 0; i < window->n; i++)
    {
      out[i] = attr == NULL ? window->in[i] * window->stride[i]
                            : g_array_index (attr->ints, gint64, skip + i);
      if (attr != NULL && (out[i] < 1 || out[i] > G_MAXINT32))
        return cleave_onnx_node_fail (
            node, error, "output_shape must have entries of at least 1, not %" G_GINT64_FORMAT,
            out[i]);
    }
  return TRUE;
}

/* Sets the pads of a ConvTranspose so that its result has the extents `out`. If `out` is larger
 * than the result without pads, output_padding adds the difference. */
static gboolean
fit_output_shape (
    CleaveOnnxNode *node, const Window *window, const gint64 *out, AutoPad mode, GError **error)
{
  g_autoptr (CleaveOnnxAttr) attr = cleave_onnx_node_take (node, "output_padding");
  gint64 total[CLEAVE_MAX_RANK] = { 0 }, added[CLEAVE_MAX_RANK] = { 0 };

  if (attr != NULL && attr->ints->len != window->n)
    return cleave_onnx_node_fail (
        node, error, "output_padding has %u entries, but there are %u spatial dimensions",
        attr->ints->len, window->n);
  for (guint i = 0; i < window->n; i++)
    {
      added[i] = attr == NULL ? 0 : g_array_index (attr->ints, gint64, i);
      if (added[i] < 0 || added[i] > G_MAXINT32)
        return cleave_onnx_node_fail (
            node, error, "output_padding must have entries of at least 0, not %" G_GINT64_FORMAT,
            added[i]);
      total[i] = window->stride[i] * (window->in[i] - 1) + added[i] +
                 (window->kernel[i] - 1) * window->dilation[i] + 1 - out[i];
      added[i] += MAX (-total[i], 0);
      total[i] = MAX (total[i], 0);
    }
  g_ptr_array_add (node->attrs, cleave_onnx_attr_new_ints ("output_padding", added, window->n));
  set_pads (node, window->n, total, mode == PAD_SAME_UPPER);
  return TRUE;
}

gboolean
cleave_onnx_upgrade_conv_transpose (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) shape = cleave_onnx_node_take (node, "output_shape");
  gint64 out[CLEAVE_MAX_RANK], none[CLEAVE_MAX_RANK] = { 0 };
  Window window;
  AutoPad mode;

  if (!drop_kernel_shape (node, 1, error) || !take_auto_pad (node, &mode, error))
    return FALSE;
  if (shape != NULL && shape->ints->len == 0)
    g_clear_pointer (&shape, cleave_onnx_attr_free);
  if (shape == NULL && mode == PAD_EXPLICIT)
    return TRUE;
  if (!read_window (node, 1, &window, error))
    return FALSE;
  if (shape == NULL && mode == PAD_VALID)
    {
      set_pads (node, window.n, none, TRUE);
      return TRUE;
    }
  return read_output_shape (node, shape, &window, out, error) &&
         fit_output_shape (node, &window, out, mode, error);
}
