/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Gives numbers to the nodes and values of a file. The nodes of the strips of a segment get numbers
 * that follow each other. So repeats.c can find the nodes that each strip repeats. */

#include "repeats.h"

#include <string.h>

#include "../winograd.h"

static guint
add_value (CleaveOnnxList *list, const char *name)
{
  gpointer known = g_hash_table_lookup (list->ids, name);

  if (known != NULL)
    return GPOINTER_TO_UINT (known) - 1;
  g_ptr_array_add (list->names, (gpointer) name);
  g_ptr_array_add (list->constants, NULL);
  g_hash_table_insert (list->ids, (gpointer) name, GUINT_TO_POINTER (list->names->len));
  return list->names->len - 1;
}

guint
cleave_onnx_list_value (const CleaveOnnxList *list, const char *name)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (list->ids, name)) - 1;
}

/* The functions below find the order in which nodes are numbered. */

/* Pushes onto the stack the nodes that compute a node's operands, with the last operand first. */
static void
push_makers (const Onnx__NodeProto *node, GHashTable *makers, GPtrArray *stack)
{
  for (size_t i = node->n_input; i-- > 0;)
    {
      gpointer maker = g_hash_table_lookup (makers, node->input[i]);

      if (maker != NULL)
        g_ptr_array_add (stack, maker);
    }
}

/* Returns whether a node is neither a Slice nor a Concat. Slices and Concats only copy, so they may
 * move to their first reader. */
static gboolean
is_work (const Onnx__NodeProto *node)
{
  return strcmp (node->op_type, "Slice") != 0 && strcmp (node->op_type, "Concat") != 0;
}

static void
push_first (const CleaveOnnxList *list, CleaveOnnxOrder order, GHashTable *makers, GPtrArray *stack)
{
  Onnx__GraphProto *graph = list->export->model->graph;

  for (size_t i = graph->n_node; i-- > 0;)
    g_ptr_array_add (stack, graph->node[i]);
  for (size_t i = graph->n_node; order == CLEAVE_ONNX_FILE_ORDER && i-- > 0;)
    if (is_work (graph->node[i]))
      g_ptr_array_add (stack, graph->node[i]);
  for (size_t i = graph->n_output; order == CLEAVE_ONNX_READERS_ORDER && i-- > 0;)
    if (g_hash_table_contains (makers, graph->output[i]->name))
      g_ptr_array_add (stack, g_hash_table_lookup (makers, graph->output[i]->name));
}

static void
order_nodes (CleaveOnnxList *list, CleaveOnnxOrder order)
{
  Onnx__GraphProto *graph = list->export->model->graph;
  g_autoptr (GHashTable) makers = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) open = g_hash_table_new (NULL, NULL), done = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();

  for (size_t i = 0; i < graph->n_node; i++)
    for (size_t k = 0; k < graph->node[i]->n_output; k++)
      g_hash_table_insert (makers, graph->node[i]->output[k], graph->node[i]);
  push_first (list, order, makers, stack);
  while (stack->len > 0)
    {
      Onnx__NodeProto *node = stack->pdata[stack->len - 1];

      if (g_hash_table_add (open, node))
        {
          push_makers (node, makers, stack);
          continue;
        }
      g_ptr_array_set_size (stack, (gint) stack->len - 1);
      if (g_hash_table_add (done, node))
        list->nodes[list->n_nodes++] = node;
    }
}

/* The functions below number the values and list their readers. */

static void
index_inputs (CleaveOnnxList *list)
{
  g_autoptr (GArray) inputs = g_array_new (FALSE, FALSE, sizeof (guint));

  list->first_input = g_new (guint, list->n_nodes + 1);
  for (guint i = 0; i < list->n_nodes; i++)
    {
      const Onnx__NodeProto *node = list->nodes[i];

      list->first_input[i] = inputs->len;
      for (size_t k = 0; k < node->n_input; k++)
        {
          guint value =
              *node->input[k] == '\0' ? CLEAVE_NO_VALUE : add_value (list, node->input[k]);

          g_array_append_val (inputs, value);
        }
      for (size_t k = 0; k < node->n_output; k++)
        if (*node->output[k] != '\0')
          add_value (list, node->output[k]);
    }
  list->first_input[list->n_nodes] = inputs->len;
  list->inputs = (guint *) (gpointer) g_array_free (g_steal_pointer (&inputs), FALSE);
}

static void
index_results (CleaveOnnxList *list)
{
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint));
  const Onnx__GraphProto *graph = list->export->model->graph;

  list->makers = g_new (guint, list->names->len + 1);
  list->places = g_new (guint, list->names->len + 1);
  list->is_output = g_new0 (gboolean, list->names->len + 1);
  list->first_result = g_new (guint, list->n_nodes + 1);
  for (guint v = 0; v < list->names->len; v++)
    list->makers[v] = list->places[v] = CLEAVE_NO_VALUE;
  for (guint i = 0; i < list->n_nodes; i++)
    {
      list->first_result[i] = results->len;
      for (size_t k = 0; k < list->nodes[i]->n_output; k++)
        {
          guint value = cleave_onnx_list_value (list, list->nodes[i]->output[k]);

          if (value != CLEAVE_NO_VALUE)
            {
              list->makers[value] = i;
              list->places[value] = results->len;
            }
          g_array_append_val (results, value);
        }
    }
  list->first_result[list->n_nodes] = results->len;
  list->results = (guint *) (gpointer) g_array_free (g_steal_pointer (&results), FALSE);
  for (size_t i = 0; i < graph->n_output; i++)
    if (cleave_onnx_list_value (list, graph->output[i]->name) != CLEAVE_NO_VALUE)
      list->is_output[cleave_onnx_list_value (list, graph->output[i]->name)] = TRUE;
}

