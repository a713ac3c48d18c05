/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes a graph for each part of a partition, and finds out from which other parts each part reads
 * values. */

#include "parts.h"

#include "../../lib/ir/graph-private.h"
#include "../../lib/ir/topology.h"

#include "build.h"

static void
part_clear (gpointer data)
{
  CleavePartitionPart *part = data;

  g_ptr_array_unref (part->nodes);
  g_ptr_array_unref (part->wanted);
  g_array_unref (part->before);
  g_clear_pointer (&part->graph, cleave_graph_unref);
}

CleavePartition *
cleave_partition_new_empty (const CleaveGraph *graph)
{
  CleavePartition *partition = g_atomic_rc_box_new0 (CleavePartition);

  partition->whole = cleave_graph_ref ((CleaveGraph *) graph);
  partition->parts = g_array_new (FALSE, FALSE, sizeof (CleavePartitionPart));
  g_array_set_clear_func (partition->parts, part_clear);
  partition->part = g_new (int, graph->n_ids + 1);
  for (guint i = 0; i <= graph->n_ids; i++)
    partition->part[i] = -1;
  partition->names = cleave_partition_names_new ();
  for (guint i = 0; i < graph->inputs->len; i++)
    cleave_partition_names_get (partition->names, graph->inputs->pdata[i]);
  partition->output_values = g_ptr_array_new ();
  for (guint i = 0; i < graph->outputs->len; i++)
    g_ptr_array_add (partition->output_values,
                     (gpointer) cleave_partition_names_get (
                         partition->names, cleave_graph_get_output (graph, i)->result));
  return partition;
}

void
cleave_partition_add_part (CleavePartition *partition, guint subgraph, guint level)
{
  CleavePartitionPart part = { .subgraph = subgraph,
                               .level = level,
                               .nodes = g_ptr_array_new (),
                               .wanted = g_ptr_array_new (),
                               .before = g_array_new (FALSE, FALSE, sizeof (guint)) };

  g_array_append_val (partition->parts, part);
}

void
cleave_partition_add_node (CleavePartition *partition, guint part, CleaveNode *node)
{
  partition->part[node->id] = (int) part;
  g_ptr_array_add (cleave_partition_part (partition, part)->nodes, node);
}

gboolean *
cleave_partition_find_needed (const CleaveGraph *graph)
{
  gboolean *needed = g_new0 (gboolean, graph->n_ids + 1);
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();

  for (guint i = 0; i < graph->outputs->len; i++)
    g_ptr_array_add (nodes, cleave_graph_get_output (graph, i)->result->node);
  cleave_topology_reach (graph, (CleaveNode *const *) nodes->pdata, nodes->len, FALSE, needed);
  return needed;
}

gboolean
cleave_partition_has_part (const gboolean *needed, const CleaveNode *node)
{
  if (cleave_node_is_input (node) || !needed[node->id])
    return FALSE;
  for (guint r = 0; cleave_node_is_fixed (node) && r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL)
        return TRUE;
  return !cleave_node_is_fixed (node);
}

/* Returns whether an output or another part reads a result of `part`. For a constant expression,
 * only outputs count, since each part has its own copy. */
static gboolean
is_wanted (const CleavePartition *partition, const CleaveResult *result, int part)
{
  for (const CleaveOperand *use = result->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL ||
        (!cleave_node_is_fixed (result->node) && partition->part[use->node->id] >= 0 &&
         partition->part[use->node->id] != part))
      return TRUE;
  return FALSE;
}

/* Lists the values of a part that other parts read (`wanted`), and the parts whose values the part
 * reads (`before`). `seen[i]` is 1 plus the index of the last part that was found to read from part
 * i. */
static void
connect (const CleavePartition *partition, guint index, guint *seen)
{
  CleavePartitionPart *part = cleave_partition_part (partition, index);

  for (guint i = 0; i < part->nodes->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (part->nodes, i);

      for (guint r = 0; r < node->n_results; r++)
        if (is_wanted (partition, &node->results[r], (int) index))
          g_ptr_array_add (part->wanted, &node->results[r]);
      for (guint k = 0; k < node->n_operands; k++)
        {
          const CleaveResult *value = node->operands[k].result;
          int from = value == NULL || cleave_node_is_fixed (value->node)
                         ? -1
                         : partition->part[value->node->id];

          if (from < 0 || from == (int) index || seen[from] == index + 1)
            continue;
          seen[from] = index + 1;
          g_array_append_val (part->before, from);
        }
    }
}

void
cleave_partition_build_parts (CleavePartition *partition)
{
  g_autofree guint *seen = g_new0 (guint, partition->parts->len + 1);

  for (guint i = 0; i < partition->parts->len; i++)
    {
      CleavePartitionPart *part = cleave_partition_part (partition, i);
      g_autofree char *name = g_strdup_printf ("%s-%u", partition->whole->name, i);

      connect (partition, i, seen);
      part->graph = cleave_partition_build (
          partition->whole, &(CleavePartitionContent){ name, part->nodes, NULL, part->wanted, NULL,
                                                       partition->names });
    }
}
