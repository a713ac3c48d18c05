/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks the plan of one node against the limits. Also measures the peak of a split graph, and the
 * largest peak of the graph's parallel subgraphs. Each parallel subgraph can run alone. */

#include "constraint.h"

#include <cleave/cleave-program.h>

#include "../../lib/ir/fixed.h"
#include "../../lib/ir/subgraphs.h"
#include "../../lib/ir/topology.h"

static gboolean
allows_memory (const CleaveConstraint *constraint, const CleavePlan *plan, GString *why)
{
  gint64 limit = MAX (constraint->max_memory, 0);

  if (constraint->max_memory == 0)
    return TRUE;
  for (guint i = 0; i < plan->n_chunks; i++)
    {
      gint64 n = plan->chunks[i].n_bytes;

      if (n > limit)
        return cleave_refuse (
            why, "piece %u needs %" G_GINT64_FORMAT " bytes, the limit is %" G_GINT64_FORMAT, i, n,
            limit);
    }
  return TRUE;
}

gboolean
cleave_constraint_allows (const CleaveConstraint *constraint, const CleavePlan *plan, GString *why)
{
  guint n = cleave_plan_get_n_chunks (plan);

  if (constraint == NULL)
    return TRUE;
  if (constraint->max_pieces > 0 && n > constraint->max_pieces)
    return cleave_refuse (why, "it would be %u pieces, the limit is %u", n, constraint->max_pieces);
  return allows_memory (constraint, plan, why) &&
         (constraint->predicate == NULL || constraint->predicate (plan, constraint->data, why));
}

gboolean
cleave_constraint_allows_macs (const CleaveConstraint *constraint,
                               gint64 macs,
                               gint64 added,
                               GString *why)
{
  double limit, part;

  if (constraint == NULL || constraint->max_added_macs == 0 || added <= 0)
    return TRUE;
  limit = MAX (constraint->max_added_macs, 0);
  part = (double) added / (double) MAX (macs, 1);
  if (part <= limit)
    return TRUE;
  return cleave_refuse (why,
                        "the halo would add %.4g %% to the MACs of the graph, the limit is %.4g %%",
                        100 * part, 100 * limit);
}

gboolean
cleave_constraint_is_of_graph (const CleaveConstraint *constraint)
{
  return constraint != NULL &&
         (constraint->max_subgraph_memory != 0 || constraint->max_schedule_memory != 0);
}

/* The state of copying each parallel subgraph to a graph of its own, whose peak is then
 * measured. */
typedef struct
{
  const CleaveGraph *graph;
  const guint *subgraph;   /* indexed by node id: subgraph of the node; G_MAXUINT: none */
  GPtrArray *alone;        /* CleaveGraph, indexed by subgraph: the copy of the subgraph */
  GPtrArray *copies;       /* indexed by subgraph: copies of nodes that depend on constants alone */
  CleaveResult ***results; /* indexed by node id, then by result: copy of the result */
} Extract;

/* Returns the name of a value for messages. */
static char *
dup_value_name (const CleaveNode *node, guint result)
{
  return result == 0 ? g_strdup (node->name) : g_strdup_printf ("%s %u", node->name, result);
}

/* Returns the value in the copy of a subgraph that stands for `value`. If the subgraph computes
 * `value`, returns the copied result. Otherwise, returns an input of the copy, or a copy of the
 * constant expression that computes `value`. The first call for `value` adds the input or the
 * constant expression. */
static CleaveResult *
find_value (const Extract *extract, guint subgraph, const CleaveResult *value, GHashTable *inputs)
{
  CleaveGraph *alone = g_ptr_array_index (extract->alone, subgraph);
  g_autofree char *key = NULL, *name = NULL;
  CleaveResult *input;

  if (extract->subgraph[value->node->id] == subgraph)
    return extract->results[value->node->id][value->index];
  key = g_strdup_printf ("%u %u %u", subgraph, value->node->id, value->index);
  input = g_hash_table_lookup (inputs, key);
  if (input != NULL)
    return input;
  name = dup_value_name (value->node, value->index);
  input = cleave_node_is_fixed (value->node)
              ? cleave_fixed_copy (alone, value, g_ptr_array_index (extract->copies, subgraph))
              : cleave_graph_add_input (alone, name, &value->type, NULL);
  g_hash_table_insert (inputs, g_steal_pointer (&key), input);
  return input;
}

/* Returns whether a node is a view of a value outside its subgraph. Its subgraph then gets the view
 * as an input, not the whole value. */
static gboolean
is_entry (const Extract *extract, const CleaveNode *node)
{
  return (node->op->flags & CLEAVE_OP_VIEW) != 0 && node->n_operands == 1 &&
         node->operands[0].result != NULL &&
         extract->subgraph[node->operands[0].result->node->id] != extract->subgraph[node->id];
}

static void
add_node (Extract *extract, const CleaveNode *node, GHashTable *inputs)
{
  guint subgraph = extract->subgraph[node->id];
  CleaveGraph *alone = g_ptr_array_index (extract->alone, subgraph);
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  g_autofree CleaveTensorType *types = g_new (CleaveTensorType, node->n_results);
  CleaveNode *copy = NULL;

  extract->results[node->id] = g_new0 (CleaveResult *, node->n_results);
  for (guint i = 0; i < node->n_operands && !is_entry (extract, node); i++)
    if (node->operands[i].result != NULL)
      operands[i] = find_value (extract, subgraph, node->operands[i].result, inputs);
  for (guint r = 0; r < node->n_results; r++)
    types[r] = node->results[r].type;
  if (!is_entry (extract, node))
    copy = cleave_graph_add_checked (alone, node->op, node->name, operands, node->n_operands, types,
                                     node->n_results, cleave_attrs_copy (node->op, node->attrs));
  for (guint r = 0; r < node->n_results; r++)
    {
      g_autofree char *name = dup_value_name (node, r);

      extract->results[node->id][r] =
          copy != NULL ? &copy->results[r] : cleave_graph_add_input (alone, name, &types[r], NULL);
      for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
        if (use->node == NULL || extract->subgraph[use->node->id] != subgraph)
          {
            cleave_graph_add_output (alone, name, extract->results[node->id][r], NULL);
            break;
          }
    }
}

