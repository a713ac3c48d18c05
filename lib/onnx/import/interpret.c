/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the dynamic part of a model. Reads its nodes as the import does, but with all values known.
 * So the import folds each node with the reference kernel, takes one branch of an If, and unrolls a
 * Loop until its condition ends it. No op needs a second implementation for these runs. Expensive
 * nodes and the nodes behind them run together as one program (chain.h). */

#include "chain.h"
#include "dynamic.h"
#include "lists.h"
#include "node.h"
#include "texts.h"

#include "../../ir/graph-private.h"
#include "../dynamic.h"
#include "../wire.h"

/* The functions below find the last readers of values. */

/* Maps the name of each value to 1 plus the index of the last node that reads it; G_MAXUINT: an
 * output of the model. */
typedef struct
{
  GHashTable *last;
  guint node;
} Uses;

static void
note_use (const char *name, gpointer data)
{
  Uses *uses = data;

  if (GPOINTER_TO_UINT (g_hash_table_lookup (uses->last, name)) != G_MAXUINT)
    g_hash_table_insert (uses->last, (gpointer) name, GUINT_TO_POINTER (uses->node + 1));
}

static GHashTable *
find_last_uses (const Onnx__GraphProto *graph)
{
  Uses uses = { g_hash_table_new (g_str_hash, g_str_equal), 0 };

  for (size_t i = 0; i < graph->n_output; i++)
    g_hash_table_insert (uses.last, graph->output[i]->name, GUINT_TO_POINTER (G_MAXUINT));
  for (; uses.node < graph->n_node; uses.node++)
    cleave_onnx_each_read (graph->node[uses.node], note_use, &uses);
  return uses.last;
}

typedef struct
{
  CleaveOnnxImport *import;
  GHashTable *last;
  guint node;
} Done;

static void
release_if_last (const char *name, gpointer data)
{
  Done *done = data;
  CleaveOnnxValue *value = g_hash_table_lookup (done->import->values, name);

  if (value != NULL && GPOINTER_TO_UINT (g_hash_table_lookup (done->last, name)) == done->node + 1)
    cleave_onnx_release_value (done->import, value);
}

/* The functions below run the nodes of the dynamic part. */

static gboolean
bind_given (CleaveOnnxImport *import,
            const char *name,
            CleaveTensor *tensor,
            gboolean is_stored,
            GError **error)
{
  CleaveOnnxValue *value;

  if (g_hash_table_contains (import->values, name))
    return TRUE;
  value = cleave_onnx_value_new_constant (import, name, cleave_tensor_ref (tensor));
  value->is_stored = is_stored;
  return cleave_onnx_bind (import, value, error);
}

/* Defines an input of strings. The caller gives the strings as bytes. */
static gboolean
bind_texts (CleaveOnnxImport *import, const char *name, CleaveTensor *bytes, GError **error)
{
  CleaveTensor *numbers = cleave_onnx_texts_from_bytes (import, name, bytes, error);
  CleaveOnnxValue *value =
      numbers == NULL ? NULL : cleave_onnx_value_new_constant (import, name, numbers);

  if (value == NULL)
    return FALSE;
  value->is_text = TRUE;
  return cleave_onnx_bind (import, value, error);
}

static gboolean
bind_border (CleaveOnnxImport *import,
             const CleaveOnnxDynamic *dynamic,
             const char *const *names,
             CleaveTensor *const *values,
             guint n_values,
             GError **error)
{
  for (guint i = 0; i < dynamic->constants->len; i++)
    {
      const CleaveOnnxDynamicConstant *constant =
          &g_array_index (dynamic->constants, CleaveOnnxDynamicConstant, i);

      if (!bind_given (import, constant->name, constant->tensor, TRUE, error))
        return FALSE;
    }
  for (guint i = 0; i < n_values; i++)
    if (g_hash_table_contains (dynamic->lists, names[i]))
      continue;
    else if (g_hash_table_contains (dynamic->texts, names[i])
                 ? !bind_texts (import, names[i], values[i], error)
                 : !bind_given (import, names[i], values[i], FALSE, error))
      return FALSE;
  if (!cleave_onnx_bind_lists (import, dynamic, names, values, n_values, error))
    return FALSE;
  for (guint i = 0; i < dynamic->reads->len; i++)
    if (!g_hash_table_contains (import->values, dynamic->reads->pdata[i]))
      return cleave_fail (error, CLEAVE_ERROR_OPTION,
                          "the dynamic part reads '%s': give the inputs and outputs of the graph",
                          (const char *) dynamic->reads->pdata[i]);
  return TRUE;
}

