/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts splits of other frameworks whose arguments are texts, for languages that cannot fill the
 * structs of cleave-frameworks.h. Each function parses its arguments and calls the constructor in
 * C. */

#include <string.h>

#include <cleave/cleave-frameworks.h>

#include "../ir/text.h"
#include "split-sizes.h"

#define MAX_ARGUMENTS 6
#define N_INTS 3
#define N_LISTS 2

/* The arguments of one call, as texts and parsed. */
typedef struct
{
  GHashTable *texts; /* maps the names of arguments to their texts */
  gint64 values[N_INTS];
  guint n_values;
  GArray *lists[N_LISTS]; /* parsed lists of gint64, which this struct owns */
  guint n_lists;
} Arguments;

static void
arguments_clear (Arguments *arguments)
{
  for (guint i = 0; i < arguments->n_lists; i++)
    g_array_unref (arguments->lists[i]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Arguments, arguments_clear)

/* Parses an integer argument. Sets `*value` to NULL if the argument is absent. */
static gboolean
take_int (Arguments *arguments, const char *name, const gint64 **value, GError **error)
{
  const char *text = g_hash_table_lookup (arguments->texts, name);

  *value = NULL;
  if (text == NULL)
    return TRUE;
  g_assert (arguments->n_values < N_INTS);
  if (!cleave_text_to_int (name, text, G_MININT64, G_MAXINT64,
                           &arguments->values[arguments->n_values], error))
    return FALSE;
  *value = &arguments->values[arguments->n_values++];
  return TRUE;
}

/* Parses an integer argument. If the argument is absent, sets `*value` to the default `*fallback`,
 * or fails if `fallback` is NULL. */
static gboolean
take_needed (
    Arguments *arguments, const char *name, const gint64 *fallback, gint64 *value, GError **error)
{
  const gint64 *given;

  if (!take_int (arguments, name, &given, error))
    return FALSE;
  if (given == NULL && fallback == NULL)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s is needed", name);
  *value = given != NULL ? *given : *fallback;
  return TRUE;
}

/* Returns the numbers of a list without its brackets, or a copy of a text without brackets. The
 * brackets tell a list of one number, `[6]`, from the number `6`. */
static char *
dup_numbers (const char *text)
{
  gsize n = strlen (text);

  return n >= 2 && text[0] == '[' && text[n - 1] == ']' ? g_strndup (text + 1, n - 2)
                                                        : g_strdup (text);
}

/* Parses a list of integers into `*list`, and sets `*n_list` to their number. An empty text is an
 * empty list. Sets `*list` to NULL if the argument is absent. Fails if the text is a number. */
static gboolean
take_list (
    Arguments *arguments, const char *name, const gint64 **list, guint *n_list, GError **error)
{
  const char *text = g_hash_table_lookup (arguments->texts, name);
  g_autofree char *inner = NULL;
  GArray *numbers;

  *list = NULL;
  *n_list = 0;
  if (text == NULL)
    return TRUE;
  inner = dup_numbers (text);
  if (*text != '\0' && *text != '[' && strchr (text, ',') == NULL)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "%s expects a list such as [3,4] or [6], not '%s'", name, text);
  /* Reserve memory for one number: without it, the data of an empty list is NULL, and NULL means an
   * absent list. */
  numbers = *inner == '\0' ? g_array_sized_new (FALSE, FALSE, sizeof (gint64), 1)
                           : cleave_text_to_ints (name, inner, error);
  if (numbers == NULL)
    return FALSE;
  g_assert (arguments->n_lists < N_LISTS);
  arguments->lists[arguments->n_lists++] = numbers;
  *list = (const gint64 *) numbers->data;
  *n_list = numbers->len;
  return TRUE;
}

static CleaveSplitAttrs *
from_onednn (const CleaveTensorType *type, Arguments *arguments, GError **error)
{
  CleaveSplitOnednn call = { 0 };

  if (!take_needed (arguments, "axis", NULL, &call.axis, error) ||
      !take_int (arguments, "num_splits", &call.num_splits, error) ||
      !take_int (arguments, "size_split", &call.size_split, error) ||
      !take_list (arguments, "sections_split", &call.sections_split, &call.n_sections_split, error))
    return cleave_split_name_call ("oneDNN Split", NULL, error);
  return cleave_split_op_from_onednn (type, &call, error);
}

static CleaveSplitAttrs *
from_tensorflow (const CleaveTensorType *type, Arguments *arguments, GError **error)
{
  CleaveSplitTensorflow call = { 0 };

  if (!take_needed (arguments, "axis", &(gint64){ 0 }, &call.axis, error) ||
      !take_int (arguments, "num_splits", &call.num_splits, error) ||
      !take_int (arguments, "num", &call.num, error) ||
      !take_list (arguments, "size_splits", &call.size_splits, &call.n_size_splits, error))
    return cleave_split_name_call ("TensorFlow split", NULL, error);
  return cleave_split_op_from_tensorflow (type, &call, error);
}

