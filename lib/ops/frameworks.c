/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How seven frameworks write a split, a slice and a join.  Each constructor keeps the rules of its
 * framework to the letter and checks everything against the operand's type; what comes out is the
 * same for all. */

#include "move.h"

/* No graph could hold more: a size that is absurdly small for a dimension is told, and not
 * allocated. */
#define MAX_RESULTS (1 << 20)

static gboolean
find_axis (const CleaveShape *shape, gint64 *axis, GError **error)
{
  gint64 rank = shape->rank;

  if (rank == 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "a scalar has no dimension to split");
  if (*axis < -rank || *axis >= rank)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "axis must be between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                        " for rank %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT,
                        -rank, rank - 1, rank, *axis);
  *axis += *axis < 0 ? rank : 0;
  return TRUE;
}

/* "1, 2, 2", cut off where it would be long. */
static char *
list_to_string (const gint64 *list, guint n)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < MIN (n, 16); i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, i == 0 ? "" : ", ", list[i]);
  if (n > 16)
    g_string_append (out, ", …");
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static gboolean
add_up (const char *what, const gint64 *sizes, guint n, gint64 minimum, gint64 *sum, GError **error)
{
  *sum = 0;
  for (guint i = 0; i < n; i++)
    {
      if (sizes[i] < minimum)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "entry %u of %s must be at least %" G_GINT64_FORMAT
                            ", not %" G_GINT64_FORMAT,
                            i, what, minimum, sizes[i]);
      if (__builtin_add_overflow (*sum, MAX (sizes[i], 0), sum))
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "the sum of %s does not fit 64 bits at entry %u", what, i);
    }
  return TRUE;
}

/* An axis that is right already, and sizes under the name that the framework has for them. */
static CleaveSplitAttrs *
make (const CleaveShape *shape,
      const char *what,
      gint64 axis,
      const gint64 *sizes,
      guint n,
      GError **error)
{
  CleaveSplitAttrs *attrs;
  gint64 sum;

  if (n == 0)
    cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "at least one result is needed, %s is empty", what);
  if (n == 0 || !add_up (what, sizes, n, 0, &sum, error))
    return NULL;
  if (sum != shape->dim[axis])
    {
      g_autofree char *list = list_to_string (sizes, n);

      cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                   "%s %s add up to %" G_GINT64_FORMAT ", dimension %" G_GINT64_FORMAT
                   " has %" G_GINT64_FORMAT,
                   what, list, sum, axis, shape->dim[axis]);
      return NULL;
    }
  attrs = g_new0 (CleaveSplitAttrs, 1);
  attrs->axis = axis;
  attrs->sizes = g_array_sized_new (FALSE, FALSE, sizeof (gint64), n);
  g_array_append_vals (attrs->sizes, sizes, n);
  return attrs;
}

/* n pieces of `size`, where what is left for the last may be less. */
static CleaveSplitAttrs *
make_sized (const CleaveShape *shape, gint64 axis, gint64 n, gint64 size, GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 left = shape->dim[axis];

  if (n > MAX_RESULTS)
    {
      cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                   "dimension %" G_GINT64_FORMAT " would have %" G_GINT64_FORMAT
                   " pieces, more than %d",
                   axis, n, MAX_RESULTS);
      return NULL;
    }
  for (gint64 i = 0; i < n; i++, left -= size)
    {
      gint64 piece = i == n - 1 ? left : size;

      g_array_append_val (sizes, piece);
    }
  return make (shape, "sizes", axis, (const gint64 *) sizes->data, sizes->len, error);
}

static gboolean
check_least (const char *name, gint64 value, gint64 least, GError **error)
{
  if (value >= least)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                      "%s must be at least %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, name,
                      least, value);
}

/* `count` equal pieces. */
static CleaveSplitAttrs *
make_equal (const CleaveShape *shape, gint64 axis, const char *name, gint64 count, GError **error)
{
  gint64 extent = shape->dim[axis];

  if (!check_least (name, count, 1, error))
    return NULL;
  if (extent % count == 0)
    return make_sized (shape, axis, count, extent / count, error);
  cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
               "dimension %" G_GINT64_FORMAT " has %" G_GINT64_FORMAT
               ", which does not divide by %s %" G_GINT64_FORMAT,
               axis, extent, name, count);
  return NULL;
}

