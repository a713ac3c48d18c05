/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds and edits graphs.
 *
 * Over 400 lines: this file also documents the public functions, in a quarter of its lines. */

#include "graph-private.h"

#include <string.h>

static void
output_free (gpointer data)
{
  CleaveOutput *output = data;

  cleave_operand_detach (&output->operand);
  g_free (output->name);
  g_free (output);
}

/**
 * cleave_graph_new:
 * @name: (nullable): the name of the model; %NULL for `graph`
 *
 * Makes an empty graph.
 *
 * Returns: (transfer full): the graph
 *
 * Since: 0.1
 */
CleaveGraph *
cleave_graph_new (const char *name)
{
  CleaveGraph *graph = g_atomic_rc_box_new0 (CleaveGraph);

  graph->slab = cleave_slab_new ();
  graph->name = g_strdup (name != NULL ? name : "graph");
  graph->inputs = g_ptr_array_new ();
  graph->outputs = g_ptr_array_new_with_free_func (output_free);
  graph->output_names = g_hash_table_new (g_str_hash, g_str_equal);
  graph->nodes = g_hash_table_new (g_str_hash, g_str_equal);
  graph->values = g_hash_table_new (g_str_hash, g_str_equal);
  graph->suffixes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return graph;
}

/**
 * cleave_graph_ref:
 * @graph: a graph
 *
 * Adds a reference to a graph.
 *
 * Returns: (transfer full): @graph
 *
 * Since: 0.1
 */
CleaveGraph *
cleave_graph_ref (CleaveGraph *graph)
{
  return g_atomic_rc_box_acquire (graph);
}

static void
graph_clear (gpointer data)
{
  CleaveGraph *graph = data;
  CleaveNode *next;

  if (graph->origin != NULL)
    g_atomic_rc_box_release_full (graph->origin, graph->origin_clear);
  g_hash_table_unref (graph->nodes);
  g_hash_table_unref (graph->values);
  g_hash_table_unref (graph->suffixes);
  g_hash_table_unref (graph->output_names);
  g_ptr_array_unref (graph->outputs);
  g_ptr_array_unref (graph->inputs);
  for (CleaveNode *node = graph->first; node != NULL; node = next)
    {
      next = node->next;
      cleave_node_free (node, NULL); /* cleave_slab_free() frees the memory of the node */
    }
  cleave_slab_free (graph->slab);
  g_clear_pointer (&graph->files, g_ptr_array_unref);
  g_clear_pointer (&graph->shared_names, g_hash_table_unref);
  g_clear_pointer (&graph->defaults, g_array_unref);
  g_clear_pointer (&graph->open_defaults, g_hash_table_unref);
  g_free (graph->name);
}

/**
 * cleave_graph_unref:
 * @graph: (nullable) (transfer full): a graph
 *
 * Drops a reference to a graph. The last reference frees the graph and its nodes.
 *
 * Since: 0.1
 */
void
cleave_graph_unref (CleaveGraph *graph)
{
  if (graph != NULL)
    g_atomic_rc_box_release_full (graph, graph_clear);
}

void
cleave_graph_set_origin (CleaveGraph *graph, gpointer origin, GDestroyNotify clear)
{
  graph->origin = origin;
  graph->origin_clear = clear;
}

void
cleave_graph_set_shared_names (CleaveGraph *graph, GHashTable *names)
{
  graph->shared_names = names;
}

void
cleave_graph_add_file (CleaveGraph *graph, const char *path)
{
  if (graph->files == NULL)
    graph->files = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (graph->files, g_canonicalize_filename (path, NULL));
}

static gboolean
is_taken (const CleaveGraph *graph, const char *name)
{
  return g_hash_table_contains (graph->nodes, name) || g_hash_table_contains (graph->values, name);
}

char *
cleave_graph_dup_name (CleaveGraph *graph, const char *name)
{
  gsize n_bytes = strlen (name) + 1;

  return memcpy (cleave_slab_take (graph->slab, n_bytes), name, n_bytes);
}

