/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Adds the inputs of the model to the graph, with the shapes and values that the caller gives.
 *
 * Over 400 lines: this file keeps the shapes, extents, numbers and values of all inputs in one
 * table. */

#include "import.h"
#include "lists.h"

#include <string.h>

#include "../../ir/defaults.h"
#include "../../ir/graph-private.h"
#include <cleave/cleave-languages.h>

/* A name may have at most this many bytes, since names become parts of other names and of messages.
 */
#define MAX_NAME 65536
/* The metadata entry FREE_SHAPE + name of an input has the shape of the input in the model,
 * including free dimensions. */
#define FREE_SHAPE "cleave.free-shape."

gboolean
cleave_onnx_check_name (const char *name, const char *what, GError **error)
{
  if (name == NULL || *name == '\0')
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s has no name", what);
  if (strlen (name) > MAX_NAME)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "the name of %s has more than %d bytes", what,
                        MAX_NAME);
  if (!g_utf8_validate (name, -1, NULL))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "the name of %s is not UTF-8", what);
  return TRUE;
}

/* Lists the names of all dimensions of the inputs. A NULL ends the list. */
static GPtrArray *
list_dims (const GPtrArray *inputs)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < inputs->len; i++)
    for (guint d = 0; d < CLEAVE_MAX_RANK; d++)
      {
        const char *name = cleave_onnx_dim_name (inputs->pdata[i], d);

        if (name != NULL && g_utf8_validate (name, -1, NULL))
          g_ptr_array_add (names, (gpointer) name);
      }
  g_ptr_array_add (names, NULL);
  return names;
}

/* The functions below are for inputs with a default value. */

/* First IR version with default values. In earlier versions, every initializer had to be an input,
 * too, and a caller could not replace the initializer. */
#define FIRST_IR_OF_DEFAULTS 4

static void
add_default (CleaveOnnxImport *import,
             const char *name,
             CleaveTensor *tensor,
             CleaveDefaultState state)
{
  CleaveDefault entry = { g_strdup (name), cleave_tensor_ref (tensor), state };

  if (import->defaults == NULL)
    {
      import->defaults = g_array_new (FALSE, FALSE, sizeof (CleaveDefault));
      g_array_set_clear_func (import->defaults, cleave_default_clear);
      import->default_index = g_hash_table_new (NULL, NULL);
    }
  g_array_append_val (import->defaults, entry);
  g_hash_table_insert (import->default_index, tensor, GUINT_TO_POINTER (import->defaults->len));
}

/* Returns whether an initializer is the default value of an input: the IR version allows default
 * values, and the initializer has the type of the input. */
static gboolean
is_default (const CleaveOnnxImport *import,
            const Onnx__ValueInfoProto *info,
            const CleaveOnnxValue *value)
{
  CleaveTensorType type;

  return import->ir_version >= FIRST_IR_OF_DEFAULTS && value->constant != NULL &&
         value->form == CLEAVE_ONNX_FORM_SAME &&
         cleave_onnx_input_type (import, info, &cleave_tensor_get_type (value->constant)->shape,
                                 &type, NULL) &&
         type.element == cleave_tensor_get_type (value->constant)->element;
}

/* Returns whether the options give a value to input `name`, in `options->values` or in
 * `options->dims`. An entry of `options->dims` is the extent of a dimension or the value of an
 * input. If `dims`, the names of all dimensions, contains the name of the entry, the entry is the
 * extent of this dimension. Otherwise, the entry is the value of the input with this name. */
static gboolean
has_value_in_options (const CleaveOnnxOptions *options, const char *name, const GPtrArray *dims)
{
  for (guint i = 0; options != NULL && i < options->n_values; i++)
    if (g_strcmp0 (options->values[i].name, name) == 0)
      return TRUE;
  for (guint i = 0; options != NULL && i < options->n_dims; i++)
    if (g_strcmp0 (options->dims[i].name, name) == 0 &&
        !g_strv_contains ((const char *const *) dims->pdata, name))
      return TRUE;
  return FALSE;
}

/* Adds the value of an input to the list of default values. The value becomes a constant of the
 * graph. Constant folding does not use the constant, since the user of an exported model may pass
 * another value for the input. */
static void
make_default (CleaveOnnxImport *import, CleaveOnnxValue *value)
{
  add_default (import, value->name, value->constant, CLEAVE_DEFAULT_OPEN);
  if (!cleave_onnx_is_read (import, value->name))
    return;
  cleave_onnx_value_result (import, value);
  g_clear_pointer (&value->constant, cleave_tensor_unref);
}

