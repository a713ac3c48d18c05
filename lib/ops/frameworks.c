/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits of oneDNN Graph, TensorFlow, PyTorch and ONNX; frameworks-*.c have the splits of OpenVINO,
 * DirectML and XLA. Each constructor applies the rules of its framework exactly, and checks all
 * arguments against the operand's type. All constructors return attributes of a Split. */

#include <cleave/cleave-frameworks.h>

#include "split-sizes.h"

static CleaveSplitAttrs *
from_onednn (const CleaveShape *shape, const CleaveSplitOnednn *call, GError **error)
{
  gint64 axis = call->axis;

  if (!cleave_split_find_axis (shape, &axis, error))
    return NULL;
  if (call->num_splits != NULL)
    return cleave_split_make_equal (shape, axis, "num_splits", *call->num_splits, error);
  if (call->size_split != NULL)
    return cleave_split_check_least ("size_split", *call->size_split, 1, error)
               ? cleave_split_make_of_size (shape, axis, *call->size_split, error)
               : NULL;
  if (call->sections_split != NULL)
    return cleave_split_make (shape, "sections_split", axis, call->sections_split,
                              call->n_sections_split, error);
  return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE,
                           "one of num_splits, size_split and sections_split is needed");
}

/**
 * cleave_split_op_from_onednn:
 * @src: type of the value to split
 * @call: the attributes; an absent attribute is %NULL
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Split from a Split of oneDNN Graph.
 *
 * Three arguments can give the sizes, in this order: `num_splits`, which must divide the dimension;
 * `size_split`, where the last piece may be smaller; and `sections_split`. The first of these
 * arguments that is not %NULL gives the sizes, and the other arguments are ignored.
 *
 * Fails as [ctor@Cleave.SplitAttrs.new] does, and if all three arguments are %NULL.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 *
 * Since: 0.1
 */
CleaveSplitAttrs *
cleave_split_op_from_onednn (const CleaveTensorType *src,
                             const CleaveSplitOnednn *call,
                             GError **error)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (src) && call != NULL, NULL);
  return cleave_split_name_call ("oneDNN Split", from_onednn (&src->shape, call, error), error);
}

/* Checks that exactly one of two arguments is given. */
static gboolean
check_one_of (const char *a, gboolean has_a, const char *b, gboolean has_b, GError **error)
{
  if (has_a != has_b)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                      has_a ? "%s and %s are both given, only one may be" : "%s or %s is needed", a,
                      b);
}

static CleaveSplitAttrs *
from_tensorflow (const CleaveShape *shape, const CleaveSplitTensorflow *call, GError **error)
{
  gint64 axis = call->axis;

  if (!cleave_split_find_axis (shape, &axis, error) ||
      !check_one_of ("num_splits", call->num_splits != NULL, "size_splits",
                     call->size_splits != NULL, error))
    return NULL;
  if (call->num_splits != NULL)
    return cleave_split_make_equal (shape, axis, "num_splits", *call->num_splits, error);
  if (call->num != NULL && *call->num != call->n_size_splits)
    return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE,
                             "num is %" G_GINT64_FORMAT ", but size_splits has %u entries",
                             *call->num, call->n_size_splits);
  return cleave_split_make_with_rest (shape, "size_splits", axis, call->size_splits,
                                      call->n_size_splits, error);
}

/**
 * cleave_split_op_from_tensorflow:
 * @value: type of the value to split
 * @call: the arguments; an absent argument is %NULL
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Split from a `tf.split` of TensorFlow. If the argument
 * `num_or_size_splits` is an int, which must divide the dimension, give `num_splits`. If the
 * argument is a list, give `size_splits`. One size of the list may be -1, for the remainder.
 *
 * Fails as [ctor@Cleave.SplitAttrs.new] does, if neither or both of `num_splits` and `size_splits`
 * are given, and if `num` is not the length of the list.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 *
 * Since: 0.1
 */
CleaveSplitAttrs *
cleave_split_op_from_tensorflow (const CleaveTensorType *value,
                                 const CleaveSplitTensorflow *call,
                                 GError **error)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (value) && call != NULL, NULL);
  return cleave_split_name_call ("TensorFlow split", from_tensorflow (&value->shape, call, error),
                                 error);
}

static CleaveSplitAttrs *
from_pytorch (const CleaveShape *shape, const CleaveSplitPytorch *call, GError **error)
{
  gint64 axis = call->dim;

  if (!cleave_split_find_axis (shape, &axis, error) ||
      !check_one_of ("split_size", call->split_size != NULL, "sections", call->sections != NULL,
                     error))
    return NULL;
  if (call->sections != NULL)
    return cleave_split_make (shape, "sections", axis, call->sections, call->n_sections, error);
  if (!cleave_split_check_least ("split_size", *call->split_size, shape->dim[axis] == 0 ? 0 : 1,
                                 error))
    return NULL;
  return cleave_split_make_of_size (shape, axis, *call->split_size, error);
}

