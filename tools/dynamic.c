/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints notes, errors and lists about the dynamic part of a model, as text and as JSON. A cause is
 * a node whose own result has a shape that depends on data. A list is an input or output that is a
 * sequence or an optional value. */

#include "dynamic.h"

#include "arguments.h"
#include "sizes.h"

#include <stdio.h>

/* Returns the first node of the dynamic part whose own result has a shape that depends on data.
 * Later nodes may be in the dynamic part only because they read results of this kind. */
static const CleaveOnnxDynamicNode *
find_cause (const CleaveOnnxDynamic *dynamic)
{
  for (guint i = 0; i < cleave_onnx_dynamic_get_n_nodes (dynamic); i++)
    if (cleave_onnx_dynamic_get_node (dynamic, i)->is_cause)
      return cleave_onnx_dynamic_get_node (dynamic, i);
  return NULL;
}

void
cleave_dynamic_warn (const CleaveGraph *graph, const char *path)
{
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  const CleaveOnnxDynamicNode *cause;
  guint n;

  cause = dynamic == NULL ? NULL : find_cause (dynamic);
  if (cause == NULL)
    return;
  n = cleave_onnx_dynamic_get_n_nodes (dynamic);
  g_printerr ("cleave: %s: note: the shapes of %u node%s depend on data, from %s '%s' on. No "
              "number includes this dynamic part, and cleave info lists it.\n",
              path, n, n == 1 ? "" : "s", cause->op, cause->name);
}

void
cleave_dynamic_warn_left_out (const CleaveGraph *graph)
{
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);

  if (dynamic != NULL && cleave_onnx_dynamic_get_n_nodes (dynamic) > 0)
    g_printerr ("cleave: note: the written files do not contain the dynamic part. cleave run and "
                "ONNX Runtime run the whole model.\n");
}

gboolean
cleave_dynamic_check_static (const CleaveGraph *graph, char *const *values, GError **error)
{
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);

  for (; dynamic != NULL && values != NULL && *values != NULL; values++)
    if (cleave_onnx_dynamic_computes (dynamic, *values))
      return cleave_argument_fail (
          error,
          "'%s' is a value of the dynamic part, which cannot be extracted: "
          "give a value of the static part",
          *values);
  return TRUE;
}

gboolean
cleave_dynamic_refuse (const CleaveGraph *graph, const char *what, GError **error)
{
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  const CleaveOnnxDynamicNode *cause;

  if (dynamic == NULL)
    return TRUE;
  cause = find_cause (dynamic);
  if (cause == NULL)
    return cleave_argument_fail (
        error, "the model has an input of strings, a sequence or an optional value, and %s", what);
  return cleave_argument_fail (error,
                               "the shapes of the nodes from %s '%s' on depend on data, and %s",
                               cause->op, cause->name, what);
}

static void
print_node (const CleaveOnnxDynamicNode *node)
{
  g_autofree char *bound = cleave_size_to_print (node->max_bytes);

  printf ("            %s '%s' %s", node->op, node->name, node->reason);
  if (node->is_cause && node->value != NULL)
    printf (": '%s'", node->value);
  if (node->max_bytes >= 0)
    printf ("; at most %s", bound);
  printf ("\n");
}

void
cleave_dynamic_print_inputs (const CleaveOnnxDynamic *dynamic)
{
  const char *const *name = cleave_onnx_dynamic_get_inputs (dynamic);

  for (; *name != NULL; name++)
    printf ("input       %s: %s\n", *name,
            cleave_onnx_dynamic_get_list_type (dynamic, *name, NULL));
}

void
cleave_dynamic_print_outputs (const CleaveOnnxDynamic *dynamic)
{
  const char *const *name = cleave_onnx_dynamic_get_outputs (dynamic);

  for (; *name != NULL; name++)
    if (cleave_dynamic_list_type (dynamic, *name) != NULL)
      printf ("output      %s: %s\n", *name, cleave_dynamic_list_type (dynamic, *name));
    else if (cleave_onnx_dynamic_computes (dynamic, *name))
      printf ("output      %s: its shape depends on data\n", *name);
}

