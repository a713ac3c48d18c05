/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs chains of nodes of the dynamic part as one program (chain.h). */

#include "chain.h"
#include "dynamic.h"

#include "../../ir/graph-private.h"

CleaveOnnxChain *
cleave_onnx_chain_new (void)
{
  CleaveOnnxChain *chain = g_new0 (CleaveOnnxChain, 1);

  chain->operands = g_ptr_array_new ();
  chain->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  return chain;
}

void
cleave_onnx_chain_free (CleaveOnnxChain *chain)
{
  g_ptr_array_unref (chain->operands);
  g_ptr_array_unref (chain->tensors);
  g_free (chain);
}

/* The functions below add nodes of a chain to the graph. */

gboolean
cleave_onnx_chain_starts (const CleaveOnnxImport *import,
                          const CleaveCall *call,
                          const GPtrArray *operands)
{
  g_autofree CleaveTensor **tensors = NULL;
  gboolean all_stored = TRUE;

  if (import->chain == NULL || !import->chain->is_open)
    return FALSE;
  tensors = g_new0 (CleaveTensor *, operands->len + 1);
  for (guint i = 0; i < operands->len; i++)
    {
      const CleaveOnnxValue *value = operands->pdata[i];

      tensors[i] = value == NULL ? NULL : value->constant;
      all_stored = all_stored && (value == NULL || value->is_stored);
    }
  return !all_stored && cleave_onnx_is_expensive (import, call, tensors);
}

void
cleave_onnx_chain_add_operand (CleaveOnnxImport *import, CleaveOnnxValue *value)
{
  CleaveOnnxChain *chain = import->chain;
  g_autofree char *name = g_strdup_printf ("operand%u", chain->operands->len);

  g_ptr_array_add (chain->operands, value);
  if (value->is_stored)
    {
      value->result = cleave_graph_add_constant (import->graph, name, value->constant);
      return;
    }
  value->result =
      cleave_graph_add_input (import->graph, name, cleave_tensor_get_type (value->constant), NULL);
  g_ptr_array_add (chain->tensors, cleave_tensor_ref (value->constant));
  cleave_onnx_count_held (import, value->constant);
}

/* The functions below run the graph of a chain. */

typedef struct
{
  CleaveOnnxImport *import;
  GHashTable *last;   /* maps the name of a value to 1 plus the index of its last reader */
  guint node;         /* index, in the list of nodes of the file, of the first node that has not
                       * been read yet */
  GHashTable *index;  /* maps a result (CleaveResult) to 1 plus its index in `outputs` */
  GPtrArray *outputs; /* CleaveTensor: one for each output of the graph */
} Run;

/* Makes a value of the chain an output of the graph if a node after the chain reads the value, or
 * if the value is an output of the model. */
static gboolean
add_output (Run *run, CleaveOnnxValue *value, GError **error)
{
  g_autofree char *name = g_strdup_printf ("output%u", run->outputs->len);
  CleaveTensor *tensor;

  if (g_hash_table_contains (run->index, value->result) ||
      GPOINTER_TO_UINT (g_hash_table_lookup (run->last, value->name)) <= run->node)
    return TRUE;
  tensor = cleave_tensor_new (cleave_result_get_type (value->result), error);
  if (tensor == NULL)
    return FALSE;
  g_ptr_array_add (run->outputs, tensor);
  g_hash_table_insert (run->index, value->result, GUINT_TO_POINTER (run->outputs->len));
  return cleave_graph_add_output (run->import->graph, name, value->result, error);
}

/* Stores the tensor of a value that the graph has computed. */
static gboolean
take_output (Run *run, CleaveOnnxValue *value, GError **error G_GNUC_UNUSED)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (run->index, value->result));

  value->result = NULL;
  if (index == 0)
    return TRUE;
  value->constant = cleave_tensor_ref (run->outputs->pdata[index - 1]);
  cleave_onnx_count_held (run->import, value->constant);
  g_ptr_array_add (run->import->all_values, value);
  return TRUE;
}

/* Calls `function` with each value of the chain that has no tensor yet. */
static gboolean
each_value (Run *run,
            const Onnx__GraphProto *graph,
            gboolean (*function) (Run *run, CleaveOnnxValue *value, GError **error),
            GError **error)
{
  for (guint i = run->import->chain->first; i < run->node; i++)
    for (size_t k = 0; k < graph->node[i]->n_output; k++)
      {
        CleaveOnnxValue *value =
            g_hash_table_lookup (run->import->values, graph->node[i]->output[k]);

        if (value != NULL && value->constant == NULL && value->result != NULL &&
            !function (run, value, error))
          return FALSE;
      }
  return TRUE;
}

static gboolean
compute (Run *run, GError **error)
{
  CleaveOnnxImport *import = run->import;
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  if (run->outputs->len == 0)
    return TRUE;
  import->n_calls++;
  for (guint i = 0; i < import->chain->tensors->len; i++)
    g_ptr_array_add (inputs, cleave_tensor_dup_dense (import->chain->tensors->pdata[i]));
  return import->compute (import->graph, (CleaveTensor *const *) inputs->pdata, inputs->len,
                          (CleaveTensor *const *) run->outputs->pdata, run->outputs->len,
                          import->compute_data, error);
}

/* Frees the graph of the chain, and makes an empty graph for the next chain. */
static void
reset (CleaveOnnxImport *import)
{
  CleaveOnnxChain *chain = import->chain;

  for (guint i = 0; i < chain->operands->len; i++)
    ((CleaveOnnxValue *) chain->operands->pdata[i])->result = NULL;
  for (guint i = 0; i < chain->tensors->len; i++)
    cleave_onnx_count_released (import, chain->tensors->pdata[i]);
  g_ptr_array_set_size (chain->operands, 0);
  g_ptr_array_set_size (chain->tensors, 0);
  g_clear_pointer (&import->values_of, g_hash_table_unref);
  cleave_graph_unref (import->graph);
  import->graph = cleave_graph_new ("dynamic");
}

gboolean
cleave_onnx_chain_run (CleaveOnnxImport *import,
                       const Onnx__GraphProto *graph,
                       GHashTable *last,
                       guint node,
                       GError **error)
{
  g_autoptr (GHashTable) index = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) outputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  Run run = { import, last, node, index, outputs };

  if (import->graph->first == NULL)
    return TRUE;
  if (!each_value (&run, graph, add_output, error) || !compute (&run, error))
    return FALSE;
  each_value (&run, graph, take_output, NULL);
  reset (import);
  return TRUE;
}
