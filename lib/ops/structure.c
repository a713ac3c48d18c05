/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Input, Constant and Assemble: the nodes that give a graph its structure. */

#include "../ir/text.h"

#include "build.h"

static void
print_nothing (gconstpointer attrs, GString *out)
{
}

/* Input */

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

/* Constant */

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

/* Assemble */

static const CleaveRange *
part_range (const CleaveAssembleAttrs *a, guint part)
{
  return &g_array_index (a->ranges, CleaveRange, part);
}

/* The part, its element type and shape, fits the place that its range gives it. */
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

/* The parts that meet the chunk stay, clipped to it and moved with it. */
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

/* Parts that overlap hold equal values there, so their order does not matter. */
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
 * @name: (nullable): name of the node, made unique
 * @parts: (array length=n_parts): the parts, all of one element type and rank
 * @ranges: (array length=n_parts): which range of the result each part is; its extents are the
 * part's shape
 * @n_parts: how many, at least 1
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds an Assemble: the pieces of a value become that value again.
 *
 * The result reaches from 0 to the largest end of the ranges in each dimension.  The ranges must
 * cover it; where they overlap, the parts must hold equal values, which is not checked.  It can be
 * split along every dimension.
 *
 * The check of the cover takes linear time if the ranges are a grid, else up to quadratic in
 * @n_parts.
 *
 * Fails with %CLEAVE_ERROR_SHAPE if a part does not fit its range or a range is missing (the
 * message says which), with %CLEAVE_ERROR_ELEMENT_TYPE if the parts differ in it, and with
 * %CLEAVE_ERROR_ATTRIBUTE if a range is broken; the graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
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
