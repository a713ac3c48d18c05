/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes a node of the graph as an ONNX node, using the op record's table of attributes. */

#include "export.h"

#include <math.h>
#include <string.h>

#include "../../ir/graph-private.h"
#include "../winograd.h"

#define NO_OPERAND G_MAXUINT

/* Returns the index of the ONNX operand for an attribute of our op. Returns NO_OPERAND if this is
 * an attribute in ONNX as well. */
static guint
find_operand (const CleaveOnnxExport *export, const CleaveOp *op, const CleaveAttr *attr)
{
  const CleaveOnnxChange *change = cleave_onnx_find_change (export->opset, op, attr);

  if (change != NULL && change->operand != 0)
    return change->operand;
  return attr->onnx_operand != 0 || (attr->flags & CLEAVE_ATTR_OPERAND_0) != 0 ? attr->onnx_operand
                                                                               : NO_OPERAND;
}

/* Returns whether our op record has an attribute in place of operand `operand` of ONNX. */
static gboolean
is_attr (const CleaveOnnxExport *export, const CleaveOp *op, guint operand)
{
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (find_operand (export, op, attr) == operand)
      return TRUE;
  return FALSE;
}

/* Returns the names of the operands of the ONNX node. An attribute of our op that is an operand in
 * ONNX takes its index in ONNX. The operands of our op take the remaining indices in order. */
static GPtrArray *
list_operands (CleaveOnnxExport *export, const CleaveNode *node, gconstpointer attrs)
{
  GPtrArray *names = export->operands;
  guint at = 0;

  g_ptr_array_set_size (names, 0);
  for (const CleaveAttr *attr = node->op->attrs; attr != NULL && attr->name != NULL; attr++)
    {
      g_autofree char *name = NULL;
      const char *known;
      guint index = find_operand (export, node->op, attr);

      if (index == NO_OPERAND)
        continue;
      name = g_strdup_printf ("%s.%s", node->name, attr->name);
      known = cleave_onnx_origin_get_operand (export->origin, node->name, attr->name);
      if (names->len <= index)
        g_ptr_array_set_size (names, (int) index + 1);
      if (!cleave_onnx_attr_is_absent (attr, attrs))
        names->pdata[index] =
            (gpointer) (known == NULL
                            ? cleave_onnx_add_small (export, name,
                                                     cleave_onnx_attr_to_tensor (node, attr, attrs))
                            : cleave_onnx_add_named (
                                  export, known, cleave_onnx_attr_to_tensor (node, attr, attrs)));
    }
  for (guint i = 0; i < node->n_operands; i++, at++)
    {
      while (is_attr (export, node->op, at))
        at++;
      if (names->len <= at)
        g_ptr_array_set_size (names, (int) at + 1);
      if (node->operands[i].result != NULL)
        names->pdata[at] = (gpointer) cleave_onnx_result_name (export, node->operands[i].result);
    }
  return names;
}

static GPtrArray *
list_results (CleaveOnnxExport *export, const CleaveNode *node)
{
  GPtrArray *names = export->results;

  g_ptr_array_set_size (names, 0);
  for (guint i = 0; i < node->n_results; i++)
    g_ptr_array_add (names, (gpointer) cleave_onnx_result_name (export, &node->results[i]));
  return names;
}