void
cleave_onnx_fix_default (CleaveOnnxImport *import, const CleaveTensor *constant)
{
  guint index = import->default_index == NULL
                    ? 0
                    : GPOINTER_TO_UINT (g_hash_table_lookup (import->default_index, constant));

  if (index > 0)
    g_array_index (import->defaults, CleaveDefault, index - 1).state = CLEAVE_DEFAULT_FIXED;
}

void
cleave_onnx_keep_defaults (CleaveOnnxImport *import)
{
  if (import->defaults == NULL)
    return;
  for (CleaveNode *node = import->graph->first, *next; node != NULL; node = next)
    {
      CleaveTensor *tensor = cleave_node_get_constant (node);

      next = node->next;
      if (tensor != NULL && !cleave_node_is_used (node) &&
          g_hash_table_contains (import->default_index, tensor))
        cleave_graph_remove (import->graph, node);
    }
  cleave_graph_set_defaults (import->graph, g_steal_pointer (&import->defaults));
}

/* Returns the inputs of the graph. An input with an initializer is a constant instead, unless the
 * caller gives another value for the input. */
static GPtrArray *
list_inputs (CleaveOnnxImport *import,
             const Onnx__GraphProto *proto,
             const CleaveOnnxOptions *options,
             GError **error)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new (), all = g_ptr_array_new (), dims = NULL;

  for (size_t i = 0; i < proto->n_input; i++)
    g_ptr_array_add (all, proto->input[i]);
  dims = list_dims (all);
  for (size_t i = 0; i < proto->n_input; i++)
    {
      CleaveOnnxValue *value;

      if (!cleave_onnx_check_name (proto->input[i]->name, "an input", error))
        return NULL;
      if (import->dynamic != NULL && g_hash_table_contains (import->dynamic, proto->input[i]->name))
        continue; /* the initializer is a tensor of strings */
      if (import->dynamic != NULL && cleave_onnx_is_list (proto->input[i]))
        {
          g_hash_table_insert (import->dynamic, proto->input[i]->name, NULL);
          continue;
        }
      value = g_hash_table_lookup (import->values, proto->input[i]->name);
      if (value == NULL)
        g_ptr_array_add (inputs, proto->input[i]);
      else if (is_default (import, proto->input[i], value) &&
               !has_value_in_options (options, proto->input[i]->name, dims))
        make_default (import, value);
      else if (is_default (import, proto->input[i], value))
        {
          add_default (import, value->name, value->constant, CLEAVE_DEFAULT_GIVEN);
          g_hash_table_remove (import->values, value->name);
          g_ptr_array_add (inputs, proto->input[i]);
        }
    }
  if (inputs->len <= CLEAVE_ONNX_MAX_BORDER)
    return g_steal_pointer (&inputs);
  return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "%u inputs are more than %d", inputs->len,
                           CLEAVE_ONNX_MAX_BORDER);
}

typedef struct
{
  const CleaveShape *shape; /* shape that the caller gives the input; NULL: the caller gives none */
  CleaveTensor *value;      /* value that the caller gives the input; NULL: the caller gives none */
} Given;

/* Fails if the caller gives the shape or the value of an input that is a sequence or an optional
 * value. */
static gboolean
check_no_list (const CleaveOnnxImport *import, const char *name, const char *what, GError **error)
{
  return name == NULL || !cleave_onnx_is_list_input (import, name) ||
         cleave_fail (error, CLEAVE_ERROR_OPTION,
                      "a %s is given for '%s', which is a list of tensors: give the tensors to the "
                      "run",
                      what, name);
}

/* Returns the entry for input `name` in `given`, which is indexed by input. `name` NULL: the only
 * input. Returns NULL on error: there is no such input, or the caller gave its shape or value
 * twice. `what`: the word "shape" or "value" for the error. */
static Given *
find_given (
    const char *name, const char *what, const GPtrArray *inputs, Given *given, GError **error)
{
  guint i = 0;

  if (name == NULL && inputs->len != 1)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                             "the model has %u inputs: say which one the %s is for", inputs->len,
                             what);
  while (i < inputs->len && name != NULL &&
         strcmp (((Onnx__ValueInfoProto *) inputs->pdata[i])->name, name) != 0)
    i++;
  if (i == inputs->len)
    cleave_fail (error, CLEAVE_ERROR_OPTION,
                 "a %s is given for '%s', which is not an input of the model%s", what, name,
                 strcmp (what, "shape") == 0 ? " or a dimension of one" : "");
  else if (given[i].shape != NULL || given[i].value != NULL)
    cleave_fail (error, CLEAVE_ERROR_OPTION, "two %ss are given for input '%s'", what,
                 ((Onnx__ValueInfoProto *) inputs->pdata[i])->name);
  else
    return &given[i];
  return NULL;
}