static void
index_uses (CleaveOnnxList *list)
{
  guint n_values = list->names->len, n_inputs = list->first_input[list->n_nodes];
  g_autofree guint *next = NULL;

  list->first_use = g_new0 (guint, n_values + 1);
  list->uses = g_new (guint, n_inputs + 1);
  list->use_inputs = g_new (guint, n_inputs + 1);
  for (guint i = 0; i < n_inputs; i++)
    if (list->inputs[i] != CLEAVE_NO_VALUE)
      list->first_use[list->inputs[i] + 1]++;
  for (guint v = 0; v < n_values; v++)
    list->first_use[v + 1] += list->first_use[v];
  next = g_memdup2 (list->first_use, (n_values + 1) * sizeof *next);
  for (guint i = 0; i < list->n_nodes; i++)
    for (guint k = list->first_input[i]; k < list->first_input[i + 1]; k++)
      if (list->inputs[k] != CLEAVE_NO_VALUE)
        {
          guint use = next[list->inputs[k]]++;

          list->uses[use] = i;
          list->use_inputs[use] = k;
        }
}

/* The functions below find types of values: from the graph, or inferred for Slices and Concats. */

static const gint64 *
get_integers (const CleaveOnnxList *list, guint node, guint input, guint *n)
{
  guint value = input < cleave_onnx_list_n_inputs (list, node)
                    ? cleave_onnx_list_input (list, node, input)
                    : CLEAVE_NO_VALUE;
  const Onnx__TensorProto *proto = value == CLEAVE_NO_VALUE ? NULL : list->constants->pdata[value];

  if (proto == NULL || proto->data_type != cleave_onnx_element_number (CLEAVE_INT64) ||
      proto->n_dims != 1)
    return NULL;
  *n = (guint) proto->dims[0];
  return (const gint64 *) (gconstpointer) proto->raw_data.data;
}

const gint64 *
cleave_onnx_list_begins (const CleaveOnnxList *list, guint node, guint *n)
{
  guint n_ends;

  if (strcmp (list->nodes[node]->op_type, "Slice") != 0 ||
      get_integers (list, node, 2, &n_ends) == NULL)
    return NULL;
  return get_integers (list, node, 1, n);
}

/* Infers the result type of a Slice that the exporter added; its steps are 1. Before the call,
 * `type` is the operand's type. Returns FALSE if begins, ends or axes are not constant, or if the
 * Slice has an operand with steps. */
static gboolean
infer_slice (const CleaveOnnxList *list, guint node, CleaveTensorType *type)
{
  guint n, n_axes;
  const gint64 *begins = cleave_onnx_list_begins (list, node, &n),
               *ends = begins == NULL ? NULL : get_integers (list, node, 2, &n),
               *axes = get_integers (list, node, 3, &n_axes);

  if (ends == NULL || axes == NULL || list->nodes[node]->n_input > 4)
    return FALSE;
  for (guint i = 0; i < n; i++)
    type->shape.dim[axes[i]] = ends[i] - begins[i];
  return TRUE;
}

static gboolean
infer_concat (const CleaveOnnxList *list, guint node, CleaveTensorType *type)
{
  gint64 axis = list->nodes[node]->attribute[0]->i;

  for (guint k = 1; k < cleave_onnx_list_n_inputs (list, node); k++)
    {
      guint value = cleave_onnx_list_input (list, node, k);

      if (!list->is_known[value])
        return FALSE;
      type->shape.dim[axis] += list->types[value].shape.dim[axis];
    }
  return TRUE;
}

static void
find_types (CleaveOnnxList *list)
{
  const CleaveGraph *graph = list->export->graph;

  list->types = g_new0 (CleaveTensorType, list->names->len + 1);
  list->is_known = g_new0 (gboolean, list->names->len + 1);
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    for (guint i = 0; i < node->n_results; i++)
      {
        const char *name = *cleave_onnx_value_name (list->export, &node->results[i]);
        guint value = name == NULL ? CLEAVE_NO_VALUE : cleave_onnx_list_value (list, name);

        if (value == CLEAVE_NO_VALUE)
          continue;
        list->types[value] = node->results[i].type;
        list->is_known[value] = TRUE;
      }
  for (guint i = 0; i < list->n_nodes; i++)
    {
      const Onnx__NodeProto *node = list->nodes[i];
      guint to = cleave_onnx_list_value (list, node->output[0]);
      guint from = node->n_input == 0 ? CLEAVE_NO_VALUE : cleave_onnx_list_input (list, i, 0);

      if (to == CLEAVE_NO_VALUE || list->is_known[to] || from == CLEAVE_NO_VALUE ||
          !list->is_known[from])
        continue;
      list->types[to] = list->types[from];
      list->is_known[to] =
          strcmp (node->op_type, "Slice") == 0    ? infer_slice (list, i, &list->types[to])
          : strcmp (node->op_type, "Concat") == 0 ? infer_concat (list, i, &list->types[to])
                                                  : FALSE;
    }
}