/* Pieces of one size, the last smaller where it does not divide; one piece of a dimension of 0. */
static CleaveSplitAttrs *
make_of_size (const CleaveShape *shape, gint64 axis, gint64 size, GError **error)
{
  gint64 extent = shape->dim[axis];

  return make_sized (shape, axis, extent == 0 ? 1 : (extent - 1) / size + 1, size, error);
}

/* Sizes of which one may be -1: what is left. */
static CleaveSplitAttrs *
make_with_rest (const CleaveShape *shape,
                const char *what,
                gint64 axis,
                const gint64 *given,
                guint n,
                GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 extent = shape->dim[axis], sum, *rest = NULL;

  if (!add_up (what, given, n, -1, &sum, error))
    return NULL;
  g_array_append_vals (sizes, n == 0 ? &sum : given, n);
  for (guint i = 0; i < n; i++)
    if (given[i] == -1 && rest != NULL)
      {
        cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "entries %u and %u of %s are both -1",
                     (guint) (rest - (gint64 *) sizes->data), i, what);
        return NULL;
      }
    else if (given[i] == -1)
      rest = &g_array_index (sizes, gint64, i);
  if (rest != NULL && sum > extent)
    {
      cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                   "nothing is left for the -1 of %s: the others add up to %" G_GINT64_FORMAT
                   ", dimension %" G_GINT64_FORMAT " has %" G_GINT64_FORMAT,
                   what, sum, axis, extent);
      return NULL;
    }
  if (rest != NULL)
    *rest = extent - sum;
  return make (shape, what, axis, (const gint64 *) sizes->data, n, error);
}

/**
 * cleave_split_attrs_free:
 * @attrs: (nullable) (transfer full): attributes of a split
 *
 * Frees what a constructor such as [func@split_op_new] made.
 */
void
cleave_split_attrs_free (CleaveSplitAttrs *attrs)
{
  if (attrs == NULL)
    return;
  g_clear_pointer (&attrs->sizes, g_array_unref);
  g_free (attrs);
}

/**
 * cleave_split_op_new:
 * @operand: type of the value to split, of rank 1 or more
 * @axis: the dimension; negative from the end
 * @sizes: (array length=n_sizes): one size for each result, 0 or more; they add up to the dimension
 * @n_sizes: how many, at least one
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Split from its sizes, and checks them.
 *
 * Fails with %CLEAVE_ERROR_SHAPE if @operand is a scalar, else with %CLEAVE_ERROR_ATTRIBUTE.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, to be freed with
 * [func@split_attrs_free], or %NULL on error
 */
CleaveSplitAttrs *
cleave_split_op_new (const CleaveTensorType *operand,
                     gint64 axis,
                     const gint64 *sizes,
                     guint n_sizes,
                     GError **error)
{
  if (!find_axis (&operand->shape, &axis, error))
    return NULL;
  return make (&operand->shape, "sizes", axis, sizes, n_sizes, error);
}

static CleaveSplitAttrs *
from_onednn (const CleaveShape *shape, const CleaveSplitOnednn *call, GError **error)
{
  gint64 axis = call->axis;

  if (!find_axis (shape, &axis, error))
    return NULL;
  if (call->num_splits != NULL)
    return make_equal (shape, axis, "num_splits", *call->num_splits, error);
  if (call->size_split != NULL)
    return check_least ("size_split", *call->size_split, 1, error)
               ? make_of_size (shape, axis, *call->size_split, error)
               : NULL;
  if (call->sections_split != NULL)
    return make (shape, "sections_split", axis, call->sections_split, call->n_sections_split,
                 error);
  cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
               "one of num_splits, size_split and sections_split is needed");
  return NULL;
}

/* Says whose call it was. */
static gpointer
name_call (const char *call, gpointer attrs, GError **error)
{
  if (attrs == NULL)
    g_prefix_error (error, "%s: ", call);
  return attrs;
}

/**
 * cleave_split_op_from_onednn:
 * @src: type of the value to split
 * @call: the attributes; those that are absent are %NULL
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a split as oneDNN Graph writes it, with both options of its RFC for a Split operation.
 *
 * The first one given of `num_splits` (which must divide the dimension), `size_split` (the last
 * piece may be smaller) and `sections_split` counts; those after it are not even looked at.
 *
 * Fails as [func@split_op_new] does, and if none of the three is given.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 */