static CleaveSplitAttrs *
from_pytorch (const CleaveTensorType *type, Arguments *arguments, GError **error)
{
  CleaveSplitPytorch call = { 0 };

  if (!take_needed (arguments, "dim", &(gint64){ 0 }, &call.dim, error) ||
      !take_int (arguments, "split_size", &call.split_size, error) ||
      !take_list (arguments, "sections", &call.sections, &call.n_sections, error))
    return cleave_split_name_call ("PyTorch split", NULL, error);
  return cleave_split_op_from_pytorch (type, &call, error);
}

/* Parses an unsigned argument into `*value`. Fails if the argument is absent. */
static gboolean
take_uint (const Arguments *arguments, const char *name, guint *value, GError **error)
{
  const char *text = g_hash_table_lookup (arguments->texts, name);
  gint64 number = 0;

  if (text == NULL)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s is needed", name);
  if (!cleave_text_to_int (name, text, 0, G_MAXUINT, &number, error))
    return FALSE;
  *value = (guint) number;
  return TRUE;
}

static CleaveSplitAttrs *
from_onnx (const CleaveTensorType *type, Arguments *arguments, GError **error)
{
  CleaveSplitOnnx call = { 0 };

  if (!take_uint (arguments, "opset", &call.opset, error) ||
      !take_uint (arguments, "n_outputs", &call.n_outputs, error) ||
      !take_int (arguments, "axis", &call.axis, error) ||
      !take_int (arguments, "num_outputs", &call.num_outputs, error) ||
      !take_list (arguments, "split", &call.split, &call.n_split, error))
    return cleave_split_name_call ("ONNX Split", NULL, error);
  return cleave_split_op_from_onnx (type, &call, error);
}

/* Makes a tensor of int64 with the shape `shape` and the elements `values`. */
static CleaveTensor *
make_tensor (const CleaveShape *shape, const gint64 *values, GError **error)
{
  CleaveTensorType type = { CLEAVE_INT64, *shape };

  return cleave_tensor_new_copy (&type, values, error);
}

static CleaveSplitAttrs *
from_openvino_split (const CleaveTensorType *type, Arguments *arguments, GError **error)
{
  g_autoptr (CleaveTensor) axis_tensor = NULL;
  gint64 axis = 0, num_splits = 0;

  if (!take_needed (arguments, "axis", NULL, &axis, error) ||
      !take_needed (arguments, "num_splits", NULL, &num_splits, error))
    return cleave_split_name_call ("OpenVINO Split", NULL, error);
  axis_tensor = make_tensor (&(CleaveShape){ 0 }, &axis, error);
  return axis_tensor == NULL
             ? NULL
             : cleave_split_op_from_openvino_split (type, axis_tensor, num_splits, error);
}

static CleaveSplitAttrs *
from_openvino_variadic (const CleaveTensorType *type, Arguments *arguments, GError **error)
{
  g_autoptr (CleaveTensor) axis_tensor = NULL, lengths = NULL;
  const gint64 *list;
  gint64 axis = 0;
  guint n;

  if (!take_needed (arguments, "axis", NULL, &axis, error) ||
      !take_list (arguments, "split_lengths", &list, &n, error) ||
      (list == NULL && !cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "split_lengths is needed")))
    return cleave_split_name_call ("OpenVINO VariadicSplit", NULL, error);
  axis_tensor = make_tensor (&(CleaveShape){ 0 }, &axis, error);
  lengths = axis_tensor == NULL ? NULL : make_tensor (&CLEAVE_SHAPE (n), list, error);
  return lengths == NULL
             ? NULL
             : cleave_split_op_from_openvino_variadic (type, axis_tensor, lengths, error);
}

/* Parses the shapes in an argument, such as "1,2/1,4". For each shape, appends to `types` a type
 * with this shape and the element type `element`. */
static gboolean
take_types (const Arguments *arguments,
            const char *name,
            CleaveElement element,
            GArray *types,
            GError **error)
{
  const char *text = g_hash_table_lookup (arguments->texts, name);
  g_auto (GStrv) shapes = g_strsplit (text == NULL ? "" : text, "/", -1);

  if (text == NULL)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s is needed", name);
  for (guint i = 0; shapes[i] != NULL; i++)
    {
      CleaveTensorType type = { element, { 0 } };

      if (!cleave_text_to_shape (name, shapes[i], &type.shape, error))
        return FALSE;
      g_array_append_val (types, type);
    }
  return TRUE;
}

static CleaveSplitAttrs *
from_directml (const CleaveTensorType *type, Arguments *arguments, GError **error)
{
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (CleaveTensorType));
  guint axis = 0;

  if (!take_uint (arguments, "axis", &axis, error) ||
      !take_types (arguments, "outputs", type->element, types, error))
    return cleave_split_name_call ("DirectML Split", NULL, error);
  return cleave_split_op_from_directml (type, (const CleaveTensorType *) types->data, types->len,
                                        axis, error);
}

/* Parses the lists of an argument of XLA, such as "0,0/1,0": list i belongs to slice i. Stores list
 * i in the field of slices[i] that begins at byte `offset`. The first argument that is parsed sets
 * the number of slices. */