/* The functions below find the kinds of nodes. A node of a Loop body can stand only for nodes of
 * one kind, one from each iteration. */

/* Returns a description of a node: its op, attributes and constant operands, and the Winograd line
 * of its doc string (winograd.h). Leaves out the names of operands that are not constant. For a
 * Slice, gives the extents instead of the begins and ends. Nodes with equal descriptions are of one
 * kind. */
static char *
describe (const CleaveOnnxList *list, guint index)
{
  const Onnx__NodeProto *node = list->nodes[index];
  GString *text = g_string_new (node->op_type);
  guint n = 0, n_ends;
  const gint64 *begins = cleave_onnx_list_begins (list, index, &n);
  const gint64 *ends = begins == NULL ? NULL : get_integers (list, index, 2, &n_ends);
  const char *winograd = cleave_onnx_find_winograd (node->doc_string);

  if (winograd != NULL)
    g_string_append_len (text, winograd, (gssize) strcspn (winograd, "\n"));
  g_string_append_printf (text, " %s %u", node->domain == NULL ? "" : node->domain,
                          (guint) node->n_output);
  for (guint k = 0; k < cleave_onnx_list_n_inputs (list, index); k++)
    {
      guint value = cleave_onnx_list_input (list, index, k);

      if (begins != NULL && (k == 1 || k == 2))
        continue;
      if (value != CLEAVE_NO_VALUE && list->constants->pdata[value] == NULL)
        g_string_append (text, " *");
      else
        g_string_append_printf (text, " %u", value);
    }
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, " +%" G_GINT64_FORMAT, ends[i] - begins[i]);
  for (size_t i = 0; i < node->n_attribute; i++)
    {
      g_autofree guint8 *bytes =
          g_malloc (onnx__attribute_proto__get_packed_size (node->attribute[i]) + 1);
      gsize size = onnx__attribute_proto__pack (node->attribute[i], bytes);
      g_autofree char *code = g_base64_encode (bytes, size);

      g_string_append_printf (text, " %s", code);
    }
  return g_string_free (text, FALSE);
}

static void
find_kinds (CleaveOnnxList *list)
{
  g_autoptr (GHashTable) kinds = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  list->kinds = g_new (guint, list->n_nodes + 1);
  for (guint i = 0; i < list->n_nodes; i++)
    {
      char *text = describe (list, i);
      gpointer known = g_hash_table_lookup (kinds, text);

      if (known == NULL)
        known = GUINT_TO_POINTER (g_hash_table_size (kinds) + 1);
      list->kinds[i] = GPOINTER_TO_UINT (known);
      g_hash_table_replace (kinds, text, known);
    }
}

gboolean
cleave_onnx_list_init (CleaveOnnxList *list, CleaveOnnxExport *export, CleaveOnnxOrder order)
{
  const Onnx__GraphProto *graph = export->model->graph;

  for (size_t i = 0; i < graph->n_node; i++)
    for (size_t k = 0; k < graph->node[i]->n_attribute; k++)
      if (graph->node[i]->attribute[k]->g != NULL)
        return FALSE;
  *list = (CleaveOnnxList){ .export = export };
  list->ids = g_hash_table_new (g_str_hash, g_str_equal);
  list->names = g_ptr_array_new ();
  list->constants = g_ptr_array_new ();
  list->nodes = g_new (Onnx__NodeProto *, graph->n_node + 1);
  for (size_t i = 0; i < graph->n_initializer; i++)
    {
      guint value = add_value (list, graph->initializer[i]->name);

      /* A default value is not treated as a constant. A copy of the default value in the body of a
       * Loop would not change if a caller feeds another value. */
      if (!cleave_onnx_is_default (export, graph->initializer[i]->name))
        list->constants->pdata[value] = graph->initializer[i];
    }
  order_nodes (list, order);
  index_inputs (list);
  index_results (list);
  index_uses (list);
  find_types (list);
  find_kinds (list);
  return TRUE;
}

void
cleave_onnx_list_clear (CleaveOnnxList *list)
{
  g_clear_pointer (&list->ids, g_hash_table_unref);
  g_clear_pointer (&list->names, g_ptr_array_unref);
  g_clear_pointer (&list->constants, g_ptr_array_unref);
  g_free (list->nodes);
  g_free (list->first_input);
  g_free (list->inputs);
  g_free (list->makers);
  g_free (list->places);
  g_free (list->is_output);
  g_free (list->first_result);
  g_free (list->results);
  g_free (list->first_use);
  g_free (list->uses);
  g_free (list->use_inputs);
  g_free (list->types);
  g_free (list->is_known);
  g_free (list->kinds);
}