CleaveSplitAttrs *
cleave_split_op_from_onednn (const CleaveTensorType *src,
                             const CleaveSplitOnednn *call,
                             GError **error)
{
  return name_call ("oneDNN Split", from_onednn (&src->shape, call, error), error);
}

/* Exactly one of two ways to tell the sizes. */
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

  if (!find_axis (shape, &axis, error) ||
      !check_one_of ("num_splits", call->num_splits != NULL, "size_splits",
                     call->size_splits != NULL, error))
    return NULL;
  if (call->num_splits != NULL)
    return make_equal (shape, axis, "num_splits", *call->num_splits, error);
  if (call->num != NULL && *call->num != call->n_size_splits)
    {
      cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                   "num is %" G_GINT64_FORMAT ", but size_splits has %u entries", *call->num,
                   call->n_size_splits);
      return NULL;
    }
  return make_with_rest (shape, "size_splits", axis, call->size_splits, call->n_size_splits, error);
}

/**
 * cleave_split_op_from_tensorflow:
 * @value: type of the value to split
 * @call: the arguments; those that are absent are %NULL
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a split as TensorFlow's `tf.split` writes it: `num_or_size_splits` is `num_splits` if it is
 * an int, which must divide the dimension, and `size_splits` if it is a list, in which one −1
 * stands for what is left.
 *
 * Fails as [func@split_op_new] does, if neither or both are given, and if `num` is not the length
 * of the list.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 */
CleaveSplitAttrs *
cleave_split_op_from_tensorflow (const CleaveTensorType *value,
                                 const CleaveSplitTensorflow *call,
                                 GError **error)
{
  return name_call ("TensorFlow split", from_tensorflow (&value->shape, call, error), error);
}

static CleaveSplitAttrs *
from_pytorch (const CleaveShape *shape, const CleaveSplitPytorch *call, GError **error)
{
  gint64 axis = call->dim;

  if (!find_axis (shape, &axis, error) || !check_one_of ("split_size", call->split_size != NULL,
                                                         "sections", call->sections != NULL, error))
    return NULL;
  if (call->sections != NULL)
    return make (shape, "sections", axis, call->sections, call->n_sections, error);
  if (!check_least ("split_size", *call->split_size, shape->dim[axis] == 0 ? 0 : 1, error))
    return NULL;
  return make_of_size (shape, axis, *call->split_size, error);
}

/**
 * cleave_split_op_from_pytorch:
 * @tensor: type of the value to split
 * @call: the arguments; those that are absent are %NULL
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a split as PyTorch's `torch.split` writes it: `split_size_or_sections` is `split_size` if
 * it is an int, the last piece then smaller where it does not divide, and `sections` if it is a
 * list, whose entries add up to the dimension.
 *
 * Fails as [func@split_op_new] does, and if neither or both are given.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 */
CleaveSplitAttrs *
cleave_split_op_from_pytorch (const CleaveTensorType *tensor,
                              const CleaveSplitPytorch *call,
                              GError **error)
{
  return name_call ("PyTorch split", from_pytorch (&tensor->shape, call, error), error);
}

static gboolean
check_n_outputs (const char *name, gint64 n, guint n_outputs, GError **error)
{
  if (n == n_outputs)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s is %" G_GINT64_FORMAT " for %u outputs",
                      name, n, n_outputs);
}

/* Opset 18: pieces of n/k rounded up; what is left for the last may be nothing, but not less. */
static CleaveSplitAttrs *
from_num_outputs (const CleaveShape *shape, gint64 axis, gint64 k, GError **error)
{
  gint64 extent = shape->dim[axis], size, before;

  if (!check_least ("num_outputs", k, 1, error))
    return NULL;
  size = extent / k + (extent % k != 0);
  if (!__builtin_mul_overflow (size, k - 1, &before) && before <= extent)
    return make_sized (shape, axis, k, size, error);
  cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
               "dimension %" G_GINT64_FORMAT " has %" G_GINT64_FORMAT
               ": with num_outputs %" G_GINT64_FORMAT ", pieces of %" G_GINT64_FORMAT
               ", less than nothing is left for the last",
               axis, extent, k, size);
  return NULL;
}