void
cleave_graph_free_name (CleaveSlab *slab, char *name)
{
  if (name != NULL)
    cleave_slab_give_back (slab, name, strlen (name) + 1);
}

/* Returns a name that no node and no value of the graph has: `base`, or `base_1`, `base_2` … The
 * graph remembers the last number of each base, so the next name needs no search. */
char *
cleave_graph_unique_name (CleaveGraph *graph, const char *base)
{
  g_autofree char *name = NULL;
  guint suffix;

  if (!is_taken (graph, base))
    return cleave_graph_dup_name (graph, base);
  suffix = GPOINTER_TO_UINT (g_hash_table_lookup (graph->suffixes, base));
  do
    {
      g_free (name);
      name = g_strdup_printf ("%s_%u", base, ++suffix);
    }
  while (is_taken (graph, name));
  g_hash_table_insert (graph->suffixes, g_strdup (base), GUINT_TO_POINTER (suffix));
  return cleave_graph_dup_name (graph, name);
}

static void
append (CleaveGraph *graph, CleaveNode *node)
{
  node->graph = node->owner = graph;
  node->n_holds = 1;
  node->prev = graph->last;
  if (graph->last != NULL)
    graph->last->next = node;
  else
    graph->first = node;
  graph->last = node;
  graph->n_nodes++;
  graph->keeps_order = FALSE;
  node->id = graph->n_ids++;
  g_hash_table_insert (graph->nodes, node->name, node);
}

CleaveNode *
cleave_graph_add_checked (CleaveGraph *graph,
                          const CleaveOp *op,
                          const char *name,
                          CleaveResult *const *operands,
                          guint n_operands,
                          const CleaveTensorType *results,
                          guint n_results,
                          gpointer attrs)
{
  g_autofree char *base = name != NULL ? NULL : g_ascii_strdown (op->name, -1);
  CleaveNode *node = cleave_node_new (graph, n_operands, n_results);

  node->op = op;
  node->attrs = attrs;
  node->name = cleave_graph_unique_name (graph, name != NULL ? name : base);
  for (guint i = 0; i < n_results; i++)
    {
      node->results[i].node = node;
      node->results[i].index = i;
      node->results[i].type = results[i];
    }
  for (guint i = 0; i < n_operands; i++)
    {
      node->operands[i].node = node;
      node->operands[i].index = i;
      if (operands[i] != NULL)
        cleave_operand_attach (&node->operands[i], operands[i]);
    }
  append (graph, node);
  return node;
}

/* Returns the result types of a new node, or NULL and the error. Brings `attrs` to normal form. */
static CleaveTensorType *
infer (const CleaveGraph *graph,
       const CleaveOp *op,
       CleaveResult *const *operands,
       guint n_operands,
       guint n_results,
       gpointer attrs,
       GError **error)
{
  CleaveTensorType few[4] = { 0 };
  g_autofree CleaveTensorType *many =
      n_operands > G_N_ELEMENTS (few) ? g_new0 (CleaveTensorType, n_operands) : NULL;
  CleaveTensorType *types = many != NULL ? many : few;
  g_autofree CleaveTensorType *results = NULL;
  CleaveCall call = {
    .op = op, .attrs = attrs, .n_operands = n_operands, .n_results = n_results, .operands = types
  };

  if (n_results > CLEAVE_MAX_RESULTS)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION, "has at most %d results, not %u",
                             CLEAVE_MAX_RESULTS, n_results);
  results = g_new0 (CleaveTensorType, MAX (n_results, 1));
  for (guint i = 0; i < n_operands; i++)
    {
      if (operands[i] != NULL && operands[i]->node->graph != graph)
        return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                                 "the operand %s belongs to another graph",
                                 cleave_op_operand_name (op, i));
      if (operands[i] != NULL)
        types[i] = operands[i]->type;
    }
  return cleave_call_infer (&call, attrs, results, error) ? g_steal_pointer (&results) : NULL;
}

