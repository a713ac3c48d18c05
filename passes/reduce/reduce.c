/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reduces a graph by delta debugging (Zeller, Hildebrandt: Simplifying and Isolating
 * Failure-Inducing Input, 2002). Tries to leave out half of the candidates at once, then
 * quarters, and so on down to single nodes, until nothing more can be left out. The caller's
 * test decides whether a smaller graph still has the property of interest. For example, the
 * property may be that a pass breaks the graph. */

#include <cleave/cleave-pass.h>

#include "../../lib/ir/topology.h"

#include "rebuild.h"
#include "shorten.h"

typedef struct
{
  CleaveGraph *graph; /* the smallest graph so far that passes the test */
  char *passes;       /* text of the pipeline; NULL: none */
  CleaveReduceTest test;
  gpointer data;
} Reducer;

/* Builds the reduced graph and tests it. If the reduced graph passes the test, it replaces the
 * reducer's graph. Returns whether the reduced graph passes. */
static gboolean
try_graph (Reducer *reducer, const CleaveReduction *reduction)
{
  CleaveGraph *graph = cleave_reduction_build (reduction, reducer->graph);

  if (graph == NULL || !reducer->test (graph, reducer->passes, reducer->data))
    {
      if (graph != NULL)
        cleave_graph_unref (graph);
      return FALSE;
    }
  cleave_graph_unref (reducer->graph);
  reducer->graph = graph;
  return TRUE;
}

static gboolean
shorten_passes (Reducer *reducer)
{
  gboolean changed = FALSE;

  for (guint number = 0; reducer->passes != NULL; number++)
    {
      g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (reducer->passes, NULL);
      g_autofree char *shorter =
          pipeline == NULL ? NULL : cleave_pipeline_shorten (pipeline, number);
      g_autoptr (CleavePipeline) legal = NULL;

      if (shorter == NULL)
        break;
      legal = cleave_pipeline_parse (shorter, NULL);
      if (legal == NULL || !reducer->test (reducer->graph, shorter, reducer->data))
        continue;
      g_free (reducer->passes);
      reducer->passes = g_steal_pointer (&shorter);
      /* the pipeline is shorter now: try all changes again, from the first one on */
      number = G_MAXUINT;
      changed = TRUE;
    }
  return changed;
}

/* Returns all nodes except inputs and constants, in topological order. */
static GPtrArray *
list_nodes (const CleaveGraph *graph)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);
  GPtrArray *nodes = g_ptr_array_new ();

  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);

      if (!cleave_node_is_input (node) && cleave_node_get_constant (node) == NULL)
        g_ptr_array_add (nodes, node);
    }
  return nodes;
}

/* Makes the results of node `index` the only outputs, which leaves out all later nodes. Returns
 * whether the test passes. */
static gboolean
end_at (Reducer *reducer, guint index)
{
  g_autoptr (GPtrArray) nodes = list_nodes (reducer->graph);
  CleaveNode *node = g_ptr_array_index (nodes, index);
  g_auto (CleaveReduction) reduction;

  cleave_reduction_init (&reduction, reducer->graph);
  if (reduction.outputs->len == 1 &&
      ((CleaveResult *) g_ptr_array_index (reduction.outputs, 0))->node == node)
    return FALSE;
  g_ptr_array_set_size (reduction.outputs, 0);
  for (guint i = 0; i < node->n_results; i++)
    g_ptr_array_add (reduction.outputs, &node->results[i]);
  return try_graph (reducer, &reduction);
}

/* Removes nodes at the end of the graph, as many as possible. First tries to remove half of all
 * nodes at once, then a quarter, and so on down to one node. Returns whether a node was removed. */
static gboolean
shorten_end (Reducer *reducer)
{
  g_autoptr (GPtrArray) nodes = list_nodes (reducer->graph);
  gboolean changed = FALSE;
  guint n = nodes->len;

  for (guint step = n / 2; step > 0; step /= 2)
    for (gboolean again = TRUE; again && n > step;)
      {
        g_autoptr (GPtrArray) left = NULL;

        again = end_at (reducer, n - step - 1);
        left = list_nodes (reducer->graph);
        n = left->len;
        changed |= again;
      }
  return changed;
}

/* Marks a node for a change. Returns FALSE if the change does not apply to the node. */
typedef gboolean (*Mark) (CleaveReduction *reduction, CleaveNode *node);

