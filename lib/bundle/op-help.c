/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks of operands, and functions that print C initializers (op-help.h). */

#include "op-help.h"

#include <math.h>
#include <string.h>

#include "../ops/reference.h"

gboolean
cleave_bundle_fail (const CleaveNode *node, GError **error, const char *format, ...)
{
  g_autofree char *why = NULL;
  va_list args;

  va_start (args, format);
  why = g_strdup_vprintf (format, args);
  va_end (args);
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s': %s", node->op->name, node->name, why);
}

gboolean
cleave_bundle_need_constants (
    const CleaveNode *node, guint first, guint end, const char *names, GError **error)
{
  for (guint i = first; i < MIN (end, node->n_operands); i++)
    {
      const CleaveResult *operand = node->operands[i].result;

      if (operand != NULL && cleave_node_get_constant (operand->node) == NULL)
        return cleave_bundle_fail (node, error,
                                   "a bundle needs constant %s, but '%s' is computed at run time; "
                                   "fix the input with --fix, or compute this node outside",
                                   names, operand->node->name);
    }
  return TRUE;
}

gint64
cleave_bundle_integer (const CleaveNode *node, guint operand, gint64 i)
{
  const char *data = cleave_bundle_constant (node, operand);
  const CleaveTensorType *type;

  if (data == NULL)
    return 0;
  type = &node->operands[operand].result->type;
  if (cleave_shape_n_elements (&type->shape) == 1)
    i = 0;
  return cleave_integer_load (type->element,
                              data + i * (gint64) cleave_element_size (type->element));
}

gint
cleave_bundle_shift (gint64 shift)
{
  return shift < 0 ? (gint) -shift - 1 : -1 - (gint) shift;
}

gboolean
cleave_bundle_check_multiplier (const CleaveNode *node, gint64 multiplier, GError **error)
{
  if (multiplier >= 0 && multiplier <= G_MAXINT32)
    return TRUE;
  return cleave_bundle_fail (node, error,
                             "a bundle needs multipliers of 0 to %d, but one is %" G_GINT64_FORMAT,
                             G_MAXINT32, multiplier);
}

/* Appends a field with two numbers, for rows and columns: the first `n` of `values`, and `missing`
 * for each dimension after them. Fails if a number does not fit into 16 bits. */
static gboolean
print_pair (const CleaveNode *node,
            const char *name,
            const gint64 *values,
            guint n,
            gint64 missing,
            CleaveBundleLayer *layer,
            GString *fields,
            GError **error)
{
  gint64 pair[2] = { n > 0 ? values[0] : missing, n > 1 ? values[1] : missing };

  for (guint i = 0; i < 2; i++)
    if (pair[i] > G_MAXUINT16)
      return cleave_bundle_fail (node, error,
                                 "a bundle needs %s of at most %d, but one is %" G_GINT64_FORMAT,
                                 name, G_MAXUINT16, pair[i]);
  if (MAX (pair[0], pair[1]) > G_MAXUINT8)
    cleave_bundle_layer_set_wide (layer);
  g_string_append_printf (fields, ", { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " }", pair[0],
                          pair[1]);
  return TRUE;
}

gboolean
cleave_bundle_print_slide (const CleaveNode *node,
                           const gint64 *kernel,
                           const CleaveInts *strides,
                           const CleaveInts *dilations,
                           const CleaveInts *pads,
                           CleaveBundleLayer *layer,
                           GString *fields,
                           GError **error)
{
  const CleaveResult *x = node->operands[0].result;
  CleaveBundleImage image = cleave_bundle_image (x);
  guint n = x->type.shape.rank - 2;
  gint64 steps[2] = { cleave_ints_at (strides, 0, 1), n < 2 ? 1 : cleave_ints_at (strides, 1, 1) };
  gint64 gaps[2] = { cleave_ints_at (dilations, 0, 1),
                     n < 2 ? 1 : cleave_ints_at (dilations, 1, 1) };
  gint64 before[2] = { cleave_ints_at (pads, 0, 0), n < 2 ? 0 : cleave_ints_at (pads, 1, 0) };

  if (n < 1 || n > 2)
    return cleave_bundle_fail (node, error,
                               "a bundle needs one or two spatial dimensions, but '%s' has %u",
                               x->node->name, n);
  g_string_append_printf (fields, ".slide = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT, image.rows,
                          image.columns);
  if (!print_pair (node, "kernel extents", kernel, n, 1, layer, fields, error) ||
      !print_pair (node, "strides", steps, n, 1, layer, fields, error) ||
      !print_pair (node, "dilations", gaps, n, 1, layer, fields, error) ||
      !print_pair (node, "pads", before, n, 0, layer, fields, error))
    return FALSE;
  g_string_append (fields, " }");
  return TRUE;
}

