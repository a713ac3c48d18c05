/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads calls of subgraphs: the operators of the subgraph become nodes of the graph. */

#include "calls.h"

#include "../ir/graph-private.h"

#define MAX_DEPTH 16 /* Calls of subgraphs may be nested this deep. */

void
cleave_tflite_clear_value (gpointer data)
{
  g_clear_pointer (&((CleaveTfliteValue *) data)->constant, cleave_tensor_unref);
}

GArray *
cleave_tflite_new_values (void)
{
  GArray *values = g_array_new (FALSE, FALSE, sizeof (CleaveTfliteValue));

  g_array_set_clear_func (values, cleave_tflite_clear_value);
  return values;
}

gboolean
cleave_tflite_append_value (
    CleaveTfliteImport *import, guint i, gint64 tensor, GArray *values, GError **error)
{
  CleaveTfliteValue *value = tensor < 0 ? NULL : &import->values[tensor], copy = { 0 };

  if (value == NULL)
    return cleave_tflite_refuse (error, "input %u is absent", i);
  if (value->state == 0 && value->constant == NULL &&
      !cleave_tflite_find_value (import, i, (guint) tensor, &copy.result, error))
    return FALSE;
  copy.state = value->state;
  copy.result = value->result;
  copy.constant = value->constant == NULL ? NULL : cleave_tensor_ref (value->constant);
  g_array_append_val (values, copy);
  return TRUE;
}

const CleaveTensorType *
cleave_tflite_value_type (const CleaveTfliteValue *value)
{
  return value->result != NULL ? cleave_result_get_type (value->result)
                               : cleave_tensor_get_type (value->constant);
}

/* Makes `inputs` the values of the called subgraph's inputs. */
static gboolean
bind_inputs (CleaveTfliteImport *import, const GArray *inputs, GError **error)
{
  const CleaveTfliteSubgraph *subgraph = import->subgraph;

  if (subgraph->inputs.n != inputs->len)
    return cleave_tflite_refuse (error, "it has %u inputs, %u are given", subgraph->inputs.n,
                                 inputs->len);
  for (guint i = 0; i < inputs->len; i++)
    {
      const CleaveTfliteValue *from = &g_array_index (inputs, CleaveTfliteValue, i);
      guint tensor = (guint) cleave_flat_integer (&subgraph->inputs, 4, i);
      CleaveTfliteValue *to = &import->values[tensor];

      if (to->result != NULL || to->constant != NULL || to->state != 0)
        return cleave_tflite_refuse (error, "input %u is an input already", i);
      if (from->state == 0 && !cleave_tensor_type_equal (cleave_tflite_value_type (from),
                                                         &subgraph->tensors[tensor].type))
        return cleave_tflite_refuse (error,
                                     "input %u, tensor %u '%s', has another type than the value "
                                     "that is given",
                                     i, tensor, import->names[tensor]);
      *to = *from;
      if (to->constant != NULL)
        cleave_tensor_ref (to->constant);
    }
  return TRUE;
}

/* Sets tensors of the subgraph to the Constants in `shared` that earlier calls of the subgraph
 * added. `shared` is indexed by tensor; NULL: no call has added a Constant for the tensor. */
static void
recall_constants (CleaveTfliteImport *import, CleaveResult *const *shared)
{
  for (guint t = 0; t < import->subgraph->n_tensors; t++)
    {
      CleaveTfliteValue *value = &import->values[t];

      if (shared[t] == NULL || value->result != NULL || value->constant != NULL)
        continue;
      value->result = shared[t];
      value->constant = cleave_tensor_ref (cleave_node_get_constant (shared[t]->node));
    }
}

/* Stores in `shared` the Constants that this call of the subgraph has added to the graph. Later
 * calls of the subgraph use these Constants. `shared` is indexed by tensor. */
static void
remember_constants (const CleaveTfliteImport *import, CleaveResult **shared)
{
  for (guint t = 0; t < import->subgraph->n_tensors; t++)
    {
      CleaveResult *result = import->values[t].result;

      if (import->subgraph->tensors[t].data != NULL && result != NULL &&
          result->node->op == &cleave_op_constant)
        shared[t] = result;
    }
}

static CleaveResult **
constants_of (CleaveTfliteImport *import, const CleaveTfliteSubgraph *subgraph)
{
  CleaveResult ***shared = &import->constants[subgraph - import->model->subgraphs];

  if (*shared == NULL)
    *shared = g_new0 (CleaveResult *, subgraph->n_tensors + 1);
  return *shared;
}

static gboolean
run_subgraph (CleaveTfliteImport *import, const GArray *inputs, GArray *outputs, GError **error)
{
  const CleaveTfliteSubgraph *subgraph = import->subgraph;
  CleaveResult **shared = constants_of (import, subgraph);

  if (!bind_inputs (import, inputs, error))
    return FALSE;
  recall_constants (import, shared);
  if (!cleave_tflite_add_operators (import, error))
    return FALSE;
  remember_constants (import, shared);
  for (guint i = 0; i < subgraph->outputs.n; i++)
    if (!cleave_tflite_append_value (import, i, cleave_flat_integer (&subgraph->outputs, 4, i),
                                     outputs, error))
      {
        g_prefix_error (error, "output %u: ", i);
        return FALSE;
      }
  return TRUE;
}

GArray *
cleave_tflite_call (CleaveTfliteImport *import, gint64 index, const GArray *inputs, GError **error)
{
  g_autoptr (GArray) outputs = cleave_tflite_new_values ();
  CleaveTfliteImport outer = *import;
  gboolean good;

  if (index < 1 || index >= import->model->n_subgraphs)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "it calls subgraph %" G_GINT64_FORMAT ", the file has %u", index,
                             import->model->n_subgraphs);
  import->subgraph = &import->model->subgraphs[index];
  import->calls -= (gint64) import->subgraph->n_tensors + import->subgraph->n_operators + 1;
  outer.calls = import->calls;
  if (import->depth == MAX_DEPTH || import->calls < 0)
    {
      *import = outer;
      return cleave_fail_null (
          error, CLEAVE_ERROR_MODEL,
          "it calls subgraph %" G_GINT64_FORMAT " too often, or from too many subgraphs", index);
    }
  import->depth++;
  import->values = g_new0 (CleaveTfliteValue, import->subgraph->n_tensors);
  cleave_tflite_name_tensors (import);
  good = run_subgraph (import, inputs, outputs, error);
  cleave_tflite_clear_values (import);
  import->subgraph = outer.subgraph;
  import->values = outer.values;
  import->names = outer.names;
  import->index = outer.index;
  import->op = outer.op;
  import->depth = outer.depth;
  if (!good)
    g_prefix_error (error, "subgraph %" G_GINT64_FORMAT ": ", index);
  return good ? g_steal_pointer (&outputs) : NULL;
}
