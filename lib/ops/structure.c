/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Input, Constant and Assemble: the ops that ONNX does not have as nodes. */

#include "../ir/text.h"

#include "build.h"

static void
print_nothing (gconstpointer attrs, GString *out)
{
}

/* The code below defines the op Input. */

static gboolean
infer_input (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveInputAttrs *a = call->attrs;

  results[0] = a->type;
  return cleave_tensor_type_check (&a->type, error);
}

static const CleaveAttr input_attrs[] = {
  { "type", CLEAVE_ATTR_TYPE, CLEAVE_FIELD (CleaveInputAttrs, type),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};

static const char *const no_operands[] = { NULL };
static const char *const value_results[] = { "value", NULL };

const CleaveOp cleave_op_input = {
  .name = "Input",
  .operands = no_operands,
  .results = value_results,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveInputAttrs),
  .attrs = input_attrs,
  .infer = infer_input,
  .print = print_nothing,
};

/* The code below defines the op Constant. */

static gboolean
infer_constant (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveConstantAttrs *a = call->attrs;

  if (a->value == NULL)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "value is missing");
  results[0] = *cleave_tensor_get_type (a->value);
  return TRUE;
}

static void
compute_constant (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveConstantAttrs *a = call->attrs;
  CleaveView value = cleave_view_tensor (a->value);

  cleave_view_copy (&results[0], &value);
}

static const CleaveAttr constant_attrs[] = {
  { "value", CLEAVE_ATTR_TENSOR, CLEAVE_FIELD (CleaveConstantAttrs, value),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};

const CleaveOp cleave_op_constant = {
  .name = "Constant",
  .operands = no_operands,
  .results = value_results,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveConstantAttrs),
  .attrs = constant_attrs,
  .infer = infer_constant,
  .print = print_nothing,
  .compute = compute_constant,
};

/* The code below defines the op Assemble. */

static const CleaveRange *
part_range (const CleaveAssembleAttrs *a, guint part)
{
  return &g_array_index (a->ranges, CleaveRange, part);
}

/* Checks that the element type and shape of a part match its range. */
static gboolean
check_part (const CleaveCall *call, guint part, GError **error)
{
  const CleaveRange *range = part_range (call->attrs, part);
  const CleaveTensorType *type = &call->operands[part];
  g_autofree char *text = NULL, *shape = NULL;
  gboolean is_range = TRUE;
  CleaveShape place;

  if (!cleave_range_is_legal (range))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "range %u has rank %u, more than %d", part,
                        range->rank, CLEAVE_MAX_RANK);
  place = cleave_range_shape (range);
  if (type->element == CLEAVE_NONE)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "part %u is absent", part);
  if (!cleave_call_check_same_element (call, 0, part, error))
    return FALSE;
  if (range->rank != part_range (call->attrs, 0)->rank)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "range %u has rank %u, the first has %u",
                        part, range->rank, part_range (call->attrs, 0)->rank);
  for (guint d = 0; d < range->rank; d++)
    is_range &= range->dim[d].begin >= 0 && range->dim[d].end >= range->dim[d].begin;
  if (is_range && cleave_shape_equal (&type->shape, &place))
    return TRUE;
  text = cleave_range_to_string (range);
  if (!is_range)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "range %u is %s", part, text);
  shape = cleave_shape_to_string (&type->shape);
  return cleave_fail (error, CLEAVE_ERROR_SHAPE, "part %u is %s, which does not fit its range %s",
                      part, shape, text);
}

static gboolean
infer_assemble (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveAssembleAttrs *a = call->attrs;
  guint n_ranges = a->ranges == NULL ? 0 : a->ranges->len;
  CleaveRange whole, missing;

  if (n_ranges != call->n_operands || n_ranges == 0)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%u ranges for %u parts", n_ranges,
                        call->n_operands);
  for (guint i = 0; i < n_ranges; i++)
    if (!check_part (call, i, error))
      return FALSE;

  whole = *part_range (a, 0);
  for (guint i = 0; i < n_ranges; i++)
    for (guint d = 0; d < whole.rank; d++)
      whole.dim[d] = (CleaveSpan){ 0, MAX (whole.dim[d].end, part_range (a, i)->dim[d].end) };
  if (!cleave_ranges_cover (part_range (a, 0), n_ranges, &whole, &missing))
    {
      g_autofree char *text = cleave_range_to_string (&missing);

      return cleave_fail (error, CLEAVE_ERROR_SHAPE, "no part covers %s", text);
    }
  results[0] = (CleaveTensorType){ call->operands[0].element, cleave_range_shape (&whole) };
  return TRUE;
}