static CleaveSplitAttrs *
from_onnx (const CleaveShape *shape, const CleaveSplitOnnx *call, GError **error)
{
  gint64 axis = call->axis == NULL ? 0 : *call->axis;
  gboolean has_num = call->num_outputs != NULL;

  if (!find_axis (shape, &axis, error) || !check_least ("opset", call->opset, 1, error) ||
      !check_least ("number of outputs", call->n_outputs, 1, error))
    return NULL;
  if (call->opset >= 18 &&
      !check_one_of ("split", call->split != NULL, "num_outputs", has_num, error))
    return NULL;
  if (call->opset < 18 && has_num)
    {
      cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "num_outputs needs opset 18, not %u",
                   call->opset);
      return NULL;
    }
  if (has_num)
    return check_n_outputs ("num_outputs", *call->num_outputs, call->n_outputs, error)
               ? from_num_outputs (shape, axis, *call->num_outputs, error)
               : NULL;
  if (call->split == NULL)
    return make_equal (shape, axis, "number of outputs", call->n_outputs, error);
  if (!check_n_outputs ("the length of split", call->n_split, call->n_outputs, error))
    return NULL;
  return make (shape, "split", axis, call->split, call->n_split, error);
}

/**
 * cleave_split_op_from_onnx:
 * @input: type of the value to split
 * @call: opset, number of outputs, and the attributes and inputs; those that are absent are %NULL
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a split as ONNX writes it, in any opset: by `split`, or in equal parts without it (up to
 * 17), or in `num_outputs` pieces of one size, the last of which may be smaller, and be nothing
 * (from 18).
 *
 * Fails as [func@split_op_new] does, if the number of outputs is wrong, and in opset 18 if neither
 * or both of `split` and `num_outputs` are given.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 */
CleaveSplitAttrs *
cleave_split_op_from_onnx (const CleaveTensorType *input,
                           const CleaveSplitOnnx *call,
                           GError **error)
{
  return name_call ("ONNX Split", from_onnx (&input->shape, call, error), error);
}

/* Element i of a dense tensor of integers. */
static gboolean
read_integer (const CleaveTensor *tensor, gint64 i, gint64 *value)
{
  gconstpointer data = cleave_tensor_get_data (tensor);

  i *= cleave_tensor_get_type (tensor)->shape.rank == 0 ? 0 : cleave_tensor_get_strides (tensor)[0];
  switch ((gint) cleave_tensor_get_type (tensor)->element)
    {
      /* clang-format off */
#define CASE(element, type) case element: *value = (gint64) ((const type *) data)[i]; return TRUE;
    CASE (CLEAVE_INT8, gint8)
    CASE (CLEAVE_INT16, gint16)
    CASE (CLEAVE_INT32, gint32)
    CASE (CLEAVE_INT64, gint64)
    CASE (CLEAVE_UINT8, guint8)
    CASE (CLEAVE_UINT16, guint16)
    CASE (CLEAVE_UINT32, guint32)
#undef CASE
    /* clang-format on */
    case CLEAVE_UINT64: /* what does not fit is out of any range */
      *value = (gint64) MIN (((const guint64 *) data)[i], (guint64) G_MAXINT64);
      return TRUE;
    default:
      return FALSE;
    }
}

/* The numbers of a tensor with at most one dimension. */
static GArray *
read_integers (const CleaveTensor *tensor, const char *name, GError **error)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 n = cleave_shape_n_elements (&type->shape);

  for (gint64 i = 0; i < n; i++)
    {
      gint64 value;

      if (!read_integer (tensor, i, &value))
        {
          cleave_fail (error, CLEAVE_ERROR_ELEMENT_TYPE, "%s must be of an integer type, not %s",
                       name, cleave_element_get_name (type->element));
          return NULL;
        }
      g_array_append_val (numbers, value);
    }
  return g_steal_pointer (&numbers);
}

/* The axis that OpenVINO passes as a tensor: a scalar, or of shape [1] where that is legal. */
static gboolean
read_axis (const CleaveTensor *tensor,
           gboolean may_be_list,
           const CleaveShape *data,
           gint64 *axis,
           GError **error)
{
  const CleaveShape *shape = &cleave_tensor_get_type (tensor)->shape;
  g_autofree char *text = cleave_shape_to_string (shape);
  g_autoptr (GArray) numbers = NULL;

  if (shape->rank != 0 && !(may_be_list && shape->rank == 1 && shape->dim[0] == 1))
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "axis must be a scalar%s, not of shape [%s]",
                        may_be_list ? " or of shape [1]" : "", text);
  numbers = read_integers (tensor, "axis", error);
  if (numbers == NULL)
    return FALSE;
  *axis = g_array_index (numbers, gint64, 0);
  return find_axis (data, axis, error);
}

