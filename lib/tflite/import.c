/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes a graph from a TensorFlow Lite model: adds its inputs, then the nodes of each operator,
 * then its outputs. Contains the public functions of the import. */

#include "import.h"

#include "../ir/file.h"
#include "../ir/graph-private.h"

void
cleave_tflite_name_tensors (CleaveTfliteImport *import)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  import->names = g_new0 (char *, import->subgraph->n_tensors + 1);
  for (guint i = 0; i < import->subgraph->n_tensors; i++)
    {
      const char *name = import->subgraph->tensors[i].name;

      if (name == NULL || *name == '\0')
        import->names[i] = g_strdup_printf ("tensor_%u", i);
      else if (g_hash_table_contains (seen, name))
        import->names[i] = g_strdup_printf ("%s_%u", name, i);
      else
        import->names[i] = g_strdup (name);
      g_hash_table_add (seen, import->names[i]);
    }
}

/* Converts uint8 to int8, or int8 to uint8, with a table that subtracts or adds 128. Returns NULL
 * on error. */
static CleaveResult *
add_flip (
    CleaveTfliteImport *import, const char *name, CleaveResult *x, CleaveElement to, GError **error)
{
  CleaveTensorType type = { to, CLEAVE_SHAPE (256) };
  guint8 table[256];
  CleaveResult *operands[2] = { x };
  CleaveNode *node;

  /* entry i of the table is for x = i if x is uint8, and for x = i - 128 if x is int8 */
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    table[i] = (guint8) (to == CLEAVE_INT8 ? i ^ 0x80 : i);
  operands[1] = cleave_tflite_add_constant (import, cleave_tensor_new_copy (&type, table, NULL));
  node = cleave_graph_add (import->graph, cleave_op_lookup ("TfliteLookup"), name, operands, 2, 1,
                           NULL, error);
  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

static gboolean
add_inputs (CleaveTfliteImport *import, GError **error)
{
  const CleaveFlatVector *inputs = &import->subgraph->inputs;

  for (guint i = 0; i < inputs->n; i++)
    {
      guint tensor = (guint) cleave_flat_integer (inputs, 4, i);
      CleaveTfliteValue *value = &import->values[tensor];
      CleaveTensorType type = import->subgraph->tensors[tensor].type;
      gboolean is_unsigned = import->subgraph->tensors[tensor].is_unsigned;

      if (type.element == CLEAVE_NONE || value->result != NULL)
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "graph input %u, tensor %u '%s', %s", i,
                            tensor, import->names[tensor],
                            value->result != NULL ? "is an input already"
                                                  : "has an unsupported element type");
      type.element = is_unsigned ? CLEAVE_UINT8 : type.element;
      value->result = cleave_graph_add_input (import->graph, import->names[tensor], &type, error);
      if (value->result != NULL && is_unsigned)
        value->result = add_flip (import, import->names[tensor], value->result, CLEAVE_INT8, error);
      if (value->result == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_outputs (CleaveTfliteImport *import, GError **error)
{
  const CleaveFlatVector *outputs = &import->subgraph->outputs;

  for (guint i = 0; i < outputs->n; i++)
    {
      guint tensor = (guint) cleave_flat_integer (outputs, 4, i);
      const char *name = import->names[tensor];
      CleaveResult *result = NULL;
      gboolean good = cleave_tflite_find_value (import, i, tensor, &result, error);

      if (good && import->subgraph->tensors[tensor].is_unsigned)
        result = add_flip (import, name, result, CLEAVE_UINT8, error);
      if (!good || result == NULL || !cleave_graph_add_output (import->graph, name, result, error))
        {
          g_prefix_error (error, "graph output %u: ", i);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
add_state_output (CleaveTfliteImport *import,
                  const CleaveTfliteState *state,
                  const char *suffix,
                  CleaveResult *value,
                  GError **error)
{
  g_autofree char *name = g_strconcat (state->name, suffix, NULL);

  return cleave_graph_add_output (import->graph, name, value, error);
}

/* Adds outputs for each variable: its next value, and its initial value if CALL_ONCE sets an
 * initial value. Ignores a variable that no operator reads. */
static gboolean
add_states (CleaveTfliteImport *import, GError **error)
{
  for (guint i = 0; i < import->states->len; i++)
    {
      const CleaveTfliteState *state = &g_array_index (import->states, CleaveTfliteState, i);
      CleaveResult *initial;

      if (state->input == NULL)
        continue;
      if (!add_state_output (import, state, "_next", state->next, error))
        return FALSE;
      if (state->initial == NULL)
        continue;
      initial = cleave_graph_add_constant (import->graph, state->name, state->initial);
      if (!add_state_output (import, state, "_initial", initial, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
cleave_tflite_add_operators (CleaveTfliteImport *import, GError **error)
{
  for (guint i = 0; i < import->subgraph->n_operators; i++)
    {
      import->index = i;
      import->op = &import->subgraph->operators[i];
      if (cleave_tflite_convert (import, error))
        continue;
      g_prefix_error (error, "operator %u, %s%s%s%s: ", i, cleave_tflite_operator_name (import->op),
                      import->op->outputs.n == 0 ? "" : " '",
                      import->op->outputs.n == 0
                          ? ""
                          : import->names[cleave_flat_integer (&import->op->outputs, 4, 0)],
                      import->op->outputs.n == 0 ? "" : "'");
      return FALSE;
    }
  return TRUE;
}

/* Removes the nodes that nothing reads, since constants have replaced their values. Each node comes
 * after its operands, so one pass from the last node to the first suffices. */
static void
remove_unused (CleaveGraph *graph)
{
  CleaveNode *node = graph->last, *prev;

  for (; node != NULL; node = prev)
    {
      prev = node->prev;
      if (!cleave_node_is_used (node) && node->op != &cleave_op_input)
        cleave_graph_remove (graph, node);
    }
}

static void
clear_state (gpointer data)
{
  CleaveTfliteState *state = data;

  g_free (state->name);
  g_clear_pointer (&state->initial, cleave_tensor_unref);
}

void
cleave_tflite_clear_values (CleaveTfliteImport *import)
{
  for (guint i = 0; i < import->subgraph->n_tensors; i++)
    g_clear_pointer (&import->values[i].constant, cleave_tensor_unref);
  g_clear_pointer (&import->values, g_free);
  g_clear_pointer (&import->names, g_strfreev);
}

/* Largest number of tensors and operators in all calls of subgraphs together. An unrolled WHILE
 * calls its subgraphs once for each iteration. */
#define MAX_CALLED 200000

static CleaveGraph *
import_model (CleaveTfliteModel *model, GBytes *bytes, GError **error)
{
  gsize n_bytes = g_bytes_get_size (bytes);
  const CleaveTfliteSubgraph *subgraph = &model->subgraphs[0];
  CleaveTfliteImport import = { .model = model,
                                .bytes = bytes,
                                .subgraph = subgraph,
                                .values = g_new0 (CleaveTfliteValue, subgraph->n_tensors),
                                .states = g_array_new (FALSE, FALSE, sizeof (CleaveTfliteState)),
                                .handles =
                                    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                                .work = 0x1p24 + 16 * (double) n_bytes,
                                .copies = (1 << 20) + 16 * (gint64) n_bytes,
                                .calls = MAX_CALLED,
                                .constants = g_new0 (CleaveResult **, model->n_subgraphs) };
  CleaveGraph *graph = cleave_graph_new (
      model->description == NULL || *model->description == '\0' ? "model" : model->description);
  gboolean good;

  import.graph = graph;
  g_array_set_clear_func (import.states, clear_state);
  cleave_tflite_name_tensors (&import);
  good = add_inputs (&import, error) && cleave_tflite_add_operators (&import, error) &&
         add_outputs (&import, error) && add_states (&import, error);
  cleave_tflite_clear_values (&import);
  g_array_unref (import.states);
  g_hash_table_unref (import.handles);
  for (guint i = 0; i < model->n_subgraphs; i++)
    g_free (import.constants[i]);
  g_free (import.constants);
  if (!good)
    g_clear_pointer (&graph, cleave_graph_unref);
  else
    remove_unused (graph);
  return graph;
}

/**
 * cleave_tflite_parse:
 * @bytes: a TensorFlow Lite file
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a graph of a TensorFlow Lite model. Values keep the layout NHWC and the names of the file.
 * Operators on floats become ops of ONNX. Operators on integers that stand for real numbers become
 * ops whose results have the bits of the reference kernels of TensorFlow Lite for Microcontrollers.
 *
 * A variable is the state that an operator such as SVDF, or a VAR_HANDLE, keeps from run to run. A
 * variable becomes an input and an output of the graph, behind the inputs and outputs of the file.
 * The output has the name of the input and `_next`. The caller feeds the output of one run to the
 * input of the next run. For the first run, the caller feeds the zero point of the variable. If a
 * CALL_ONCE sets the variable, the caller feeds the output with the name of the input and
 * `_initial`.
 *
 * Every offset of the file is checked. Fails with %CLEAVE_ERROR_MODEL if the file is broken, or if
 * it has an operator, an option or an element type that Cleave does not support. The message names
 * the operator and the tensor.
 *
 * Returns: (transfer full) (nullable): the graph
 *
 * Since: 0.2
 */
CleaveGraph *
cleave_tflite_parse (GBytes *bytes, GError **error)
{
  g_autoptr (CleaveTfliteModel) model = NULL;
  g_autoptr (CleaveGraph) graph = NULL;

  g_return_val_if_fail (bytes != NULL, NULL);
  model = cleave_tflite_model_new (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error);
  graph = model == NULL ? NULL : import_model (model, bytes, error);
  if (graph == NULL || !cleave_graph_validate (graph, error))
    return NULL;
  return g_steal_pointer (&graph);
}

/**
 * cleave_tflite_load:
 * @path: (type filename): a TensorFlow Lite file
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a graph of a TensorFlow Lite model in a file, as [func@Cleave.tflite_parse] does.
 *
 * Fails as [func@Cleave.tflite_parse] does, and with [error@GLib.FileError] if the file cannot be
 * read.
 *
 * Returns: (transfer full) (nullable): the graph
 *
 * Since: 0.2
 */
CleaveGraph *
cleave_tflite_load (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  CleaveGraph *graph;
  char *data;
  gsize n_bytes;

  g_return_val_if_fail (path != NULL, NULL);
  if (!cleave_check_readable (path, error) || !g_file_get_contents (path, &data, &n_bytes, error))
    return NULL;
  bytes = g_bytes_new_take (data, n_bytes);
  graph = cleave_tflite_parse (bytes, error);
  if (graph == NULL)
    g_prefix_error (error, "%s: ", path);
  else
    cleave_graph_add_file (graph, path);
  return graph;
}