/**
 * cleave_graph_add:
 * @graph: the graph to add to
 * @op: the op that the node applies
 * @name: (nullable): the name of the node; a number is appended if the name is taken. %NULL for the
 * name of the op, in lower case
 * @operands: (array length=n_operands): results of nodes of this graph; %NULL for an optional
 * operand that is absent
 * @n_operands: number of operands
 * @n_results: number of results of the node, at most the number of results of the op
 * @attrs: (nullable): the op's attribute struct, which is copied; %NULL for all defaults
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a node, and infers the types of its results. Takes time proportional to the numbers of
 * operands and results and the size of the attributes.
 *
 * Fails, and leaves the graph unchanged, with
 *
 * - %CLEAVE_ERROR_OPTION if the number of operands or results is wrong;
 * - %CLEAVE_ERROR_ATTRIBUTE if an attribute is out of range;
 * - %CLEAVE_ERROR_SHAPE or %CLEAVE_ERROR_ELEMENT_TYPE if the operands do not match.
 *
 * Returns: (transfer none) (nullable): the node
 *
 * Since: 0.1
 */
CleaveNode *
cleave_graph_add (CleaveGraph *graph,
                  const CleaveOp *op,
                  const char *name,
                  CleaveResult *const *operands,
                  guint n_operands,
                  guint n_results,
                  gconstpointer attrs,
                  GError **error)
{
  g_autofree CleaveTensorType *results = NULL;
  gpointer copy;

  g_return_val_if_fail (graph != NULL && op != NULL, NULL);
  g_return_val_if_fail (operands != NULL || n_operands == 0, NULL);

  while (n_operands > op->min_operands && operands[n_operands - 1] == NULL)
    n_operands--;
  copy = cleave_attrs_copy (op, attrs);
  results = infer (graph, op, operands, n_operands, n_results, copy, error);
  if (results == NULL)
    {
      g_prefix_error (error, "%s '%s': ", op->name, name != NULL ? name : "");
      cleave_attrs_free (op, copy);
      return NULL;
    }
  return cleave_graph_add_checked (graph, op, name, operands, n_operands, results, n_results, copy);
}

/* Returns whether an input of the graph has this name. The name of an input is the name of its
 * value or, if the value has none, of its node. */
static gboolean
has_input (const CleaveGraph *graph, const char *name)
{
  const CleaveResult *value = g_hash_table_lookup (graph->values, name);
  const CleaveNode *node = g_hash_table_lookup (graph->nodes, name);

  return (value != NULL && value->node->op == &cleave_op_input) ||
         (node != NULL && node->op == &cleave_op_input && node->results[0].name == NULL);
}

