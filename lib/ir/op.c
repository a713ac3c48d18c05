/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Helpers for op records, and properties of a call (CleaveCall): shapes, slices, views, work. */

#include "op.h"

gboolean
cleave_refuse (GString *why, const char *format, ...)
{
  va_list args;

  if (why == NULL)
    return FALSE;
  va_start (args, format);
  g_string_append_vprintf (why, format, args);
  va_end (args);
  return FALSE;
}

/**
 * cleave_op_get_name:
 * @op: an op
 *
 * Returns: (transfer none): the name of the op in ONNX, such as `Conv`
 *
 * Since: 0.1
 */
const char *
cleave_op_get_name (const CleaveOp *op)
{
  g_return_val_if_fail (op != NULL, NULL);
  return op->name;
}

static const char *
name_at (const char *const *names, guint index)
{
  guint n = g_strv_length ((char **) names);

  return n == 0 ? "" : names[MIN (index, n - 1)];
}

CleaveLayout
cleave_call_layout (const CleaveCall *call)
{
  const CleaveAttr *first = call->op->attrs;

  return first == NULL || first->names != cleave_layout_names
             ? CLEAVE_LAYOUT_NCHW
             : *(const CleaveLayout *) cleave_attr_const_field (first, call->attrs);
}

CleaveDims
cleave_call_dims (const CleaveCall *call)
{
  return cleave_layout_dims (cleave_call_layout (call), call->operands[0].shape.rank);
}

const char *
cleave_call_letters (const CleaveCall *call)
{
  return cleave_layout_letters (cleave_call_layout (call), call->operands[0].shape.rank);
}

CleaveKernel
cleave_kernel_of_floats (const CleaveCall *call, CleaveKernel kernel)
{
  CleaveKernel found = kernel;

  if (!cleave_element_is_float (call->operands[0].element))
    return CLEAVE_KERNEL_REFERENCE;
  for (guint i = 0; i < call->n_operands; i++)
    {
      CleaveElement element = call->operands[i].element;

      if (element == CLEAVE_FLOAT64)
        return CLEAVE_KERNEL_REFERENCE;
      if (element == CLEAVE_FLOAT16 || element == CLEAVE_BFLOAT16)
        found = CLEAVE_KERNEL_UPCAST_PIECES;
    }
  return found;
}

const char *
cleave_op_operand_name (const CleaveOp *op, guint operand)
{
  return name_at (op->operands, operand);
}

const char *
cleave_op_result_name (const CleaveOp *op, guint result)
{
  return name_at (op->results, result);
}

gboolean
cleave_call_check_element (const CleaveCall *call, guint operand, guint allowed, GError **error)
{
  CleaveElement element = call->operands[operand].element;

  if ((allowed & CLEAVE_ELEMENT_BIT (element)) != 0)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ELEMENT_TYPE, "%s cannot be %s",
                      cleave_op_operand_name (call->op, operand),
                      cleave_element_get_name (element));
}

gboolean
cleave_call_check_same_element (const CleaveCall *call, guint a, guint b, GError **error)
{
  if (call->operands[a].element == call->operands[b].element)
    return TRUE;
  return cleave_fail (
      error, CLEAVE_ERROR_ELEMENT_TYPE, "%s is %s, but %s is %s",
      cleave_op_operand_name (call->op, a), cleave_element_get_name (call->operands[a].element),
      cleave_op_operand_name (call->op, b), cleave_element_get_name (call->operands[b].element));
}

gboolean
cleave_call_check_rank (const CleaveCall *call, guint operand, guint min, guint max, GError **error)
{
  const char *name = cleave_op_operand_name (call->op, operand);
  guint rank = call->operands[operand].shape.rank;

  if (rank >= min && rank <= max)
    return TRUE;
  if (min == max)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "%s must have rank %u, not %u", name, min, rank);
  return cleave_fail (error, CLEAVE_ERROR_SHAPE, "%s must have rank %u to %u, not %u", name, min,
                      max, rank);
}

gboolean
cleave_shape_broadcast (const CleaveShape *a, const CleaveShape *b, CleaveShape *both)
{
  CleaveShape result = { .rank = MAX (a->rank, b->rank) };

  for (guint i = 1; i <= result.rank; i++)
    {
      gint64 m = i > a->rank ? 1 : a->dim[a->rank - i];
      gint64 n = i > b->rank ? 1 : b->dim[b->rank - i];

      if (m != n && m != 1 && n != 1)
        return FALSE;
      result.dim[result.rank - i] = m == 1 ? n : m;
    }
  *both = result;
  return TRUE;
}

void
cleave_maps_broadcast (const CleaveShape *operand, const CleaveShape *result, CleaveDimMap *map)
{
  guint missing = result->rank - operand->rank;

  for (guint d = 0; d < operand->rank; d++)
    map[d] = operand->dim[d] == 1 && result->dim[missing + d] != 1
                 ? cleave_dim_map_whole (1)
                 : cleave_dim_map_same (missing + d);
}

void
cleave_maps_same (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  for (guint d = 0; d < call->operands[operand].shape.rank; d++)
    map[d] = cleave_dim_map_same (d);
}

gboolean
cleave_infer_same (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  results[0] = call->operands[0];
  return TRUE;
}