void
cleave_dynamic_print (const CleaveOnnxDynamic *dynamic, gboolean all)
{
  guint n = cleave_onnx_dynamic_get_n_nodes (dynamic), n_printed = 0;

  if (n > 0)
    printf ("dynamic     %u node%s with shapes that depend on data; no number includes the dynamic "
            "part\n",
            n, n == 1 ? "" : "s");
  for (guint i = 0; i < n; i++)
    {
      const CleaveOnnxDynamicNode *node = cleave_onnx_dynamic_get_node (dynamic, i);

      if (!all && !node->is_cause)
        continue;
      print_node (node);
      n_printed++;
    }
  if (n_printed < n)
    printf ("            and %u that read their results; --nodes lists them\n", n - n_printed);
}

static void
add_json_list (CleaveJson *json,
               const CleaveOnnxDynamic *dynamic,
               const char *name,
               gboolean is_input)
{
  cleave_json_begin (json, NULL);
  cleave_json_string (json, "name", name);
  cleave_json_string (json, "type", cleave_dynamic_list_type (dynamic, name));
  cleave_json_bool (json, "input", is_input);
  cleave_json_end (json);
}

void
cleave_dynamic_add_json (CleaveJson *json, const CleaveOnnxDynamic *dynamic)
{
  const char *const *outputs = cleave_onnx_dynamic_get_outputs (dynamic);

  cleave_json_begin (json, "dynamic");
  cleave_json_begin_list (json, "nodes");
  for (guint i = 0; i < cleave_onnx_dynamic_get_n_nodes (dynamic); i++)
    {
      const CleaveOnnxDynamicNode *node = cleave_onnx_dynamic_get_node (dynamic, i);

      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", node->name);
      cleave_json_string (json, "op", node->op);
      cleave_json_bool (json, "cause", node->is_cause);
      cleave_json_string (json, "reason", node->reason);
      if (node->value != NULL)
        cleave_json_string (json, "value", node->value);
      if (node->max_bytes >= 0)
        cleave_json_int (json, "max_bytes", node->max_bytes);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
  cleave_json_begin_list (json, "lists");
  for (const char *const *name = cleave_onnx_dynamic_get_inputs (dynamic); *name != NULL; name++)
    add_json_list (json, dynamic, *name, TRUE);
  for (const char *const *name = outputs; *name != NULL; name++)
    if (cleave_dynamic_list_type (dynamic, *name) != NULL)
      add_json_list (json, dynamic, *name, FALSE);
  cleave_json_end_list (json);
  cleave_json_begin_list (json, "outputs");
  for (; *outputs != NULL; outputs++)
    if (cleave_onnx_dynamic_computes (dynamic, *outputs))
      cleave_json_string (json, NULL, *outputs);
  cleave_json_end_list (json);
  cleave_json_end (json);
}

const char *
cleave_dynamic_list_type (const CleaveOnnxDynamic *dynamic, const char *name)
{
  return dynamic == NULL ? NULL : cleave_onnx_dynamic_get_list_type (dynamic, name, NULL);
}

guint
cleave_dynamic_list_length (CleaveTensor *number)
{
  gint64 n = *(const gint64 *) cleave_tensor_get_data (number);

  return n < 0 ? 0 : (guint) n;
}

char *
cleave_dynamic_item_name (const char *list, guint index)
{
  return g_strdup_printf ("%s.%u", list, index);
}

char **
cleave_dynamic_flatten (const CleaveOnnxDynamic *dynamic,
                        const char *const *names,
                        const GPtrArray *tensors,
                        GPtrArray *flat)
{
  g_autoptr (GStrvBuilder) all = g_strv_builder_new ();

  for (guint at = 0; *names != NULL; names++)
    {
      const gboolean is_list = cleave_dynamic_list_type (dynamic, *names) != NULL;
      const guint n = is_list ? cleave_dynamic_list_length (tensors->pdata[at++]) : 1;

      for (guint i = 0; i < n; i++)
        {
          g_autofree char *name =
              is_list ? cleave_dynamic_item_name (*names, i) : g_strdup (*names);

          g_strv_builder_add (all, name);
          g_ptr_array_add (flat, cleave_tensor_ref (tensors->pdata[at++]));
        }
    }
  return g_strv_builder_end (all);
}

gboolean
cleave_dynamic_has_strings (const CleaveGraph *graph, const char *name)
{
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);

  return dynamic != NULL && cleave_onnx_dynamic_has_strings (dynamic, name);
}

gboolean
cleave_dynamic_is_output (const CleaveGraph *graph, const char *output)
{
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);

  return dynamic == NULL || g_strv_contains (cleave_onnx_dynamic_get_outputs (dynamic), output);
}