gboolean
cleave_bundle_need_element (const CleaveNode *node,
                            guint operand,
                            CleaveElement element,
                            GError **error)
{
  CleaveElement found = node->operands[operand].result->type.element;

  if (found == element)
    return TRUE;
  return cleave_bundle_fail (node, error, "a bundle has no kernel for operands of %s",
                             cleave_element_get_name (found));
}

/* Returns the C type of arrays with elements of type `element`. */
static const char *
array_type (CleaveElement element)
{
  gsize size = cleave_element_size (element);

  if (element == CLEAVE_FLOAT32)
    return "float";
  return size == 8 ? "int64_t" : size == 4 ? "int32_t" : size == 2 ? "int16_t" : "int8_t";
}

/* Returns a copy of a constant in the memory order of the result's images. The caller frees it. */
static gpointer
copy_constant (const CleaveNode *node, guint operand, const gint64 *extents, const gint *dims)
{
  const CleaveTensorType *type = &node->operands[operand].result->type;
  gint missing = (gint) node->results[0].type.shape.rank - (gint) type->shape.rank;
  CleaveView view = cleave_view_dense (type, (gpointer) cleave_bundle_constant (node, operand));
  CleaveShape shape = CLEAVE_SHAPE (extents[0], extents[1], extents[2]);
  gsize size = cleave_element_size (type->element);
  char *data = g_malloc (size * (gsize) cleave_shape_n_elements (&shape)), *to = data;
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &shape)
    {
      gint64 offset = 0;

      for (guint i = 0; i < 3; i++)
        if (dims[i] >= missing && dims[i] >= 0)
          offset += at[i] * view.stride[dims[i] - missing];
      memcpy (to, cleave_view_element (&view, offset), size);
      to += size;
    }
  return data;
}

static const char *
add_constant (const CleaveNode *node,
              guint operand,
              const gint64 *extents,
              const gint *dims,
              CleaveBundleLayer *layer)
{
  g_autofree gpointer data = copy_constant (node, operand, extents, dims);
  CleaveElement element = node->operands[operand].result->type.element;

  return cleave_bundle_layer_add_array (layer, array_type (element), data,
                                        (gsize) (extents[0] * extents[1] * extents[2]));
}

/* Returns whether the result has several images, all operands have its shape, and one of them is
 * constant. */
static gboolean
is_full_batch (const CleaveNode *node)
{
  gboolean has_constant = FALSE;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (!cleave_shape_equal (&x->type.shape, &node->results[0].type.shape))
        return FALSE;
      has_constant |= cleave_node_get_constant (x->node) != NULL;
    }
  return has_constant && cleave_bundle_image (&node->results[0]).images > 1;
}

/* Appends the C initializer of a CleaveRepeat. `extents`: rows, columns and channels of the
 * operand; an operand repeats its elements along a dimension of extent 1. */
static void
print_repeat (const char *constant,
              const gint64 *extents,
              CleaveBundleLayer *layer,
              GString *fields)
{
  for (guint i = 0; i < 3; i++)
    if (extents[i] > G_MAXUINT16)
      cleave_bundle_layer_set_wide (layer);
  g_string_append_printf (
      fields, "{ %s, %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " }", constant,
      extents[0], extents[1], extents[2]);
}

/* Appends the C initializer of a CleaveRepeat for an operand of a node for which is_full_batch() is
 * TRUE. The kernel reads all images of the batch as one image, which has the rows of all images. */
static void
print_full (const CleaveNode *node, guint operand, CleaveBundleLayer *layer, GString *fields)
{
  const CleaveResult *x = node->operands[operand].result, *y = &node->results[0];
  CleaveBundleImage image = cleave_bundle_image (y);
  gsize size = cleave_element_size (x->type.element);
  gsize n = (gsize) cleave_shape_n_elements (&x->type.shape);
  const char *constant = "NULL";
  gint64 at[CLEAVE_MAX_RANK];

  if (cleave_node_get_constant (x->node) != NULL)
    {
      CleaveView view =
          cleave_view_dense (&x->type, (gpointer) cleave_bundle_constant (node, operand));
      g_autofree char *memory = g_malloc (n * size);

      CLEAVE_EACH_INDEX (at, &x->type.shape)
        memcpy (memory + (gsize) cleave_bundle_offset (&image, &y->type.shape, at) * size,
                cleave_view_at (&view, at), size);
      constant = cleave_bundle_layer_add_array (layer, array_type (x->type.element), memory, n);
    }
  print_repeat (constant, (gint64[]){ image.images * image.rows, image.columns, image.channels },
                layer, fields);
}