static CleaveSplitAttrs *
from_openvino_split (const CleaveShape *shape,
                     const CleaveTensor *axis_tensor,
                     gint64 num_splits,
                     GError **error)
{
  gint64 axis = 0;

  if (!read_axis (axis_tensor, FALSE, shape, &axis, error))
    return NULL;
  if (num_splits > shape->dim[axis])
    {
      cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                   "num_splits must be between 1 and %" G_GINT64_FORMAT
                   ", the size of dimension %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT,
                   shape->dim[axis], axis, num_splits);
      return NULL;
    }
  return make_equal (shape, axis, "num_splits", num_splits, error);
}

/**
 * cleave_split_op_from_openvino_split:
 * @data: type of the value to split
 * @axis: a scalar of any integer type
 * @num_splits: number of pieces, which must divide the dimension
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a split as OpenVINO's Split writes it.
 *
 * Fails as [func@split_op_new] does, and with %CLEAVE_ERROR_SHAPE or %CLEAVE_ERROR_ELEMENT_TYPE if
 * @axis is no integer scalar.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 */
CleaveSplitAttrs *
cleave_split_op_from_openvino_split (const CleaveTensorType *data,
                                     const CleaveTensor *axis,
                                     gint64 num_splits,
                                     GError **error)
{
  return name_call ("OpenVINO Split", from_openvino_split (&data->shape, axis, num_splits, error),
                    error);
}

static CleaveSplitAttrs *
from_openvino_variadic (const CleaveShape *shape,
                        const CleaveTensor *axis_tensor,
                        const CleaveTensor *split_lengths,
                        GError **error)
{
  const CleaveShape *lengths = &cleave_tensor_get_type (split_lengths)->shape;
  g_autoptr (GArray) numbers = NULL;
  gint64 axis = 0;

  if (!read_axis (axis_tensor, TRUE, shape, &axis, error))
    return NULL;
  if (lengths->rank != 1)
    {
      cleave_fail (error, CLEAVE_ERROR_SHAPE, "split_lengths must have 1 dimension, not %u",
                   lengths->rank);
      return NULL;
    }
  numbers = read_integers (split_lengths, "split_lengths", error);
  if (numbers == NULL)
    return NULL;
  return make_with_rest (shape, "split_lengths", axis, (const gint64 *) numbers->data, numbers->len,
                         error);
}

/**
 * cleave_split_op_from_openvino_variadic:
 * @data: type of the value to split
 * @axis: a scalar or a tensor of shape [1], of any integer type
 * @split_lengths: one size for each result, of any integer type; one −1 stands for what is left
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a split as OpenVINO's VariadicSplit writes it.
 *
 * Fails as [func@split_op_new] does, and with %CLEAVE_ERROR_SHAPE or %CLEAVE_ERROR_ELEMENT_TYPE if
 * @axis or
 * @split_lengths has another shape or is not of integers.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 */
CleaveSplitAttrs *
cleave_split_op_from_openvino_variadic (const CleaveTensorType *data,
                                        const CleaveTensor *axis,
                                        const CleaveTensor *split_lengths,
                                        GError **error)
{
  return name_call ("OpenVINO VariadicSplit",
                    from_openvino_variadic (&data->shape, axis, split_lengths, error), error);
}

/* A part of a DirectML split or join has the element type, rank and dimensions of the whole, but
 * for the axis. */
static gboolean
check_part (const CleaveTensorType *whole,
            const CleaveTensorType *part,
            const char *what,
            guint index,
            guint axis,
            GError **error)
{
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

/* What Split and Join have in common: the parts follow each other in the whole.  Their sizes along
 * the axis. */
static CleaveSplitAttrs *
from_directml (const CleaveTensorType *whole,
               const CleaveTensorType *parts,
               guint n_parts,
               const char *what,
               guint axis,
               GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (gint64));

  if (whole->shape.rank == 0)
    cleave_fail (error, CLEAVE_ERROR_SHAPE, "a scalar has no dimension to split");
  else if (axis >= whole->shape.rank)
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
  return make (&whole->shape, "sizes", axis, (const gint64 *) sizes->data, n_parts, error);
}