/* Copies each parallel subgraph to a separate graph. Returns the largest peak of these graphs in
 * bytes, and sets `*most` to the graph with this peak. The inputs of the separate graph are the
 * values that the subgraph reads. The outputs are the results that nodes outside of the subgraph
 * read, and the outputs of the whole graph. Returns the peak of the whole graph if it has no
 * parallel subgraphs. */
static gint64
subgraph_peak (const CleaveGraph *graph, CleaveGraph **most)
{
  guint n = graph->n_ids;
  g_autofree guint *subgraph = g_new (guint, n + 1);
  guint n_subgraphs = cleave_subgraphs_find (graph, subgraph);
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);
  g_autoptr (GPtrArray) alone =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_graph_unref);
  g_autoptr (GHashTable) inputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) copies =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_hash_table_unref);
  Extract extract = { graph, subgraph, alone, copies, g_new0 (CleaveResult **, n + 1) };
  gint64 peak = 0;

  if (n_subgraphs == 0)
    peak = cleave_graph_get_peak_bytes (graph, NULL);
  for (guint i = 0; i < n_subgraphs; i++)
    {
      g_ptr_array_add (alone, cleave_graph_new (NULL));
      g_ptr_array_add (copies, g_hash_table_new (NULL, NULL));
    }
  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = g_ptr_array_index (order, i);

      if (subgraph[node->id] != G_MAXUINT)
        add_node (&extract, node, inputs);
    }
  for (guint i = 0; i < n_subgraphs; i++)
    {
      gint64 mine = cleave_graph_get_peak_bytes (g_ptr_array_index (alone, i), NULL);

      if (mine <= peak)
        continue;
      peak = mine;
      g_clear_pointer (most, cleave_graph_unref);
      *most = cleave_graph_ref (g_ptr_array_index (alone, i));
    }
  for (guint i = 0; i < n; i++)
    g_free (extract.results[i]);
  g_free (extract.results);
  return peak;
}

/* Appends to `why` the peak of `graph` in bytes, the limit, and the largest value of `graph`.
 * Views, joins and constants do not count as the largest value. `what` names the graph in the
 * message. */
static void
explain_peak (const CleaveGraph *graph, const char *what, gint64 peak, gint64 limit, GString *why)
{
  const CleaveNode *largest = NULL;
  gint64 most = 0;
  g_autofree char *label = NULL;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      gint64 n = cleave_tensor_type_n_bytes (&node->results[0].type);

      if (n <= most || cleave_node_is_fixed (node) ||
          (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN)) != 0)
        continue;
      most = n;
      largest = node;
    }
  label = largest == NULL ? g_strdup ("none") : cleave_node_dup_label (largest);
  g_string_append_printf (why,
                          "%s would need %" G_GINT64_FORMAT " bytes, the limit is %" G_GINT64_FORMAT
                          "; its largest value, of %s, has %" G_GINT64_FORMAT,
                          what, peak, limit, label, most);
}

CleavePeaks
cleave_constraint_measure (const CleaveConstraint *constraint,
                           const CleaveGraph *graph,
                           GString *why)
{
  g_autoptr (CleaveGraph) subgraph = NULL;
  gint64 schedule = MAX (constraint->max_schedule_memory, 0),
         alone = MAX (constraint->max_subgraph_memory, 0);
  CleavePeaks peaks = { 0 };

  if (constraint->max_schedule_memory != 0)
    peaks.schedule = cleave_graph_get_peak_bytes (graph, NULL);
  if (constraint->max_subgraph_memory != 0)
    peaks.subgraph = subgraph_peak (graph, &subgraph);
  if (peaks.schedule > schedule)
    explain_peak (graph, "the graph", peaks.schedule, schedule, why);
  else if (peaks.subgraph > alone)
    explain_peak (subgraph != NULL ? subgraph : graph, "a subgraph", peaks.subgraph, alone, why);
  return peaks;
}

/* Returns the ratio of a peak to its limit; 0 if there is no limit. */
static double
excess (gint64 peak, gint64 limit)
{
  return limit == 0 ? 0 : (double) peak / (double) MAX (limit, 1);
}

gboolean
cleave_constraint_is_met (const CleaveConstraint *constraint, CleavePeaks peaks)
{
  return peaks.schedule <= MAX (constraint->max_schedule_memory, 0) &&
         peaks.subgraph <= MAX (constraint->max_subgraph_memory, 0);
}

gboolean
cleave_constraint_prefers (const CleaveConstraint *constraint, CleavePeaks peaks, CleavePeaks other)
{
  return MAX (excess (peaks.schedule, constraint->max_schedule_memory),
              excess (peaks.subgraph, constraint->max_subgraph_memory)) <
         MAX (excess (other.schedule, constraint->max_schedule_memory),
              excess (other.subgraph, constraint->max_subgraph_memory));
}