gboolean
cleave_bundle_print_operand (const CleaveNode *node,
                             guint operand,
                             CleaveBundleLayer *layer,
                             GString *fields,
                             GError **error)
{
  const CleaveResult *x = node->operands[operand].result;
  const CleaveShape *shape = &x->type.shape;
  gint missing = (gint) node->results[0].type.shape.rank - (gint) shape->rank;
  CleaveBundleImage y = cleave_bundle_image (&node->results[0]), image = cleave_bundle_image (x);
  const gint dims[] = { y.row_dim, y.column_dim, y.channel_dim };
  gboolean is_constant = cleave_node_get_constant (x->node) != NULL;
  gint64 extents[3] = { 1, 1, 1 }, n;

  for (guint i = 0; i < 3; i++)
    if (dims[i] >= missing && dims[i] >= 0)
      extents[i] = shape->dim[dims[i] - missing];
  if (is_full_batch (node))
    {
      cleave_bundle_layer_set_folded (layer);
      print_full (node, operand, layer, fields);
      return TRUE;
    }
  n = extents[0] * extents[1] * extents[2];
  if (is_constant
          ? n != cleave_shape_n_elements (shape)
          : n * image.images != cleave_shape_n_elements (shape) || image.rows != extents[0] ||
                image.columns != extents[1] || image.channels != extents[2])
    return cleave_bundle_fail (node, error,
                               "a bundle has no kernel that repeats '%s' in this way; give it as "
                               "many dimensions as the result",
                               x->node->name);
  print_repeat (is_constant ? add_constant (node, operand, extents, dims, layer) : "NULL", extents,
                layer, fields);
  return TRUE;
}

void
cleave_bundle_set_in_place_if_same (const CleaveNode *node, CleaveBundleLayer *layer)
{
  const CleaveTensorType *y = &node->results[0].type;
  guint n = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (x == NULL || cleave_node_get_constant (x->node) != NULL)
        continue;
      if (cleave_shape_equal (&x->type.shape, &y->shape) &&
          cleave_element_size (x->type.element) == cleave_element_size (y->element))
        cleave_bundle_layer_set_in_place (layer, n);
      n++;
    }
}

void
cleave_bundle_print_float (float value, GString *fields)
{
  if (isnan (value))
    g_string_append (fields, "NAN");
  else if (isinf (value))
    g_string_append (fields, value > 0 ? "INFINITY" : "-INFINITY");
  else
    g_string_append_printf (fields, "%af", (double) value);
}

CleaveTensor *
cleave_bundle_new_integers (const CleaveNode *node)
{
  CleaveTensorType type = { CLEAVE_INT32, node->operands[0].result->type.shape };

  return cleave_tensor_new (&type, NULL);
}

CleaveTensor *
cleave_bundle_run_on (const CleaveNode *node, const CleaveTensor *x)
{
  g_auto (CleaveNodeCall) whole = { 0 };
  CleaveCall call = *cleave_node_call_init (&whole, node);
  g_autofree CleaveTensorType *types = g_memdup2 (call.operands, sizeof *types * call.n_operands);
  g_autofree CleaveView *views = g_new0 (CleaveView, call.n_operands);
  CleaveTensorType y = { CLEAVE_INT32, call.results[0].shape };
  CleaveTensor *result = cleave_tensor_new (&y, NULL);
  CleaveView to = cleave_view_tensor (result);

  types[0].element = CLEAVE_INT32;
  views[0] = cleave_view_tensor (x);
  for (guint i = 1; i < call.n_operands; i++)
    if (cleave_call_has (&call, i))
      views[i] = cleave_view_dense (&types[i], (gpointer) cleave_bundle_constant (node, i));
  call.operands = types;
  call.results = &y;
  node->op->compute (&call, views, &to);
  return result;
}

gboolean
cleave_bundle_pool_has_all_rows (const CleaveNode *node, const CleavePoolAttrs *a)
{
  gint64 rows = cleave_bundle_image (node->operands[0].result).rows;
  gint64 pad = cleave_ints_at (&a->pads, 0, 0);

  return rows > 1 && cleave_bundle_image (&node->results[0]).rows == 1 &&
         cleave_ints_at (&a->dilations, 0, 1) == 1 && a->kernel_shape.v[0] - pad >= rows;
}