/**
 * cleave_graph_add_input:
 * @graph: the graph to add to
 * @name: the name of the input, which no other input may have
 * @type: element type and shape of the tensor that a program binds to it
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds an input of the graph.
 *
 * Fails with %CLEAVE_ERROR_OPTION if another input has the name, and with %CLEAVE_ERROR_SHAPE or
 * %CLEAVE_ERROR_ELEMENT_TYPE if the type is not legal, see [method@Cleave.TensorType.check]. The
 * graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the value of the input, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_input (CleaveGraph *graph,
                        const char *name,
                        const CleaveTensorType *type,
                        GError **error)
{
  g_return_val_if_fail (graph != NULL && name != NULL && type != NULL, NULL);

  CleaveInputAttrs attrs = { *type };
  CleaveNode *node;

  if (has_input (graph, name))
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION, "there are two inputs '%s'", name);
  node = cleave_graph_add (graph, &cleave_op_input, name, NULL, 0, 1, &attrs, error);
  if (node == NULL)
    return NULL;
  if (!g_str_equal (node->name, name) && !g_hash_table_contains (graph->values, name))
    cleave_result_set_name (&node->results[0], name);
  g_ptr_array_add (graph->inputs, &node->results[0]);
  return &node->results[0];
}

/**
 * cleave_graph_add_constant:
 * @graph: the graph to add to
 * @name: (nullable): the name of the node; a number is appended if the name is taken. %NULL for
 * `constant`
 * @value: (transfer none): the value; the graph adds a reference to the tensor
 *
 * Adds a constant, such as the weights of a convolution. The elements must not change afterwards.
 *
 * Returns: (transfer none): the value in the graph
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_constant (CleaveGraph *graph, const char *name, CleaveTensor *value)
{
  g_return_val_if_fail (graph != NULL && value != NULL, NULL);

  CleaveConstantAttrs attrs = { value };

  return &cleave_graph_add_checked (graph, &cleave_op_constant, name, NULL, 0,
                                    cleave_tensor_get_type (value), 1,
                                    cleave_attrs_copy (&cleave_op_constant, &attrs))
              ->results[0];
}

/**
 * cleave_graph_add_output:
 * @graph: the graph to add to
 * @name: the name of the output, which no other output may have
 * @value: (transfer none): a value of this graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds an output of the graph.
 *
 * Fails with %CLEAVE_ERROR_OPTION if another output has the name. The graph is then unchanged.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_graph_add_output (CleaveGraph *graph, const char *name, CleaveResult *value, GError **error)
{
  CleaveOutput *output;

  g_return_val_if_fail (graph != NULL && name != NULL, FALSE);
  g_return_val_if_fail (value != NULL && value->node->graph == graph, FALSE);

  if (g_hash_table_contains (graph->output_names, name))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "there are two outputs '%s'", name);
  output = g_new0 (CleaveOutput, 1);
  output->name = g_strdup (name);
  output->operand.index = graph->outputs->len;
  cleave_operand_attach (&output->operand, value);
  g_ptr_array_add (graph->outputs, output);
  g_hash_table_add (graph->output_names, output->name);
  return TRUE;
}

/* Renumbers the nodes if less than half of the ids are in use. So the size of an array that is
 * indexed by id stays proportional to the number of nodes. The amortized cost for each removed node
 * is constant. */
static void
close_gaps (CleaveGraph *graph)
{
  if (graph->n_ids / 2 <= graph->n_nodes)
    return;
  graph->n_ids = 0;
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    node->id = graph->n_ids++;
}

void
cleave_graph_arrange (CleaveGraph *graph, const GPtrArray *order)
{
  g_assert (order->len == graph->n_nodes);
  graph->first = graph->last = NULL;
  graph->n_ids = 0;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      node->prev = graph->last;
      node->next = NULL;
      *(graph->last == NULL ? &graph->first : &graph->last->next) = node;
      graph->last = node;
      node->id = graph->n_ids++;
    }
}

/**
 * cleave_graph_remove:
 * @graph: a graph
 * @node: a node of the graph whose results have no uses
 *
 * Removes a node from a graph, in O(operands), or in O(inputs) for an input. The node is freed,
 * unless the caller holds a reference from [method@Cleave.Node.ref]. A node with a reference then
 * belongs to no graph, and can only be read.
 *
 * Since: 0.1
 */
void
cleave_graph_remove (CleaveGraph *graph, CleaveNode *node)
{
  g_return_if_fail (node != NULL && node->graph == graph);
  for (guint i = 0; i < node->n_results; i++)
    g_return_if_fail (node->results[i].first_use == NULL);

  if (node->op == &cleave_op_input)
    g_ptr_array_remove (graph->inputs, &node->results[0]);
  for (guint i = 0; i < node->n_operands; i++)
    cleave_operand_detach (&node->operands[i]);
  for (guint i = 0; i < node->n_results; i++)
    if (node->results[i].name != NULL)
      g_hash_table_remove (graph->values, node->results[i].name);
  g_hash_table_remove (graph->nodes, node->name);
  *(node->prev != NULL ? &node->prev->next : &graph->first) = node->next;
  *(node->next != NULL ? &node->next->prev : &graph->last) = node->prev;
  graph->n_nodes--;
  node->prev = node->next = NULL;
  node->graph = NULL;
  cleave_node_release (node, graph->slab);
  close_gaps (graph);
}