/**
 * cleave_split_op_from_directml:
 * @input: type of the value to split
 * @outputs: (array length=output_count): types of the results
 * @output_count: how many
 * @axis: the dimension, not negative
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a split as DML_SPLIT_OPERATOR_DESC writes it: every result is described, and the
 * description checked.
 *
 * Fails with %CLEAVE_ERROR_ELEMENT_TYPE or %CLEAVE_ERROR_SHAPE if a result is of another element
 * type, rank or size in another dimension, or has a size of 0, and with %CLEAVE_ERROR_ATTRIBUTE if
 * @axis is out of range, there is no result or the sizes do not add up.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 */
CleaveSplitAttrs *
cleave_split_op_from_directml (const CleaveTensorType *input,
                               const CleaveTensorType *outputs,
                               guint output_count,
                               guint axis,
                               GError **error)
{
  return name_call ("DirectML Split",
                    from_directml (input, outputs, output_count, "output", axis, error), error);
}

/**
 * cleave_concat_op_from_directml_join:
 * @inputs: (array length=input_count): types of the operands
 * @input_count: how many
 * @output: type of the result
 * @axis: the dimension along which they follow each other, not negative
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a concatenation as DML_JOIN_OPERATOR_DESC writes it: the inverse of
 * [func@split_op_from_directml], under the same rules with the parts swapped.
 *
 * Returns: (transfer full) (nullable): attributes for a Concat node, to be freed with
 * [func@GLib.free], or %NULL on error
 */
CleaveAxisAttrs *
cleave_concat_op_from_directml_join (const CleaveTensorType *inputs,
                                     guint input_count,
                                     const CleaveTensorType *output,
                                     guint axis,
                                     GError **error)
{
  CleaveSplitAttrs *split = name_call (
      "DirectML Join", from_directml (output, inputs, input_count, "input", axis, error), error);
  CleaveAxisAttrs *attrs;

  if (split == NULL)
    return NULL;
  cleave_split_attrs_free (split);
  attrs = g_new0 (CleaveAxisAttrs, 1);
  attrs->axis = axis;
  return attrs;
}

static gboolean
check_xla (const CleaveShape *shape, const CleaveSliceXla *call, guint index, GError **error)
{
  for (guint d = 0; d < shape->rank; d++)
    {
      gint64 start = call->start_indices[d], limit = call->limit_indices[d];

      if (start < 0 || limit < start || limit > shape->dim[d])
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "slice %u: start %" G_GINT64_FORMAT " and limit %" G_GINT64_FORMAT
                            " do not lie, in this order, between 0 and the %" G_GINT64_FORMAT
                            " of dimension %u",
                            index, start, limit, shape->dim[d], d);
      if (call->strides[d] < 1)
        return cleave_fail (
            error, CLEAVE_ERROR_ATTRIBUTE,
            "slice %u: stride of dimension %u must be at least 1, not %" G_GINT64_FORMAT, index, d,
            call->strides[d]);
    }
  return TRUE;
}

/**
 * cleave_slice_op_from_xla:
 * @operand: type of the value to slice
 * @call: start, exclusive limit and stride of each dimension
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a slice as XLA writes it.
 *
 * Fails with %CLEAVE_ERROR_ATTRIBUTE unless 0 ≤ start ≤ limit ≤ extent and stride ≥ 1 in every
 * dimension.
 *
 * Returns: (transfer full) (nullable): attributes for a Slice node, to be freed with
 * [func@GLib.free], or %NULL on error
 */
CleaveSliceAttrs *
cleave_slice_op_from_xla (const CleaveTensorType *operand,
                          const CleaveSliceXla *call,
                          GError **error)
{
  CleaveSliceAttrs *attrs;

  if (!check_xla (&operand->shape, call, 0, error))
    return name_call ("XLA Slice", NULL, error);
  attrs = g_new0 (CleaveSliceAttrs, 1);
  attrs->starts.n = attrs->ends.n = attrs->steps.n = operand->shape.rank;
  for (guint d = 0; d < operand->shape.rank; d++)
    {
      attrs->starts.v[d] = call->start_indices[d];
      attrs->ends.v[d] = call->limit_indices[d];
      attrs->steps.v[d] = call->strides[d];
    }
  return attrs;
}