/* Returns whether an entry of the options is not the shape of an input, but the extent of a free
 * dimension. This is so if the entry has one number, and if its name is the name of a dimension and
 * of no input. */
static gboolean
is_for_dim (const CleaveOnnxShape *shape, const GPtrArray *inputs, const GPtrArray *dims)
{
  if (shape->name == NULL || shape->shape.rank != 1 ||
      !g_strv_contains ((const char *const *) dims->pdata, shape->name))
    return FALSE;
  for (guint i = 0; i < inputs->len; i++)
    if (g_str_equal (((Onnx__ValueInfoProto *) inputs->pdata[i])->name, shape->name))
      return FALSE;
  return TRUE;
}

static gboolean
assign (const CleaveOnnxImport *import,
        const CleaveOnnxOptions *options,
        const GPtrArray *inputs,
        const GPtrArray *dims,
        Given *given,
        GError **error)
{
  for (guint i = 0; options != NULL && i < options->n_values; i++)
    {
      const char *name = options->values[i].name;
      Given *to = check_no_list (import, name, "value", error)
                      ? find_given (name, "value", inputs, given, error)
                      : NULL;

      if (to == NULL)
        return FALSE;
      to->value = options->values[i].value;
    }
  for (guint i = 0; options != NULL && i < options->n_shapes; i++)
    {
      Given *to;

      if (is_for_dim (&options->shapes[i], inputs, dims))
        continue;
      to = check_no_list (import, options->shapes[i].name, "shape", error)
               ? find_given (options->shapes[i].name, "shape", inputs, given, error)
               : NULL;
      if (to == NULL)
        return FALSE;
      to->shape = &options->shapes[i].shape;
    }
  return TRUE;
}

static gboolean
fail_dim (const char *name, const GPtrArray *names, GError **error)
{
  const char *nearest = cleave_text_find_nearest (name, (const char *const *) names->pdata);

  if (nearest == NULL)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "no input of the model has a dimension '%s'",
                        name);
  return cleave_fail (error, CLEAVE_ERROR_OPTION,
                      "no input of the model has a dimension '%s'; did you mean '%s'?", name,
                      nearest);
}

/* Returns a tensor with the extent that the option `dim` gives, if `dim` names an input of one
 * integer instead of a dimension. The tensor has the type of this input, and becomes the value of
 * the input. Returns NULL if no input of one integer has this name. */
static CleaveTensor *
make_number (const CleaveOnnxImport *import, const GPtrArray *inputs, const CleaveOnnxDim *dim)
{
  for (guint i = 0; i < inputs->len; i++)
    {
      const Onnx__ValueInfoProto *info = inputs->pdata[i];
      CleaveTensorType type;

      /* Copies the first bytes of the extent, an int64. On a little-endian machine, these bytes are
       * the same number in a smaller integer type. */
      if (g_str_equal (info->name, dim->name) &&
          cleave_onnx_input_type (import, info, NULL, &type, NULL) &&
          cleave_shape_n_elements (&type.shape) == 1 && !cleave_element_is_float (type.element))
        return cleave_tensor_new_copy (&type, &dim->extent, NULL);
    }
  return NULL;
}

static gboolean
give_number (CleaveTensor *number,
             const char *name,
             const GPtrArray *inputs,
             Given *given,
             GPtrArray *made,
             GError **error)
{
  Given *to = find_given (name, "value", inputs, given, error);

  g_ptr_array_add (made, number);
  if (to != NULL)
    to->value = number;
  return to != NULL;
}

static void
keep_dim (CleaveOnnxImport *import, const char *name, gint64 extent)
{
  g_hash_table_insert (import->extents, (gpointer) name, g_memdup2 (&extent, sizeof extent));
}

static gboolean
keep_dims (CleaveOnnxImport *import,
           const CleaveOnnxOptions *options,
           const GPtrArray *inputs,
           const GPtrArray *names,
           Given *given,
           GPtrArray *made,
           GError **error)
{
  for (guint i = 0; options != NULL && i < options->n_shapes; i++)
    if (is_for_dim (&options->shapes[i], inputs, names))
      keep_dim (import, options->shapes[i].name, options->shapes[i].shape.dim[0]);
  for (guint i = 0; options != NULL && i < options->n_dims; i++)
    {
      const CleaveOnnxDim *dim = &options->dims[i];

      CleaveTensor *number = NULL;

      if (!g_strv_contains ((const char *const *) names->pdata, dim->name))
        {
          number = make_number (import, inputs, dim);
          if (number == NULL)
            return fail_dim (dim->name, names, error);
          if (!give_number (number, dim->name, inputs, given, made, error))
            return FALSE;
          continue;
        }
      if (dim->extent < 0)
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "dimension '%s' cannot be %" G_GINT64_FORMAT, dim->name, dim->extent);
      keep_dim (import, dim->name, dim->extent);
    }
  return TRUE;
}