static void
write_node (CleaveOnnxExport *export,
            const CleaveNode *node,
            gconstpointer attrs,
            const GPtrArray *operands,
            const GPtrArray *results)
{
  Onnx__NodeProto *proto = cleave_onnx_add_node (
      export, node->op->name, node->name, (const char *const *) operands->pdata, operands->len,
      (const char *const *) results->pdata, results->len);
  g_autofree char *doc = cleave_onnx_dup_doc_with_winograd (node, proto->doc_string);

  if (doc != NULL)
    proto->doc_string = cleave_pool_strdup (export->pool, doc);
  for (const CleaveAttr *attr = node->op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (find_operand (export, node->op, attr) == NO_OPERAND &&
        (attr->flags & CLEAVE_ATTR_NOT_ONNX) == 0)
      {
        const CleaveOnnxChange *change = cleave_onnx_find_change (export->opset, node->op, attr);
        CleaveAttr written = *attr;

        if (change != NULL && change->words != NULL)
          written.names = change->words;
        cleave_onnx_write_attr (proto, &written, attrs);
      }
}

/* Returns a new name for a value between several ONNX nodes that compute one node of the graph. */
static const char *
inner_name (CleaveOnnxExport *export, const CleaveNode *node, const char *suffix)
{
  g_autofree char *name = g_strconcat (node->name, suffix, NULL);

  return cleave_onnx_name_value (export, name);
}

/* Adds a Transpose to or from NCHW, the only layout of ONNX. A node with the layout NHWC stands
 * between two Transposes, each with a name that no other node has. */
static void
add_transpose (CleaveOnnxExport *export,
               const char *name,
               const char *from,
               const char *to,
               guint rank,
               gboolean channels_first)
{
  gint64 perm[CLEAVE_MAX_RANK] = { 0 };

  for (guint d = 1; d < rank; d++)
    if (channels_first)
      perm[d] = d == 1 ? rank - 1 : d - 1;
    else
      perm[d] = d == rank - 1 ? 1 : d + 1;
  cleave_onnx_add_ints (cleave_onnx_add_node (export, "Transpose", name, &from, 1, &to, 1), "perm",
                        perm, rank);
}

static gboolean
export_channels_last (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  GPtrArray *operands = list_operands (export, node, node->attrs);
  GPtrArray *results = list_results (export, node);
  const char *x = operands->pdata[0], *y = results->pdata[0];
  guint rank = node->results[0].type.shape.rank;

  for (guint i = 1; i < node->n_results; i++)
    if (node->results[i].n_uses > 0)
      return cleave_fail (error, CLEAVE_ERROR_MODEL,
                          "%s '%s': its result %s has no form in ONNX with the layout NHWC",
                          node->op->name, node->name, cleave_op_result_name (node->op, i));
  g_ptr_array_set_size (results, 1);
  operands->pdata[0] = (gpointer) inner_name (export, node, ".nchw");
  results->pdata[0] = (gpointer) inner_name (export, node, ".y");
  add_transpose (export, operands->pdata[0], x, operands->pdata[0], rank, TRUE);
  write_node (export, node, node->attrs, operands, results);
  add_transpose (export, inner_name (export, node, ".nhwc"), results->pdata[0], y, rank, FALSE);
  return TRUE;
}

/* Writes a node with the attributes `attrs` and a result of the shape `whole`, and then a Slice
 * that returns the range `part` of this result. Returns TRUE. */
static gboolean
write_part (CleaveOnnxExport *export,
            const CleaveNode *node,
            gconstpointer attrs,
            const GPtrArray *operands,
            const CleaveShape *whole,
            const CleaveRange *part)
{
  GPtrArray *results = list_results (export, node);
  const char *to = results->pdata[0];

  results->pdata[0] = (gpointer) inner_name (export, node, ".whole");
  write_node (export, node, attrs, operands, results);
  cleave_onnx_add_slice (export, node->name, results->pdata[0], whole, part, to);
  return TRUE;
}

/* The functions below write a piece of a Resize with a `phase`, the index of its first element in
 * the whole result. ONNX has no such attribute, so the file has the whole Resize and a Slice. */

/* Changes `a` to the attributes of the whole Resize, and `whole` to the shape of its result. If
 * each scale is the quotient of two extents, removes `scales` from `a`; if not, removes `sizes`. */
static void
make_whole (const CleaveNode *node, CleaveResizeAttrs *a, CleaveShape *whole)
{
  const CleaveShape *x = &node->operands[0].result->type.shape;
  gboolean by_sizes = TRUE;

  *whole = node->results[0].type.shape;
  for (guint d = 0; d < x->rank; d++)
    if (a->scales.v[d] == floor (a->scales.v[d]))
      whole->dim[d] = x->dim[d] * (gint64) a->scales.v[d];
    else if (a->scales.v[d] != (double) whole->dim[d] / (double) x->dim[d])
      by_sizes = FALSE;
  a->phase.n = 0;
  if (by_sizes)
    a->scales.n = 0;
  else
    a->sizes.n = 0;
  for (guint d = 0; d < a->sizes.n; d++)
    a->sizes.v[d] = whole->dim[d];
}

static gboolean
export_phase (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  CleaveResizeAttrs attrs = *(const CleaveResizeAttrs *) node->attrs;
  CleaveRange range = cleave_range_whole (&node->results[0].type.shape);
  CleaveShape whole;

  if (attrs.begin.n > 0)
    {
      cleave_onnx_export_resize_part (export, node);
      return TRUE;
    }
  for (guint d = 0; d < range.rank; d++)
    {
      range.dim[d].begin += cleave_ints_at (&attrs.phase, d, 0);
      range.dim[d].end += cleave_ints_at (&attrs.phase, d, 0);
    }
  make_whole (node, &attrs, &whole);
  return write_part (export, node, &attrs, list_operands (export, node, &attrs), &whole, &range);
}

/* Writes a OneHot with a part of the depth as a OneHot with the whole depth, and a Slice. */
static gboolean
export_part (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  CleaveOneHotAttrs attrs = *(const CleaveOneHotAttrs *) node->attrs;
  CleaveShape whole = node->results[0].type.shape;
  CleaveRange range = cleave_range_whole (&whole);

  whole.dim[attrs.axis] = attrs.depth;
  range.dim[attrs.axis] = (CleaveSpan){ attrs.part.v[0], attrs.part.v[1] };
  return write_part (export, node, &attrs, list_operands (export, node, &attrs), &whole, &range);
}

/* Writes a piece of a MaxPool: a MaxPool, and nodes that convert the indices of the piece. */
static gboolean
export_whole (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  GPtrArray *operands = list_operands (export, node, node->attrs);
  GPtrArray *results = list_results (export, node);
  const char *to = node->results[1].n_uses > 0 ? results->pdata[1] : NULL, *from = NULL;

  g_ptr_array_set_size (results, 1);
  if (to != NULL)
    g_ptr_array_add (results, (gpointer) (from = inner_name (export, node, ".indices")));
  write_node (export, node, node->attrs, operands, results);
  if (to != NULL)
    cleave_onnx_export_indices (export, node, from, to);
  return TRUE;
}

/* A piece of a DeformConv may have negative pads, which ONNX lacks. The file has a larger
 * DeformConv, with offsets and a mask that are padded with zeros, and a Slice of its result. */

/* Changes the pads of the piece, in `a`, to the pads of the larger DeformConv. Sets `outside` to
 * the numbers of positions that the larger result has before the piece in each spatial dimension,
 * then to the numbers after the piece. */
static void
make_outside (const CleaveNode *node, CleaveDeformConvAttrs *a, gint64 *outside)
{
  guint n = node->results[0].type.shape.rank - 2;

  for (guint i = 0; i < 2 * n; i++)
    {
      gint64 stride = cleave_ints_at (&a->strides, i % n, 1);

      outside[i] = a->pads.v[i] >= 0 ? 0 : (stride - 1 - a->pads.v[i]) / stride;
      a->pads.v[i] += outside[i] * stride;
    }
}

static const char *
add_outside (CleaveOnnxExport *export,
             const CleaveNode *node,
             guint operand,
             const gint64 *outside,
             const char *suffix)
{
  guint rank = node->results[0].type.shape.rank, n = rank - 2;
  gint64 pads[2 * CLEAVE_MAX_RANK] = { 0 };
  const char *to,
      *operands[2] = { cleave_onnx_result_name (export, node->operands[operand].result) };
  g_autofree char *name = g_strconcat (node->name, suffix, NULL);

  memcpy (pads + 2, outside, n * sizeof *pads);
  memcpy (pads + rank + 2, outside + n, n * sizeof *pads);
  operands[1] = cleave_onnx_add_list (export, "pads", pads, 2 * rank);
  to = cleave_onnx_name_value (export, name);
  cleave_onnx_add_node (export, "Pad", name, operands, 2, &to, 1);
  return to;
}

static gboolean
export_inside (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  CleaveDeformConvAttrs attrs = *(const CleaveDeformConvAttrs *) node->attrs;
  GPtrArray *operands;
  const char *offset, *mask = NULL;
  gint64 outside[2 * CLEAVE_MAX_RANK] = { 0 };
  CleaveShape whole = node->results[0].type.shape;
  CleaveRange range = cleave_range_whole (&whole);
  guint n = whole.rank - 2;

  make_outside (node, &attrs, outside);
  for (guint i = 0; i < n; i++)
    {
      range.dim[2 + i].begin += outside[i];
      range.dim[2 + i].end += outside[i];
      whole.dim[2 + i] += outside[i] + outside[n + i];
    }
  offset = add_outside (export, node, 2, outside, ".offset");
  if (node->n_operands > 4 && node->operands[4].result != NULL)
    mask = add_outside (export, node, 4, outside, ".mask");
  operands = list_operands (export, node, &attrs);
  operands->pdata[2] = (gpointer) offset;
  if (mask != NULL)
    operands->pdata[4] = (gpointer) mask;
  return write_part (export, node, &attrs, operands, &whole, &range);
}

/* Writes an ONNX node of the same op. A Winograd Conv also gets a line in its doc string. */
static gboolean
export_plainly (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  const char *indices = cleave_onnx_export_local_indices (export, node);
  GPtrArray *operands = list_operands (export, node, node->attrs);
  GPtrArray *results = list_results (export, node);

  if (indices != NULL)
    operands->pdata[1] = (gpointer) indices;
  write_node (export, node, node->attrs, operands, results);
  return TRUE;
}

/* The functions that write nodes with attributes, or values of attributes, that ONNX lacks. */
static const struct
{
  const char *attr;
  gboolean (*export) (CleaveOnnxExport *export, const CleaveNode *node, GError **error);
} own_attrs[] = {
  { "layout", export_channels_last }, { "pads", export_inside }, { "part", export_part },
  { "phase", export_phase },          { "whole", export_whole }, { "winograd", export_plainly },
};

static gboolean
is_own (const CleaveAttr *attr, gconstpointer attrs)
{
  const CleaveInts *list = cleave_attr_const_field (attr, attrs);

  if ((attr->flags & CLEAVE_ATTR_NOT_ONNX) != 0)
    return !cleave_attr_is_default (attr, attrs);
  for (guint i = 0; (attr->flags & CLEAVE_ATTR_NOT_BELOW_0) != 0 && i < list->n; i++)
    if (list->v[i] < 0)
      return TRUE;
  return FALSE;
}

static gboolean
export_own (CleaveOnnxExport *export,
            const CleaveNode *node,
            const CleaveAttr *attr,
            GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (own_attrs); i++)
    if (strcmp (own_attrs[i].attr, attr->name) == 0)
      return own_attrs[i].export(export, node, error);
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s': %s has no form in ONNX", node->op->name,
                      node->name, attr->name);
}

gboolean
cleave_onnx_export_node (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  if (node->op == export->assemble)
    {
      cleave_onnx_export_assemble (export, node);
      return TRUE;
    }
  if (node->op == export->custom)
    return cleave_onnx_export_custom (export, node, error);
  if ((node->op->flags & CLEAVE_OP_NOT_ONNX) != 0)
    return cleave_onnx_export_refuse (node, error);
  for (const CleaveAttr *attr = node->op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (is_own (attr, node->attrs))
      return export_own (export, node, attr, error);
  return export_plainly (export, node, error);
}