static void
maps_assemble (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveRange *range = part_range (call->attrs, operand);

  for (guint d = 0; d < range->rank; d++)
    map[d] = cleave_dim_map_offset (d, -range->dim[d].begin);
}

/* Sets the ranges of a piece: the ranges of the parts that overlap the chunk, clipped to the chunk,
 * and relative to the begin of the chunk. */
static gboolean
narrow_assemble (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveAssembleAttrs *a = attrs;
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  for (guint i = 0; i < call->n_operands; i++)
    {
      CleaveRange part = cleave_range_intersect (part_range (a, i), &chunk->range);

      if (cleave_range_is_empty (&chunk->slices[i].range))
        continue;
      part = cleave_range_relative (&part, &chunk->range);
      g_array_append_val (ranges, part);
    }
  g_array_unref (a->ranges);
  a->ranges = ranges;
  return TRUE;
}

static void
print_assemble (gconstpointer attrs, GString *out)
{
  const CleaveAssembleAttrs *a = attrs;

  for (guint i = 0; i < a->ranges->len; i++)
    {
      g_autofree char *text = cleave_range_to_string (part_range (a, i));

      g_string_append_printf (out, " %s", text);
    }
}

static gboolean
parse_assemble (const char *text, gpointer attrs, GError **error)
{
  g_autofree char *ranges = g_strdelimit (g_strdup (text), " ", '/');

  ((CleaveAssembleAttrs *) attrs)->ranges = cleave_text_to_ranges ("Assemble", ranges, error);
  return ((CleaveAssembleAttrs *) attrs)->ranges != NULL;
}

/* Copies the parts. Where parts overlap, their values are equal, so the order does not matter. */
static void
compute_assemble (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  for (guint i = 0; i < call->n_operands; i++)
    {
      CleaveView place = cleave_view_slice (&results[0], part_range (call->attrs, i));

      cleave_view_copy (&place, &operands[i]);
    }
}

static const CleaveAttr assemble_attrs[] = {
  { "ranges", CLEAVE_ATTR_RANGES, CLEAVE_FIELD (CleaveAssembleAttrs, ranges),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};

const CleaveOp cleave_op_assemble = {
  .name = "Assemble",
  .operands = (const char *const[]){ "part", NULL },
  .results = (const char *const[]){ "whole", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_NOT_ONNX | CLEAVE_OP_VARIADIC | CLEAVE_OP_JOIN,
  .attrs_size = sizeof (CleaveAssembleAttrs),
  .attrs = assemble_attrs,
  .infer = infer_assemble,
  .maps = maps_assemble,
  .work = cleave_work_once,
  .narrow = narrow_assemble,
  .print = print_assemble,
  .parse = parse_assemble,
  .compute = compute_assemble,
};

/**
 * cleave_graph_add_assemble:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `assemble`
 * @parts: (array length=n_parts): the parts, with the same element type and rank
 * @ranges: (array length=n_parts): the range of the result that each part fills; its extents are
 * the extents of the part
 * @n_parts: number of parts, at least 1
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds an Assemble, which joins parts to one value.
 *
 * In each dimension, the result has the indices from 0 to the largest end of the ranges. The ranges
 * must cover the result. Where ranges overlap, the parts must have the same values, which is not
 * checked. The result can be split along each dimension.
 *
 * Checking that the ranges cover the result takes linear time if they are a grid, otherwise up to
 * quadratic time in @n_parts.
 *
 * Fails with %CLEAVE_ERROR_SHAPE if a part does not match its range, or if no part covers a range,
 * which the message names. Fails with %CLEAVE_ERROR_ELEMENT_TYPE if the element types of the parts
 * differ, and with %CLEAVE_ERROR_ATTRIBUTE if a range is not legal. The graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_assemble (CleaveGraph *graph,
                           const char *name,
                           CleaveResult *const *parts,
                           const CleaveRange *ranges,
                           guint n_parts,
                           GError **error)
{
  g_return_val_if_fail ((parts != NULL && ranges != NULL) || n_parts == 0, NULL);
  g_autoptr (GArray) array = g_array_sized_new (FALSE, FALSE, sizeof (CleaveRange), n_parts);
  CleaveAssembleAttrs attrs = { array };

  g_return_val_if_fail (n_parts > 0, NULL);
  g_array_append_vals (array, ranges, n_parts);
  return cleave_build (graph, &cleave_op_assemble, name, parts, n_parts, &attrs, error);
}