static gboolean
mark_cut (CleaveReduction *reduction, CleaveNode *node)
{
  if (cleave_node_is_input (node) || cleave_node_get_constant (node) != NULL)
    return FALSE;
  reduction->cut[node->id] = TRUE;
  return TRUE;
}

static gboolean
mark_bypass (CleaveReduction *reduction, CleaveNode *node)
{
  for (guint i = 0; i < MIN (node->n_operands, G_MAXINT8) && node->n_results == 1; i++)
    if (node->operands[i].result != NULL &&
        cleave_tensor_type_equal (&node->operands[i].result->type, &node->results[0].type))
      {
        reduction->bypass[node->id] = (gint8) i;
        return TRUE;
      }
  return FALSE;
}

static gboolean
mark_flat (CleaveReduction *reduction, CleaveNode *node)
{
  CleaveTensor *value = cleave_node_get_constant (node);
  g_autoptr (GBytes) bytes = value == NULL ? NULL : cleave_tensor_dup_bytes (value);
  gsize n = 0, size = cleave_element_size (node->results[0].type.element);
  const guint8 *data = bytes == NULL ? NULL : g_bytes_get_data (bytes, &n);

  for (gsize i = size; i < n; i++)
    if (data[i] != data[i - size])
      {
        reduction->flat[node->id] = TRUE;
        return TRUE;
      }
  return FALSE;
}

static gboolean
try_marks (Reducer *reducer, Mark mark, guint begin, guint n)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (reducer->graph, NULL);
  g_auto (CleaveReduction) reduction;
  gboolean any = FALSE;

  cleave_reduction_init (&reduction, reducer->graph);
  for (guint i = begin; i < MIN (begin + n, order->len); i++)
    any |= mark (&reduction, g_ptr_array_index (order, i));
  return any && try_graph (reducer, &reduction);
}

static gboolean
leave_out (Reducer *reducer, Mark mark)
{
  gboolean changed = FALSE;

  for (guint size = MAX (reducer->graph->n_nodes / 2, 1); size > 0; size /= 2)
    for (guint begin = 0; begin < reducer->graph->n_nodes;)
      if (try_marks (reducer, mark, begin, size))
        changed = TRUE; /* nodes were removed, so the next nodes are now at position `begin` */
      else
        begin += size;
  return changed;
}

static gboolean
drop_outputs (Reducer *reducer)
{
  gboolean changed = FALSE;

  for (guint size = reducer->graph->outputs->len / 2; size > 0; size /= 2)
    for (guint begin = 0; begin < reducer->graph->outputs->len;)
      {
        g_auto (CleaveReduction) reduction;
        guint n = MIN (size, reducer->graph->outputs->len - begin);

        cleave_reduction_init (&reduction, reducer->graph);
        g_ptr_array_remove_range (reduction.outputs, begin, n);
        if (reduction.outputs->len > 0 && try_graph (reducer, &reduction))
          changed = TRUE;
        else
          begin += n;
      }
  return changed;
}

/* Returns the largest extent of a dimension of an input or constant that is less than `below`.
 * Returns 1 if there is no such extent. */
static gint64
next_extent (const CleaveGraph *graph, gint64 below)
{
  gint64 found = 1;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (cleave_node_is_input (node) || cleave_node_get_constant ((CleaveNode *) node) != NULL)
      for (guint d = 0; d < node->results[0].type.shape.rank; d++)
        if (node->results[0].type.shape.dim[d] < below)
          found = MAX (found, node->results[0].type.shape.dim[d]);
  return found;
}

/* Makes dimensions shorter. Dimensions with the same extent become shorter at the same time, since
 * they may have to be equal. Returns whether a dimension became shorter. */
static gboolean
shorten_extents (Reducer *reducer)
{
  gboolean changed = FALSE;

  for (gint64 from = next_extent (reducer->graph, G_MAXINT64); from > 1;
       from = next_extent (reducer->graph, from))
    {
      const gint64 tries[] = { 1, 2, from / 2, from - 1 };

      for (guint i = 0; i < G_N_ELEMENTS (tries); i++)
        {
          g_auto (CleaveReduction) reduction;

          cleave_reduction_init (&reduction, reducer->graph);
          reduction.from = from;
          reduction.to = tries[i];
          if (tries[i] >= 1 && tries[i] < from && try_graph (reducer, &reduction))
            {
              changed = TRUE;
              /* try the new extent again: it may become even shorter */
              from = i < 2 ? from : from + 1;
              break;
            }
        }
    }
  return changed;
}

