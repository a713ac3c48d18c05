/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds poolings whose operand may be computed twice. For such a pooling, copies the node that
 * computes the operand, and cuts the pooling and the copy into chunks of channels. */

#include "rematerialize-pooled.h"

#include "../split/apply.h"
#include "../split/dimension-names.h"

/* The copies of all values that are computed twice may together add at most this fraction of the
 * graph's multiply-accumulates. */
#define MAX_ADDED 0.03

/* Chunks are whole vectors of CHANNELS channels. A value with fewer than MIN_VECTORS vectors of
 * channels is not computed twice, since each chunk would be a large part of the value. */
#define CHANNELS 8
#define MIN_VECTORS 4

/* Returns whether a node reduces all rows of its operand to one row, channel by channel, with
 * enough channels for chunks. */
static gboolean
needs_whole (const CleaveNode *node)
{
  gint rows = cleave_node_find_dim (node, 'H'), channels = cleave_node_find_dim (node, 'C');
  const CleaveResult *x = node->operands[0].result;

  return rows >= 0 && channels >= 0 && node->n_results == 1 &&
         x->type.shape.rank == node->results[0].type.shape.rank && x->type.shape.dim[rows] > 1 &&
         node->results[0].type.shape.dim[rows] == 1 &&
         x->type.shape.dim[channels] >= MIN_VECTORS * CHANNELS &&
         x->type.shape.dim[channels] == node->results[0].type.shape.dim[channels];
}

/* Returns whether the operand of `node` may be computed twice. The operand must have other readers,
 * and one node must compute the operand from values of less than half the operand's bytes. */
static gboolean
is_candidate (const CleaveNode *node, gint64 min_bytes)
{
  const CleaveResult *x = node->n_operands == 1 ? node->operands[0].result : NULL;
  gint64 n_read = 0, n_bytes = x == NULL ? 0 : cleave_tensor_type_n_bytes (&x->type);

  if (x == NULL || n_bytes < min_bytes || x->n_uses < 2 || x->node->op->maps == NULL ||
      x->node->n_results != 1 || x->node->n_operands == 0)
    return FALSE;
  for (guint i = 0; i < x->node->n_operands; i++)
    if (x->node->operands[i].result != NULL)
      n_read += cleave_tensor_type_n_bytes (&x->node->operands[i].result->type);
  return n_read < n_bytes / 2;
}

GPtrArray *
cleave_rematerialize_find (const CleaveGraph *graph, gint64 min_bytes)
{
  GPtrArray *nodes = g_ptr_array_new ();
  double left = MAX_ADDED * (double) cleave_graph_get_macs (graph);

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      double macs;

      if (!is_candidate (node, min_bytes) || !needs_whole (node)) /* the cheaper test comes first */
        continue;
      macs = (double) cleave_node_get_macs (node->operands[0].result->node);
      if (macs > left)
        continue;
      left -= macs;
      g_ptr_array_add (nodes, node);
    }
  return nodes;
}

static CleaveNode *
add_copy (CleaveGraph *graph, const CleaveNode *node)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = node->operands[i].result;
  return cleave_graph_add_like (graph, node, node->name, operands);
}

static gboolean
is_either (const CleavePlan *plan, gpointer data, GString *why)
{
  CleaveNode *const *nodes = data;

  if (cleave_plan_get_node (plan) == nodes[0] || cleave_plan_get_node (plan) == nodes[1])
    return TRUE;
  if (why != NULL)
    g_string_append (why, "only a rematerialized value and its reader are cut here");
  return FALSE;
}

/* Returns the number of channels of a chunk, a multiple of CHANNELS. There are about two chunks
 * for each thread, but at least four chunks in total. */
static gint64
choose_chunk (gint64 n_channels, guint n_threads)
{
  gint64 chunk = n_channels / (2 * MAX (n_threads, 2)) / CHANNELS * CHANNELS;

  return MAX (chunk, CHANNELS);
}

static void
add_pieces (const CleaveRegion *region, GHashTable *pieces)
{
  for (guint i = 0; i < region->members->len; i++)
    {
      const CleaveRegionNode *member = region->members->pdata[i];

      for (guint p = 0; member->is_split && p < member->n_pieces; p++)
        g_hash_table_add (pieces, member->values[p * member->n_results]->node);
    }
}

void
cleave_rematerialize_make (CleaveGraph *graph,
                           CleaveNode *node,
                           guint n_threads,
                           CleaveSplitReport *report,
                           GHashTable *pieces)
{
  const CleaveRecursion recursion = { .depth = 2 };
  CleaveNode *copy = add_copy (graph, node->operands[0].result->node);
  CleaveNode *nodes[] = { node, copy };
  const CleaveConstraint constraint = { .predicate = is_either, .data = nodes };
  gint channels = cleave_node_find_dim (node, 'C');
  g_autofree char *dims = g_strdup_printf ("%d", channels);
  gint64 chunk = choose_chunk (node->results[0].type.shape.dim[channels], n_threads);
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_chunk_size (dims, &chunk, 1);
  CleaveRoot root = { .node = node, .constraint = &constraint };
  g_autoptr (CleaveRegion) region = NULL;

  cleave_operand_set (&node->operands[0], &copy->results[0]);
  root.ranges = cleave_tiling_get_ranges (tiling, &node->results[0].type.shape, NULL, NULL);
  region = cleave_region_plan (graph, &root, 1, &recursion, NULL);
  cleave_region_apply (region);
  add_pieces (region, pieces);
  cleave_split_report_add (report, region, &root, 1);
  g_array_unref (root.ranges);
}