static void
import_init (CleaveOnnxImport *import,
             const CleaveOnnxDynamic *dynamic,
             const Onnx__GraphProto *graph,
             GHashTable *opsets)
{
  import->interprets = TRUE;
  import->values = g_hash_table_new (g_str_hash, g_str_equal);
  import->outer = g_ptr_array_new_with_free_func ((GDestroyNotify) g_hash_table_unref);
  import->infos = g_hash_table_new (g_str_hash, g_str_equal);
  import->extents = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  import->opsets = opsets;
  import->whole = graph;
  import->pool = cleave_pool_new ();
  import->chain = cleave_onnx_chain_new ();
  import->graph = cleave_graph_new ("dynamic");
  for (size_t i = 0; i < graph->n_node && i < dynamic->opsets->len; i++)
    g_hash_table_insert (opsets, graph->node[i],
                         GINT_TO_POINTER ((int) g_array_index (dynamic->opsets, gint64, i)));
}

/* Returns whether a node can be part of a chain: it is an op of ONNX, and has no attribute with a
 * tensor or a graph. An op that decodes stored weights (CLEAVE_OP_STORAGE), such as
 * DequantizeLinear, is never part of a chain. A Conv in the chain must see the decoded weights as
 * constants, since a Conv with constant weights may add in another order. */
static gboolean
may_join (const Onnx__NodeProto *proto)
{
  const CleaveOp *op = cleave_op_lookup (proto->op_type);

  if (op == NULL || (op->flags & (CLEAVE_OP_NOT_ONNX | CLEAVE_OP_STORAGE)) != 0 ||
      !cleave_onnx_is_default_domain (proto->domain))
    return FALSE;
  for (size_t i = 0; i < proto->n_attribute; i++)
    if (proto->attribute[i]->g != NULL || proto->attribute[i]->t != NULL)
      return FALSE;
  return TRUE;
}

typedef struct
{
  CleaveOnnxImport *import;
  gboolean reads_chain; /* whether a node of the chain computes an operand; the chain has not run
                         * yet, so the contents of this operand are not known */
  gboolean reads_other; /* whether an operand is a list, or has strings */
} Operands;

static void
look_at (const char *name, gpointer data)
{
  Operands *operands = data;
  const CleaveOnnxValue *value = g_hash_table_lookup (operands->import->values, name);

  if (value == NULL)
    return;
  operands->reads_chain |= value->result != NULL && value->constant == NULL;
  operands->reads_other |= value->items != NULL || value->is_text;
}

static gboolean
read_now (CleaveOnnxImport *import,
          const Onnx__GraphProto *graph,
          guint node,
          gboolean is_open,
          GError **error)
{
  import->chain->is_open = is_open;
  import->chain->n_before = import->all_values == NULL ? 0 : import->all_values->len;
  return cleave_onnx_read_node (import, graph, node, error);
}

/* Reads node `node` of `graph`. If the node needs the contents of values of the chain, runs the
 * chain first. */
static gboolean
read_node (CleaveOnnxImport *import,
           const Onnx__GraphProto *graph,
           GHashTable *last,
           guint node,
           GError **error)
{
  const CleaveNode *before = import->graph->last;
  Operands operands = { import, FALSE, FALSE };

  cleave_onnx_each_read (graph->node[node], look_at, &operands);
  if (before == NULL)
    import->chain->first = node;
  if (import->compute != NULL && may_join (graph->node[node]) && !operands.reads_other)
    {
      if (read_now (import, graph, node, TRUE, NULL))
        return TRUE;
      cleave_onnx_remove_since (import, before);
    }
  else if (!operands.reads_chain)
    return read_now (import, graph, node, FALSE, error);
  return cleave_onnx_chain_run (import, graph, last, node, error) &&
         read_now (import, graph, node, FALSE, error);
}

static gboolean
run_nodes (CleaveOnnxImport *import, const Onnx__GraphProto *graph, GError **error)
{
  g_autoptr (GHashTable) last = find_last_uses (graph);

  for (guint i = 0; i < graph->n_node; i++)
    {
      const Onnx__NodeProto *node = graph->node[i];
      Done done = { import, last, i };

      if (!read_node (import, graph, last, i, error))
        return FALSE;
      for (size_t k = 0; k < node->n_output; k++)
        {
          CleaveOnnxValue *value = g_hash_table_lookup (import->values, node->output[k]);

          if (value != NULL && g_hash_table_contains (last, node->output[k]))
            value->is_live = TRUE;
        }
      cleave_onnx_release (import, import->chain->n_before);
      for (size_t k = 0; k < node->n_output; k++)
        {
          CleaveOnnxValue *value = g_hash_table_lookup (import->values, node->output[k]);

          if (value != NULL)
            value->is_live = FALSE;
        }
      cleave_onnx_each_read (node, release_if_last, &done);
    }
  return cleave_onnx_chain_run (import, graph, last, (guint) graph->n_node, error);
}