/* Defines an input as a constant, since the caller gives its value. */
static gboolean
bind_value (CleaveOnnxImport *import,
            const Onnx__ValueInfoProto *info,
            CleaveTensor *value,
            GError **error)
{
  const CleaveTensorType *came = cleave_tensor_get_type (value);
  CleaveTensorType wanted;

  if (cleave_onnx_is_text_input (import, info))
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "input '%s' has strings, which cannot be fixed: give them to the run",
                        info->name);
  if (!cleave_onnx_input_type (import, info, &came->shape, &wanted, error))
    return FALSE;
  if (wanted.element != came->element)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "input '%s' is %s in the model, so it cannot be given %s", info->name,
                        cleave_element_get_name (wanted.element),
                        cleave_element_get_name (came->element));
  return cleave_onnx_bind (
      import, cleave_onnx_value_new_constant (import, info->name, cleave_tensor_ref (value)),
      error);
}

static gboolean
add_input (CleaveOnnxImport *import,
           const Onnx__ValueInfoProto *info,
           const CleaveShape *given,
           GError **error)
{
  CleaveOnnxValue *value = cleave_onnx_value_new (import, info->name);
  g_autofree char *key = g_strconcat (FREE_SHAPE, info->name, NULL);
  g_autofree char *shape = cleave_onnx_free_shape (info);
  CleaveTensorType type;

  if (!cleave_onnx_bind (import, value, error) ||
      !cleave_onnx_input_type (import, info, given, &type, error))
    return FALSE;
  cleave_onnx_keep_extents (import, info, &type.shape);
  value->result = cleave_graph_add_input (import->graph, info->name, &type, error);
  if (value->result == NULL)
    return FALSE;
  if (shape != NULL)
    cleave_onnx_origin_set_metadata (import->origin, key, shape);
  if (cleave_onnx_is_text_input (import, info))
    g_hash_table_insert (import->dynamic, info->name, NULL);
  return TRUE;
}

/* Completes the error for an input without a shape: adds the names of later inputs with free
 * dimensions, so that the caller can give all shapes at once. */
static void
name_other_inputs (const CleaveOnnxImport *import,
                   const GPtrArray *inputs,
                   const Given *given,
                   guint first,
                   GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  if (error == NULL || *error == NULL || strstr ((*error)->message, "free dimensions") == NULL)
    return;
  for (guint i = first; i < inputs->len; i++)
    {
      const Onnx__ValueInfoProto *info = inputs->pdata[i];
      g_autoptr (GError) mine = NULL;
      CleaveTensorType type;

      if (given[i].value == NULL &&
          !cleave_onnx_input_type (import, info, given[i].shape, &type, &mine) &&
          strstr (mine->message, "free dimensions") != NULL)
        g_string_append_printf (names, "%s'%s'", names->len == 0 ? "" : ", ", info->name);
    }
  if (names->len > 0)
    {
      char *message = g_strdup_printf ("%s; inputs with free dimensions, too: %s",
                                       (*error)->message, names->str);

      g_free ((*error)->message);
      (*error)->message = message;
    }
}

gboolean
cleave_onnx_read_inputs (CleaveOnnxImport *import,
                         const Onnx__GraphProto *proto,
                         const CleaveOnnxOptions *options,
                         GError **error)
{
  g_autoptr (GPtrArray) inputs = list_inputs (import, proto, options, error);
  g_autoptr (GPtrArray) made =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) dims = inputs == NULL ? NULL : list_dims (inputs);
  g_autofree Given *given = NULL;

  if (inputs == NULL)
    return FALSE;
  given = g_new0 (Given, inputs->len + 1);
  if (!assign (import, options, inputs, dims, given, error) ||
      !keep_dims (import, options, inputs, dims, given, made, error))
    return FALSE;
  for (guint i = 0; i < inputs->len; i++)
    if (given[i].value == NULL ? !add_input (import, inputs->pdata[i], given[i].shape, error)
                               : !bind_value (import, inputs->pdata[i], given[i].value, error))
      {
        name_other_inputs (import, inputs, given, i + 1, error);
        return FALSE;
      }
  return TRUE;
}
