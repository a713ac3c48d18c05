/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Extracts a submodel: the nodes that compute some values of a graph from other values. */

#include <cleave/cleave-partition.h>

#include "../../lib/ir/error.h"
#include "../../lib/ir/graph-private.h"
#include "../../lib/ir/topology.h"

#include "build.h"
#include "find-value.h"

/* The values between which a submodel is extracted. */
typedef struct
{
  const CleaveGraph *graph;
  /* CleaveResult: values at which the submodel begins, and values at which it ends */
  GPtrArray *from, *to;
  GPtrArray *names;  /* char *: name of each output, in the order of `to` */
  GHashTable *given; /* set of the values in `from` */
  /* set of the nodes to copy, and of the values in `from` that these nodes read */
  GHashTable *needed;
} Request;

static void
request_clear (Request *request)
{
  g_ptr_array_unref (request->from);
  g_ptr_array_unref (request->to);
  g_ptr_array_unref (request->names);
  g_hash_table_unref (request->given);
  g_hash_table_unref (request->needed);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Request, request_clear)

static gboolean
find_from (Request *request, const char *const *names, GError **error)
{
  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      CleaveResult *value = cleave_partition_find_value (request->graph, names[i], FALSE, error);

      if (value == NULL)
        return FALSE;
      if (cleave_node_is_fixed (value->node))
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "'%s' is a constant: a submodel cannot begin there", names[i]);
      if (!g_hash_table_add (request->given, value))
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "'%s' is given twice", names[i]);
      g_ptr_array_add (request->from, value);
    }
  return TRUE;
}

static gboolean
find_to (Request *request, const char *const *names, GError **error)
{
  for (guint i = 0; names[i] != NULL; i++)
    {
      CleaveResult *value = cleave_partition_find_value (request->graph, names[i], TRUE, error);

      if (value == NULL)
        return FALSE;
      if (g_hash_table_contains (request->given, value))
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "the submodel would begin and end at '%s'",
                            names[i]);
      if (g_ptr_array_find_with_equal_func (request->names, names[i], g_str_equal, NULL))
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "'%s' is given twice", names[i]);
      g_ptr_array_add (request->to, value);
      g_ptr_array_add (request->names, (gpointer) names[i]);
    }
  return TRUE;
}

/* Adds to `request->needed` the nodes that compute a value from the given values. Also adds the
 * given values that are read. */
static void
mark_needed (Request *request, CleaveResult *value)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();

  g_ptr_array_add (stack, value);
  while (stack->len > 0)
    {
      CleaveResult *top = g_ptr_array_steal_index_fast (stack, stack->len - 1);

      if (g_hash_table_contains (request->given, top))
        {
          g_hash_table_add (request->needed, top);
          continue;
        }
      if (cleave_node_is_input (top->node) || !g_hash_table_add (request->needed, top->node))
        continue;
      for (guint k = 0; k < top->node->n_operands; k++)
        if (top->node->operands[k].result != NULL)
          g_ptr_array_add (stack, top->node->operands[k].result);
    }
}

/* Adds to `to` the outputs of the graph that depend on a given value. If no value is given, adds
 * all outputs. Returns FALSE and sets the error if there is no such output. */
static gboolean
find_outputs (Request *request, GError **error)
{
  g_autofree gboolean *reached = g_new0 (gboolean, request->graph->n_ids + 1);
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();

  for (guint i = 0; i < request->from->len; i++)
    for (const CleaveOperand *use = ((CleaveResult *) request->from->pdata[i])->first_use;
         use != NULL; use = use->next_use)
      if (use->node != NULL)
        g_ptr_array_add (nodes, use->node);
  cleave_topology_reach (request->graph, (CleaveNode *const *) nodes->pdata, nodes->len, TRUE,
                         reached);
  for (guint i = 0; i < request->graph->outputs->len; i++)
    {
      CleaveResult *value = cleave_graph_get_output (request->graph, i)->result;

      if (g_hash_table_contains (request->given, value) ||
          (request->from->len > 0 && !reached[value->node->id]))
        continue;
      g_ptr_array_add (request->to, value);
      g_ptr_array_add (request->names, (gpointer) cleave_graph_get_output_name (request->graph, i));
    }
  return request->to->len > 0 ||
         cleave_fail (error, CLEAVE_ERROR_OPTION, "no output needs the values to begin at");
}

static gboolean
check_needed (const Request *request, const char *const *from, GError **error)
{
  for (guint i = 0; i < request->from->len; i++)
    if (!g_hash_table_contains (request->needed, request->from->pdata[i]))
      return cleave_fail (error, CLEAVE_ERROR_OPTION,
                          "'%s' is not needed for '%s'%s: leave it out, or end at a value that "
                          "needs it",
                          from[i], (const char *) request->names->pdata[0],
                          request->names->len > 1 ? " or the other ends" : "");
  return TRUE;
}

static CleaveGraph *
build (Request *request, const GPtrArray *order)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
  const CleavePartitionContent content = { request->graph->name, nodes,          request->from,
                                           request->to,          request->names, NULL };

  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);

      if (g_hash_table_contains (request->needed, node))
        g_ptr_array_add (nodes, node);
    }
  return cleave_partition_build (request->graph, &content);
}

/**
 * cleave_graph_extract:
 * @graph: a graph
 * @from: (array zero-terminated=1) (nullable): names of values that become inputs, in this order;
 * %NULL or none: the submodel begins at the inputs of the graph
 * @to: (array zero-terminated=1) (nullable): names of values that become outputs; %NULL or none:
 * the outputs of the graph that need @from
 * @error: return location for a [struct@GLib.Error]
 *
 * Extracts a submodel: the nodes that compute @to from @from.
 *
 * A name is the name of a value, of an output or of a node. If the nodes need inputs of the graph
 * that are not in @from, these inputs stay inputs. The submodel shares the constants of the graph,
 * which does not change.
 *
 * Fails with %CLEAVE_ERROR_OPTION if a value is unknown or a name is given twice. Also fails with
 * %CLEAVE_ERROR_OPTION if a value of @from is a constant, is in @to, or is not needed for @to. No
 * value of @to may be an input or a constant. Fails with %CLEAVE_ERROR_CYCLE if the graph has a
 * cycle.
 *
 * Returns: (transfer full) (nullable): the submodel, or %NULL on error
 *
 * Since: 0.2
 */
CleaveGraph *
cleave_graph_extract (const CleaveGraph *graph,
                      const char *const *from,
                      const char *const *to,
                      GError **error)
{
  g_return_val_if_fail (graph != NULL, NULL);
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);
  g_auto (Request) request = { graph,
                               g_ptr_array_new (),
                               g_ptr_array_new (),
                               g_ptr_array_new (),
                               g_hash_table_new (NULL, NULL),
                               g_hash_table_new (NULL, NULL) };

  if (order == NULL || !find_from (&request, from, error))
    return NULL;
  if (to == NULL || to[0] == NULL ? !find_outputs (&request, error)
                                  : !find_to (&request, to, error))
    return NULL;
  for (guint i = 0; i < request.to->len; i++)
    mark_needed (&request, request.to->pdata[i]);
  return check_needed (&request, from, error) ? build (&request, order) : NULL;
}
