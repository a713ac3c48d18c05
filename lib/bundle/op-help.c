/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "op-help.h"

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

/* Appends a pair of numbers, one for a dimension that does not exist. */
static gboolean
print_pair (const CleaveNode *node,
            const char *name,
            const gint64 *values,
            guint n,
            gint64 missing,
            GString *fields,
            GError **error)
{
  gint64 pair[2] = { n > 0 ? values[0] : missing, n > 1 ? values[1] : missing };

  for (guint i = 0; i < 2; i++)
    if (pair[i] > G_MAXUINT16)
      return cleave_bundle_fail (node, error,
                                 "a bundle needs %s of at most %d, but one is %" G_GINT64_FORMAT,
                                 name, G_MAXUINT16, pair[i]);
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
  g_string_append_printf (fields,
                          ".slide = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT, image.rows,
                          image.columns);
  if (!print_pair (node, "kernel extents", kernel, n, 1, fields, error) ||
      !print_pair (node, "strides", steps, n, 1, fields, error) ||
      !print_pair (node, "dilations", gaps, n, 1, fields, error) ||
      !print_pair (node, "pads", before, n, 0, fields, error))
    return FALSE;
  g_string_append (fields, " }");
  return TRUE;
}