static GPtrArray *
take_outputs (CleaveOnnxImport *import, const CleaveOnnxDynamic *dynamic, GError **error)
{
  g_autoptr (GPtrArray) outputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; dynamic->outputs[i] != NULL; i++)
    {
      const char *name = dynamic->outputs[i];
      const CleaveOnnxValue *value = g_hash_table_lookup (import->values, name);
      const CleaveOnnxListType *list = g_hash_table_lookup (dynamic->lists, name);
      CleaveTensor *tensor;

      if (value == NULL)
        return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "the output '%s' is not defined", name);
      if (value->items != NULL && list == NULL)
        return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                                 "the output '%s' is a list of tensors, but the model declares a "
                                 "tensor",
                                 name);
      if (list != NULL && value->items == NULL)
        return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                                 "the output '%s' is a tensor, but the model declares %s", name,
                                 list->text);
      if (list != NULL && !cleave_onnx_take_list (import, name, list, value, outputs, error))
        return NULL;
      if (list != NULL)
        continue;
      if (value->is_text != g_hash_table_contains (dynamic->texts, name))
        return cleave_fail_null (
            error, CLEAVE_ERROR_MODEL, "the output '%s' has %s, but the model declares %s", name,
            value->is_text ? "strings" : "numbers", value->is_text ? "numbers" : "strings");
      tensor = value->is_text ? cleave_onnx_texts_to_bytes (import, value->constant, error)
                              : cleave_tensor_dup_dense (value->constant);
      if (tensor == NULL)
        return NULL;
      g_ptr_array_add (outputs, tensor);
    }
  return g_steal_pointer (&outputs);
}

/**
 * cleave_onnx_dynamic_run:
 * @dynamic: the dynamic part of a model
 * @names: (array length=n_values): names of the inputs and the outputs of the static part
 * @values: (array length=n_values): a value for each name
 * @n_values: number of values
 * @compute: (nullable) (scope call) (closure data): computes expensive nodes; %NULL: the reference
 *   kernels compute all
 * @data: data for @compute
 * @stats: (out caller-allocates) (optional): the cost of the run
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs the dynamic part node by node, after a program ran the static part. The shapes of results
 * follow from the values of operands.
 *
 * Some inputs and outputs are lists ([method@Cleave.OnnxDynamic.get_list_type]). A list takes
 * several entries of @values or of the result: the number of its tensors, a scalar of int64, and
 * then the tensors. The number -1 means that an optional value is absent. The name of an input
 * occurs once for each entry.
 *
 * Fails with the errors of [func@Cleave.onnx_parse] if a node cannot run, and with
 * %CLEAVE_ERROR_OPTION if a value is missing that the dynamic part reads. Fails if the values of a
 * Loop take more than half of the machine's memory, or if the current [class@Gio.Cancellable] of
 * the thread is cancelled.
 *
 * Returns: (transfer container) (nullable) (element-type CleaveTensor): all outputs of the model,
 * in the order of [method@Cleave.OnnxDynamic.get_outputs]; %NULL on error
 *
 * Since: 0.2
 */
GPtrArray *
cleave_onnx_dynamic_run (const CleaveOnnxDynamic *dynamic,
                         const char *const *names,
                         CleaveTensor *const *values,
                         guint n_values,
                         CleaveOnnxComputeFunc compute,
                         gpointer data,
                         CleaveOnnxDynamicStats *stats,
                         GError **error)
{
  g_autoptr (GHashTable) opsets = g_hash_table_new (NULL, NULL);
  g_auto (CleaveOnnxImport) import = { 0 };
  Onnx__GraphProto *graph;
  GPtrArray *outputs = NULL;

  g_return_val_if_fail (dynamic != NULL && (n_values == 0 || (names != NULL && values != NULL)),
                        NULL);
  for (guint i = 0; i < n_values; i++)
    g_return_val_if_fail (names[i] != NULL && values[i] != NULL, NULL);
  graph = cleave_wire_unpack (&onnx__graph_proto__descriptor, dynamic->graph, FALSE, "ONNX graph",
                              error);
  if (graph == NULL)
    return NULL;
  import_init (&import, dynamic, graph, opsets);
  import.compute = compute;
  import.compute_data = data;
  if (cleave_onnx_read_initializers (&import, graph, error) &&
      bind_border (&import, dynamic, names, values, n_values, error))
    {
      import.holders = g_hash_table_new (NULL, NULL);
      if (run_nodes (&import, graph, error))
        outputs = take_outputs (&import, dynamic, error);
    }
  if (outputs != NULL && stats != NULL)
    *stats = (CleaveOnnxDynamicStats){ import.peak_bytes, import.n_calls };
  onnx__graph_proto__free_unpacked (graph, NULL);
  return outputs;
}