static gboolean
take_indices (const Arguments *arguments,
              const char *name,
              guint rank,
              gsize offset,
              GArray *slices,
              GError **error)
{
  const char *text = g_hash_table_lookup (arguments->texts, name);
  g_auto (GStrv) lists = g_strsplit (text == NULL ? "" : text, "/", -1);
  guint n = g_strv_length (lists);

  if (text == NULL)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s is needed", name);
  if (slices->len == 0)
    g_array_set_size (slices, n);
  if (n != slices->len)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has %u slices, start_indices has %u",
                        name, n, slices->len);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GArray) numbers = cleave_text_to_ints (name, lists[i], error);

      if (numbers == NULL)
        return FALSE;
      if (numbers->len != rank)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "slice %u: %s has %u numbers for %u dimensions", i, name, numbers->len,
                            rank);
      memcpy ((char *) &g_array_index (slices, CleaveSliceXla, i) + offset, numbers->data,
              rank * sizeof (gint64));
    }
  return TRUE;
}

static CleaveSplitAttrs *
from_xla (const CleaveTensorType *type, Arguments *arguments, GError **error)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, TRUE, sizeof (CleaveSliceXla));
  guint rank = type->shape.rank;

  if (!take_indices (arguments, "start_indices", rank,
                     G_STRUCT_OFFSET (CleaveSliceXla, start_indices), slices, error) ||
      !take_indices (arguments, "limit_indices", rank,
                     G_STRUCT_OFFSET (CleaveSliceXla, limit_indices), slices, error) ||
      !take_indices (arguments, "strides", rank, G_STRUCT_OFFSET (CleaveSliceXla, strides), slices,
                     error))
    return cleave_split_name_call ("XLA Slice", NULL, error);
  return cleave_split_op_from_xla (type, (const CleaveSliceXla *) slices->data, slices->len, error);
}

static const struct
{
  const char *name;
  const char *arguments[MAX_ARGUMENTS]; /* names of the arguments; NULL after the last one */
  CleaveSplitAttrs *(*make) (const CleaveTensorType *type, Arguments *arguments, GError **error);
} operators[] = {
  { "onednn", { "axis", "num_splits", "size_split", "sections_split" }, from_onednn },
  { "tensorflow", { "axis", "num_splits", "size_splits", "num" }, from_tensorflow },
  { "pytorch", { "dim", "split_size", "sections" }, from_pytorch },
  { "onnx", { "opset", "n_outputs", "axis", "split", "num_outputs" }, from_onnx },
  { "openvino-split", { "axis", "num_splits" }, from_openvino_split },
  { "openvino-variadic-split", { "axis", "split_lengths" }, from_openvino_variadic },
  { "directml", { "axis", "outputs" }, from_directml },
  { "xla", { "start_indices", "limit_indices", "strides" }, from_xla },
};

/* Checks that the operator number `index` has an argument for each name in `texts`. */
static gboolean
check_arguments (guint index, GHashTable *texts, GError **error)
{
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, texts);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (!g_strv_contains (operators[index].arguments, name))
      {
        g_autofree char *known = g_strjoinv (", ", (char **) operators[index].arguments);

        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "%s has no argument '%s'; its arguments are %s", operators[index].name,
                            (const char *) name, known);
      }
  return TRUE;
}

/**
 * cleave_split_op_from_texts:
 * @operator_name: the operator: `onednn`, `tensorflow`, `pytorch`, `onnx`, `openvino-split`,
 * `openvino-variadic-split`, `directml` or `xla`
 * @operand: type of the value to split
 * @arguments: (element-type utf8 utf8): the arguments of the operator under its own names, as
 * texts: numbers such as `3`, and lists of numbers such as `[1,2,4]`
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Split from an operator of another framework, like the constructors of
 * cleave-frameworks.h. This function is for languages that cannot fill the structs of these
 * constructors. `directml` takes the shapes of its `outputs` as `1,2/1,4`, and `xla` takes a list
 * for each slice, such as `0,0/1,0`. A list of several numbers may be without brackets.
 *
 * Fails as the constructor does, and with %CLEAVE_ERROR_ATTRIBUTE or %CLEAVE_ERROR_OPTION if there
 * is no such operator or argument, or if a text is not a number.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 *
 * Since: 0.2
 */
CleaveSplitAttrs *
cleave_split_op_from_texts (const char *operator_name,
                            const CleaveTensorType *operand,
                            GHashTable *arguments,
                            GError **error)
{
  g_return_val_if_fail (operator_name != NULL && arguments != NULL, NULL);
  g_return_val_if_fail (cleave_tensor_type_is_legal (operand), NULL);

  for (guint i = 0; i < G_N_ELEMENTS (operators); i++)
    if (g_str_equal (operators[i].name, operator_name))
      {
        g_auto (Arguments) parsed = { .texts = arguments };

        return check_arguments (i, arguments, error) ? operators[i].make (operand, &parsed, error)
                                                     : NULL;
      }
  return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                           "there is no split operator '%s'; expected onednn, tensorflow, pytorch, "
                           "onnx, openvino-split, openvino-variadic-split, directml or xla",
                           operator_name);
}
