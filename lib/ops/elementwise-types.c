/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Infers the types of the results of element-wise ops, by the rules of the kinds in
 * elementwise.def. */

#include "elementwise-types.h"

/* Broadcasts `shape` with the shape of operand `k`. */
static gboolean
broadcast (const CleaveCall *call, guint k, CleaveShape *shape, GError **error)
{
  const CleaveShape *operand = &call->operands[k].shape;
  g_autofree char *here = NULL;
  g_autofree char *there = NULL;

  if (cleave_shape_broadcast (shape, operand, shape))
    return TRUE;
  here = cleave_shape_to_string (shape);
  there = cleave_shape_to_string (operand);
  return cleave_fail (error, CLEAVE_ERROR_SHAPE, "%s with %s does not broadcast to %s",
                      cleave_op_operand_name (call->op, k), there, here);
}

gboolean
cleave_elementwise_infer (const CleaveCall *call,
                          guint elements,
                          CleaveTensorType *results,
                          GError **error)
{
  if (!cleave_call_check_element (call, 0, elements, error))
    return FALSE;
  results[0] = call->operands[0];
  for (guint k = 1; k < call->n_operands; k++)
    if (!cleave_call_check_same_element (call, 0, k, error) ||
        !broadcast (call, k, &results[0].shape, error))
      return FALSE;
  return TRUE;
}

gboolean
cleave_elementwise_infer_compare (const CleaveCall *call,
                                  guint elements,
                                  CleaveTensorType *results,
                                  GError **error)
{
  CleaveTensorType type;

  if (!cleave_elementwise_infer (call, elements, &type, error))
    return FALSE;
  results[0] = (CleaveTensorType){ CLEAVE_BOOL, type.shape };
  return TRUE;
}

gboolean
cleave_elementwise_infer_slope (const CleaveCall *call,
                                guint elements,
                                CleaveTensorType *results,
                                GError **error)
{
  const CleaveShape *x = &call->operands[0].shape;
  CleaveTensorType type;
  g_autofree char *shape = NULL;

  if (!cleave_elementwise_infer (call, elements, &type, error))
    return FALSE;
  shape = cleave_shape_to_string (x);
  if (!cleave_shape_equal (&type.shape, x))
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "slope does not broadcast to X, which is %s",
                        shape);
  results[0] = type;
  return TRUE;
}

gboolean
cleave_elementwise_infer_power (const CleaveCall *call,
                                guint elements,
                                CleaveTensorType *results,
                                GError **error)
{
  if (!cleave_call_check_element (call, 0, elements, error) ||
      !cleave_call_check_element (call, 1, elements, error))
    return FALSE;
  results[0] = call->operands[0];
  return broadcast (call, 1, &results[0].shape, error);
}

gboolean
cleave_elementwise_infer_remainder (const CleaveCall *call,
                                    guint elements,
                                    CleaveTensorType *results,
                                    GError **error)
{
  const CleaveModAttrs *a = call->attrs;

  if (!cleave_elementwise_infer (call, elements, results, error))
    return FALSE;
  if (cleave_element_is_float (results[0].element) && !a->fmod)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "fmod must be 1 for %s",
                        cleave_element_get_name (results[0].element));
  return TRUE;
}
