/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts splits and joins of DirectML, whose calls give the type of each part. Checks all
 * types. */

#include <cleave/cleave-frameworks.h>

#include "split-sizes.h"

/* Checks that a part has the element type, rank and extents of the whole, except for the extent of
 * the axis. */
static gboolean
check_part (const CleaveTensorType *whole,
            const CleaveTensorType *part,
            const char *what,
            guint index,
            guint axis,
            GError **error)
{
  if (!cleave_tensor_type_is_legal (part))
    return cleave_fail (error, CLEAVE_ERROR_ELEMENT_TYPE, "%s %u has no legal type", what, index);
  if (part->element != whole->element)
    return cleave_fail (error, CLEAVE_ERROR_ELEMENT_TYPE, "%s %u must be of %s, not %s", what,
                        index, cleave_element_get_name (whole->element),
                        cleave_element_get_name (part->element));
  if (part->shape.rank != whole->shape.rank)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "%s %u must have %u dimensions, not %u", what,
                        index, whole->shape.rank, part->shape.rank);
  for (guint d = 0; d < whole->shape.rank; d++)
    {
      gint64 expected = whole->shape.dim[d], came = part->shape.dim[d];

      if (came == 0 || (d == axis && came < 0))
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "%s %u must have at least 1 in dimension %u, not %" G_GINT64_FORMAT,
                            what, index, d, came);
      if (d != axis && came != expected)
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "%s %u must have %" G_GINT64_FORMAT
                            " in dimension %u, not %" G_GINT64_FORMAT,
                            what, index, expected, d, came);
    }
  return TRUE;
}

/* Checks the parts of a split or join and returns their sizes along the axis. */
static CleaveSplitAttrs *
from_directml (const CleaveTensorType *whole,
               const CleaveTensorType *parts,
               guint n_parts,
               const char *what,
               guint axis,
               GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (gint64));

  if (!cleave_split_check_shape (&whole->shape, error))
    return NULL;
  if (axis >= whole->shape.rank)
    cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                 "Axis must be between 0 and %u for %u dimensions, not %u", whole->shape.rank - 1,
                 whole->shape.rank, axis);
  else if (n_parts == 0)
    cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "at least one %s is needed, not 0", what);
  if (axis >= whole->shape.rank || n_parts == 0)
    return NULL;
  for (guint i = 0; i < n_parts; i++)
    {
      if (!check_part (whole, &parts[i], what, i, axis, error))
        return NULL;
      g_array_append_val (sizes, parts[i].shape.dim[axis]);
    }
  return cleave_split_make (&whole->shape, "sizes", axis, (const gint64 *) sizes->data, n_parts,
                            error);
}

/**
 * cleave_split_op_from_directml:
 * @input: type of the value to split
 * @outputs: (array length=output_count): types of the results
 * @output_count: number of results
 * @axis: the dimension, from 0 on
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Split from a DML_SPLIT_OPERATOR_DESC of DirectML, which states the type
 * of each result.
 *
 * Fails with
 *
 * - %CLEAVE_ERROR_ELEMENT_TYPE if a result has another element type than @input;
 * - %CLEAVE_ERROR_SHAPE if a result has another rank than @input, another extent in a dimension
 *   other than @axis, or an extent of 0;
 * - %CLEAVE_ERROR_ATTRIBUTE if @axis is out of range, if there is no result, or if the extents
 *   along the axis do not add up to the extent of @input.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 *
 * Since: 0.1
 */
CleaveSplitAttrs *
cleave_split_op_from_directml (const CleaveTensorType *input,
                               const CleaveTensorType *outputs,
                               guint output_count,
                               guint axis,
                               GError **error)
{
  g_return_val_if_fail (
      cleave_tensor_type_is_legal (input) && (outputs != NULL || output_count == 0), NULL);
  return cleave_split_name_call (
      "DirectML Split", from_directml (input, outputs, output_count, "output", axis, error), error);
}

/**
 * cleave_concat_op_from_directml_join:
 * @inputs: (array length=input_count): types of the operands
 * @input_count: number of operands
 * @output: type of the result
 * @axis: the dimension along which @inputs are concatenated, from 0 on
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Concat from a DML_JOIN_OPERATOR_DESC of DirectML.
 *
 * Fails as `cleave_split_op_from_directml()` does, with the roles of operands and results swapped.
 *
 * Returns: (transfer full) (nullable): attributes for a Concat node, to be freed with
 * [func@GLib.free], or %NULL on error
 *
 * Since: 0.1
 */
CleaveAxisAttrs *
cleave_concat_op_from_directml_join (const CleaveTensorType *inputs,
                                     guint input_count,
                                     const CleaveTensorType *output,
                                     guint axis,
                                     GError **error)
{
  g_return_val_if_fail (
      (inputs != NULL || input_count == 0) && cleave_tensor_type_is_legal (output), NULL);

  CleaveSplitAttrs *split = cleave_split_name_call (
      "DirectML Join", from_directml (output, inputs, input_count, "input", axis, error), error);
  CleaveAxisAttrs *attrs;

  if (split == NULL)
    return NULL;
  cleave_split_attrs_free (split);
  attrs = g_new0 (CleaveAxisAttrs, 1);
  attrs->axis = axis;
  return attrs;
}