/**
 * cleave_split_op_from_pytorch:
 * @tensor: type of the value to split
 * @call: the arguments; an absent argument is %NULL
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Split from a `torch.split` of PyTorch. If the argument
 * `split_size_or_sections` is an int, give `split_size`. The last piece may be smaller than
 * `split_size`. If the argument is a list, whose entries must add up to the dimension, give
 * `sections`.
 *
 * Fails as [ctor@Cleave.SplitAttrs.new] does, and if neither or both of `split_size` and `sections`
 * are given.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 *
 * Since: 0.1
 */
CleaveSplitAttrs *
cleave_split_op_from_pytorch (const CleaveTensorType *tensor,
                              const CleaveSplitPytorch *call,
                              GError **error)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (tensor) && call != NULL, NULL);
  return cleave_split_name_call ("PyTorch split", from_pytorch (&tensor->shape, call, error),
                                 error);
}

static gboolean
check_n_outputs (const char *name, gint64 n, guint n_outputs, GError **error)
{
  if (n == n_outputs)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s is %" G_GINT64_FORMAT " for %u outputs",
                      name, n, n_outputs);
}

/* Returns the sizes of a Split with `num_outputs` of opset 18: k pieces of extent / k elements,
 * rounded up. The last piece has the remaining elements; there may be no remaining elements. */
static CleaveSplitAttrs *
from_num_outputs (const CleaveShape *shape, gint64 axis, gint64 k, GError **error)
{
  gint64 extent = shape->dim[axis], size, before;

  if (!cleave_split_check_least ("num_outputs", k, 1, error))
    return NULL;
  size = extent / k + (extent % k != 0);
  if (!__builtin_mul_overflow (size, k - 1, &before) && before <= extent)
    return cleave_split_make_sized (shape, axis, k, size, error);
  return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE,
                           "dimension %" G_GINT64_FORMAT " has %" G_GINT64_FORMAT
                           ": with num_outputs %" G_GINT64_FORMAT ", pieces of %" G_GINT64_FORMAT
                           ", the last piece would have less than 0",
                           axis, extent, k, size);
}

static CleaveSplitAttrs *
from_onnx (const CleaveShape *shape, const CleaveSplitOnnx *call, GError **error)
{
  gint64 axis = call->axis == NULL ? 0 : *call->axis;
  gboolean has_num = call->num_outputs != NULL;

  if (!cleave_split_find_axis (shape, &axis, error) ||
      !cleave_split_check_least ("opset", call->opset, 1, error) ||
      !cleave_split_check_least ("number of outputs", call->n_outputs, 1, error))
    return NULL;
  if (call->opset >= 18 &&
      !check_one_of ("split", call->split != NULL, "num_outputs", has_num, error))
    return NULL;
  if (call->opset < 18 && has_num)
    return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE, "num_outputs needs opset 18, not %u",
                             call->opset);
  if (has_num)
    return check_n_outputs ("num_outputs", *call->num_outputs, call->n_outputs, error)
               ? from_num_outputs (shape, axis, *call->num_outputs, error)
               : NULL;
  if (call->split == NULL)
    return cleave_split_make_equal (shape, axis, "number of outputs", call->n_outputs, error);
  if (!check_n_outputs ("the length of split", call->n_split, call->n_outputs, error))
    return NULL;
  return cleave_split_make (shape, "split", axis, call->split, call->n_split, error);
}

/**
 * cleave_split_op_from_onnx:
 * @input: type of the value to split
 * @call: opset, number of outputs, attributes and inputs; an absent one is %NULL
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Split from an ONNX Split of any opset. If `split` is given, it contains
 * the sizes. Without `split`, up to opset 17, all pieces have the same size. Without `split`, from
 * opset 18 on, the op makes `num_outputs` pieces of the same size, and the last piece may be
 * smaller or empty.
 *
 * Fails as [ctor@Cleave.SplitAttrs.new] does, if the number of outputs is wrong, and from opset 18
 * on if neither or both of `split` and `num_outputs` are given.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 *
 * Since: 0.1
 */
CleaveSplitAttrs *
cleave_split_op_from_onnx (const CleaveTensorType *input,
                           const CleaveSplitOnnx *call,
                           GError **error)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (input) && call != NULL, NULL);
  return cleave_split_name_call ("ONNX Split", from_onnx (&input->shape, call, error), error);
}