/* Returns the number of attributes in the graph that differ from their defaults. */
static guint
count_attributes (const CleaveGraph *graph)
{
  guint n = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    for (const CleaveAttr *a = node->op->attrs; a != NULL && a->name != NULL; a++)
      n += !cleave_attr_is_default (a, node->attrs);
  return n;
}

/* Resets an attribute to its default. Returns whether the attribute has changed. Some ops replace a
 * default by an equal explicit value when a node is added. The function then changes nothing, since
 * the new graph would have as many attributes with values other than the defaults. */
static gboolean
drop_attribute (Reducer *reducer, const CleaveNode *node, const CleaveAttr *attr)
{
  g_auto (CleaveReduction) reduction;
  g_autoptr (CleaveGraph) graph = NULL;

  cleave_reduction_init (&reduction, reducer->graph);
  reduction.plain = node;
  reduction.plain_attr = attr;
  if (cleave_attr_is_default (attr, node->attrs))
    return FALSE;
  graph = cleave_reduction_build (&reduction, reducer->graph);
  return graph != NULL && count_attributes (graph) < count_attributes (reducer->graph) &&
         try_graph (reducer, &reduction);
}

static gboolean
drop_attributes (Reducer *reducer)
{
  gboolean changed = FALSE;

  for (guint index = 0, n = G_MAXUINT; index < n; index++)
    for (guint at = 0;; at++)
      {
        g_autoptr (GPtrArray) nodes = list_nodes (reducer->graph);
        const CleaveNode *node = index < nodes->len ? g_ptr_array_index (nodes, index) : NULL;

        n = nodes->len;
        if (node == NULL || node->op->attrs == NULL || node->op->attrs[at].name == NULL)
          break;
        changed |= drop_attribute (reducer, node, &node->op->attrs[at]);
      }
  return changed;
}

static gboolean
reduce (Reducer *reducer)
{
  gboolean changed = shorten_passes (reducer);

  changed |= drop_outputs (reducer);
  changed |= shorten_end (reducer);
  changed |= leave_out (reducer, mark_cut);
  changed |= leave_out (reducer, mark_bypass);
  changed |= shorten_extents (reducer);
  changed |= drop_attributes (reducer);
  changed |= leave_out (reducer, mark_flat);
  return changed;
}

/**
 * cleave_graph_reduce:
 * @graph: a graph
 * @passes: (nullable): a pipeline as text, which is shortened together with the graph; %NULL for
 * none
 * @test: (scope call) (closure data): returns whether a graph and a pipeline still show the
 * behavior that is searched for
 * @data: data for @test
 * @reduced_passes: (out) (optional) (nullable) (transfer full): the shortened pipeline
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds a small graph for which @test still returns %TRUE, such as one that a pass breaks. The
 * function leaves out outputs, nodes and attributes, replaces nodes by inputs or by one of their
 * operands, shortens dimensions, and makes all elements of constants equal. Names stay unchanged.
 * The function first tries several changes together, so @test runs about (nodes that stay) × log
 * (nodes) times.
 *
 * Fails with %CLEAVE_ERROR_OPTION if @test returns %FALSE for @graph itself or @passes is no
 * pipeline.
 *
 * Returns: (transfer full) (nullable): the small graph, or %NULL on error
 *
 * Since: 0.1
 */
CleaveGraph *
cleave_graph_reduce (const CleaveGraph *graph,
                     const char *passes,
                     CleaveReduceTest test,
                     gpointer data,
                     char **reduced_passes,
                     GError **error)
{
  g_return_val_if_fail (graph != NULL && test != NULL, NULL);

  g_autoptr (CleavePipeline) pipeline =
      passes == NULL ? NULL : cleave_pipeline_parse (passes, error);
  Reducer reducer = { NULL, g_strdup (passes), test, data };

  if (reduced_passes != NULL)
    *reduced_passes = NULL;
  if (passes != NULL && pipeline == NULL)
    {
      g_free (reducer.passes);
      return NULL;
    }
  reducer.graph = cleave_graph_copy (graph);
  if (!test (reducer.graph, passes, data))
    {
      cleave_fail (error, CLEAVE_ERROR_OPTION,
                   "the test is false for the graph itself, so there is nothing to reduce");
      g_clear_pointer (&reducer.graph, cleave_graph_unref);
      g_clear_pointer (&reducer.passes, g_free);
      return NULL;
    }
  while (reduce (&reducer))
    ;
  if (reduced_passes != NULL)
    *reduced_passes = g_steal_pointer (&reducer.passes);
  g_free (reducer.passes);
  return reducer.graph;
}