/* Whether some slice takes less than all of the dimension. */
static gboolean
is_cut (const CleaveShape *shape, const CleaveSliceXla *slices, guint n, guint d)
{
  for (guint i = 0; i < n; i++)
    if (slices[i].limit_indices[d] - slices[i].start_indices[d] != shape->dim[d])
      return TRUE;
  return FALSE;
}

/* The one dimension that is cut.  Where none is, several slices can only be parts of an empty
 * dimension. */
static gboolean
find_cut (
    const CleaveShape *shape, const CleaveSliceXla *slices, guint n, guint *axis, GError **error)
{
  guint n_cut = 0;

  *axis = 0;
  for (guint d = shape->rank; d-- > 0;)
    if (shape->dim[d] == 0)
      *axis = d;
  for (guint d = 0; d < shape->rank; d++)
    if (is_cut (shape, slices, n, d))
      {
        if (n_cut++ > 0)
          return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                              "the slices cut dimension %u and dimension %u, a split cuts one",
                              *axis, d);
        *axis = d;
      }
  return TRUE;
}

static CleaveSplitAttrs *
from_xla (const CleaveShape *shape, const CleaveSliceXla *slices, guint n_slices, GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 end = 0, size;
  guint axis = 0;

  for (guint i = 0; i < n_slices; i++)
    {
      if (!check_xla (shape, &slices[i], i, error))
        return NULL;
      for (guint d = 0; d < shape->rank; d++)
        if (slices[i].strides[d] != 1)
          {
            cleave_fail (
                error, CLEAVE_ERROR_ATTRIBUTE,
                "slice %u: stride of dimension %u must be 1 in a split, not %" G_GINT64_FORMAT, i,
                d, slices[i].strides[d]);
            return NULL;
          }
    }
  if (shape->rank == 0)
    cleave_fail (error, CLEAVE_ERROR_SHAPE, "a scalar has no dimension to split");
  if (shape->rank == 0 || !find_cut (shape, slices, n_slices, &axis, error))
    return NULL;
  for (guint i = 0; i < n_slices; i++)
    {
      if (slices[i].start_indices[axis] != end)
        {
          cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                       "slice %u: dimension %u starts at %" G_GINT64_FORMAT
                       ", but the slice before ends at %" G_GINT64_FORMAT,
                       i, axis, slices[i].start_indices[axis], end);
          return NULL;
        }
      end = slices[i].limit_indices[axis];
      size = end - slices[i].start_indices[axis];
      g_array_append_val (sizes, size);
    }
  return make (shape, "sizes", axis, (const gint64 *) sizes->data, n_slices, error);
}

/**
 * cleave_split_op_from_xla:
 * @operand: type of the value that the slices share
 * @slices: (array length=n_slices): slices with strides 1 that differ in one dimension only and
 * follow each other without gap or overlap from 0 to its end
 * @n_slices: how many, at least one
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a split of several XLA slices; XLA has none of its own.
 *
 * Fails with %CLEAVE_ERROR_ATTRIBUTE if the slices are not a split, with %CLEAVE_ERROR_SHAPE if
 * @operand is a scalar.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 */
CleaveSplitAttrs *
cleave_split_op_from_xla (const CleaveTensorType *operand,
                          const CleaveSliceXla *slices,
                          guint n_slices,
                          GError **error)
{
  return name_call ("XLA Slice", from_xla (&operand->shape, slices, n_slices, error), error);
}

/**
 * cleave_split_op_to_xla:
 * @operand: type of the value to split
 * @attrs: attributes of a split that fit it
 *
 * Writes a split as XLA does.
 *
 * Returns: (transfer full) (element-type CleaveSliceXla): one slice for each result; cannot fail
 */
GArray *
cleave_split_op_to_xla (const CleaveTensorType *operand, const CleaveSplitAttrs *attrs)
{
  GArray *slices = g_array_new (FALSE, TRUE, sizeof (CleaveSliceXla));
  gint64 begin = 0;

  for (guint i = 0; i < attrs->sizes->len; i++)
    {
      CleaveSliceXla slice = { { 0 }, { 0 }, { 0 } };

      for (guint d = 0; d < operand->shape.rank; d++)
        {
          slice.limit_indices[d] = operand->shape.dim[d];
          slice.strides[d] = 1;
        }
      slice.start_indices[attrs->axis] = begin;
      begin += g_array_index (attrs->sizes, gint64, i);
      slice.limit_indices[attrs->axis] = begin;
      g_array_append_val (slices, slice);
    }
  return slices;
}