CleaveSlice
cleave_call_slice (const CleaveCall *call, guint operand, const CleaveRange *chunk)
{
  CleaveDimMap map[CLEAVE_MAX_RANK];

  call->op->maps (call, operand, map);
  return cleave_slice_map (map, chunk, &call->operands[operand].shape);
}

/* Returns whether the result can be operand 0, read with other strides. Each dimension of operand 0
 * must have extent 1, or a map with a positive stride by which each element of the result needs
 * exactly one element. */
static gboolean
is_by_strides (const CleaveCall *call)
{
  const CleaveShape *shape = &call->operands[0].shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];

  call->op->maps (call, 0, map);
  for (guint d = 0; d < shape->rank; d++)
    if (shape->dim[d] != 1 &&
        (map[d].stride < 1 || map[d].block != 1 || map[d].shift != 0 || map[d].window != 1))
      return FALSE;
  return TRUE;
}

gboolean
cleave_call_is_view (const CleaveCall *call)
{
  return (call->op->flags & CLEAVE_OP_VIEW) != 0 && is_by_strides (call);
}

gboolean
cleave_call_is_broadcast (const CleaveCall *call)
{
  return (call->op->flags & CLEAVE_OP_BROADCAST) != 0 && is_by_strides (call);
}

CleaveRange
cleave_call_result_range (const CleaveCall *call, guint result, const CleaveRange *chunk)
{
  const CleaveShape *shape = &call->results[result].shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];
  CleaveRange range;

  if (result == 0)
    return *chunk;
  if (call->op->result_maps != NULL)
    call->op->result_maps (call, result, map);
  else
    for (guint d = 0; d < shape->rank; d++)
      map[d] = cleave_dim_map_same (d);
  cleave_range_map (map, chunk, shape, &range);
  return range;
}

/* The functions below estimate work: numbers of steps, as doubles, which do not overflow. */

static double
count_elements (const CleaveShape *shape)
{
  double n = 1;

  for (guint d = 0; d < shape->rank; d++)
    n *= (double) shape->dim[d];
  return n;
}

/* Returns the number of elements of an operand that one element of result 0 needs. Returns the
 * number of all elements of the operand if the op has no maps. */
static double
count_read (const CleaveCall *call, guint operand)
{
  const CleaveShape *shape = &call->operands[operand].shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];
  double n = 1;

  if (call->op->maps == NULL)
    return count_elements (shape);
  call->op->maps (call, operand, map);
  for (guint d = 0; d < shape->rank; d++)
    n *= (double) MAX (map[d].window, 1);
  return n;
}

double
cleave_work_once (const CleaveCall *call)
{
  return 0;
}

double
cleave_call_work (const CleaveCall *call)
{
  double each = 0, work = 0;

  for (guint i = 0; i < call->n_results; i++)
    work += count_elements (&call->results[i].shape);
  for (guint i = 0; i < call->n_operands; i++)
    if (cleave_call_has (call, i) && (call->op->flags & CLEAVE_OP_OF_TYPES) == 0)
      {
        work += count_elements (&call->operands[i].shape);
        each += call->op->work != NULL || call->op->macs != NULL ? 0 : count_read (call, i);
      }
  if (call->op->work != NULL)
    return work + call->op->work (call);
  if (call->op->macs != NULL)
    return work + (double) call->op->macs (call);
  return work + each * count_elements (&call->results[0].shape);
}

/* Checks the number of results, the number of operands, and that all required operands are present.
 */
static gboolean
check_results (const CleaveCall *call, GError **error)
{
  guint n_named = g_strv_length ((char **) call->op->results);

  if (call->n_results == 0)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "must have a result");
  if ((call->op->flags & CLEAVE_OP_ALL_RESULTS) != 0 && call->n_results != n_named)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "has %u results, not %u", n_named,
                        call->n_results);
  return TRUE;
}

static gboolean
check_operands (const CleaveCall *call, GError **error)
{
  guint n_named = g_strv_length ((char **) call->op->operands);
  guint n_min = call->op->min_operands;
  gboolean variadic = (call->op->flags & CLEAVE_OP_VARIADIC) != 0;

  if (call->n_operands < n_min || (call->n_operands > n_named && !variadic))
    {
      g_autofree char *most = variadic           ? g_strdup (" or more")
                              : n_named == n_min ? g_strdup ("")
                                                 : g_strdup_printf (" to %u", n_named);

      return cleave_fail (error, CLEAVE_ERROR_OPTION, "takes %u%s operands, not %u", n_min, most,
                          call->n_operands);
    }
  for (guint i = 0; i < call->n_operands; i++)
    if (!cleave_call_has (call, i) && (i < n_min || variadic))
      return cleave_fail (error, CLEAVE_ERROR_OPTION, "the operand %s is missing",
                          cleave_op_operand_name (call->op, i));
  return TRUE;
}

gboolean
cleave_call_infer (const CleaveCall *call,
                   gpointer attrs,
                   CleaveTensorType *results,
                   GError **error)
{
  if (!check_operands (call, error) || !check_results (call, error) ||
      !cleave_attrs_normalize (call, attrs, error) || !call->op->infer (call, results, error))
    return FALSE;
  for (guint i = 0; i < call->n_results; i++)
    if (!cleave_tensor_type_check (&results[i], error))
      return FALSE;
  return TRUE;
}
