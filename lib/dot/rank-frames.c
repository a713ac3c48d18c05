/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Draws a frame for each rank, and dashes the arrows between ranks (rank-frames.h). */

#include "rank-frames.h"

#include "../ir/graph-private.h"

struct _CleaveDotRanks
{
  Agraph_t *root;
  const char *word;      /* word for a rank in the titles of frames, such as "rank" */
  int of_outputs;        /* rank in whose frame the outputs of the graph are drawn; -1: outputs are
                          * in no frame */
  int *rank;             /* indexed by node id: rank of the node; -1: no rank */
  GHashTable *clusters;  /* maps a rank, plus 1, to its cluster */
  GHashTable *receivers; /* maps a value to the set of the ranks (each plus 1) that receive the
                          * value */
};

CleaveDotRanks *
cleave_dot_ranks_new (Agraph_t *root, const CleaveGraph *graph, const CleaveDotOptions *options)
{
  CleaveDotRanks *r = g_new0 (CleaveDotRanks, 1);
  const CleaveNode *node = graph->first;

  r->root = root;
  r->word = options->rank_word == NULL ? "rank" : options->rank_word;
  r->of_outputs = options->rank_word == NULL ? 0 : -1;
  r->rank = g_new (int, graph->n_ids + 1);
  r->clusters = g_hash_table_new (NULL, NULL);
  r->receivers = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_hash_table_unref);
  for (guint i = 0; node != NULL; i++, node = node->next)
    r->rank[node->id] = i < options->n_ranks ? options->ranks[i] : -1;
  return r;
}

void
cleave_dot_ranks_free (CleaveDotRanks *ranks)
{
  g_free (ranks->rank);
  g_hash_table_unref (ranks->clusters);
  g_hash_table_unref (ranks->receivers);
  g_free (ranks);
}

static Agraph_t *
find_cluster (CleaveDotRanks *ranks, int rank)
{
  Agraph_t *cluster = g_hash_table_lookup (ranks->clusters, GINT_TO_POINTER (rank + 1));
  g_autofree char *name = NULL, *title = NULL;

  if (cluster != NULL)
    return cluster;
  name = g_strdup_printf ("cluster_%s_%d", ranks->word, rank);
  title = g_strdup_printf ("%s %d", ranks->word, rank);
  cluster = agsubg (ranks->root, name, TRUE);
  cleave_draw_set (cluster, "label", title);
  cleave_draw_set (cluster, "style", "filled,rounded");
  cleave_draw_set (cluster, "color", "#b0b0b0");
  cleave_draw_set (cluster, "fillcolor", "#f4f4f4");
  g_hash_table_insert (ranks->clusters, GINT_TO_POINTER (rank + 1), cluster);
  return cluster;
}

static int
find_rank (const CleaveDotRanks *ranks, const CleaveNode *node)
{
  return node == NULL ? ranks->of_outputs : ranks->rank[node->id];
}

void
cleave_dot_ranks_add_vertex (CleaveDotRanks *ranks, const CleaveNode *node, Agnode_t *vertex)
{
  int rank = find_rank (ranks, node);

  if (rank >= 0)
    agsubnode (find_cluster (ranks, rank), vertex, TRUE);
}

static gboolean
is_first (CleaveDotRanks *ranks, const CleaveResult *value, int to)
{
  GHashTable *receivers = g_hash_table_lookup (ranks->receivers, value);

  if (receivers == NULL)
    {
      receivers = g_hash_table_new (NULL, NULL);
      g_hash_table_insert (ranks->receivers, (gpointer) value, receivers);
    }
  return g_hash_table_add (receivers, GINT_TO_POINTER (to + 1));
}

void
cleave_dot_ranks_mark_edge (CleaveDotRanks *ranks,
                            const CleaveResult *value,
                            const CleaveNode *reader,
                            Agedge_t *edge)
{
  int from = find_rank (ranks, value->node), to = find_rank (ranks, reader);
  g_autofree char *label = NULL;

  if (from < 0 || to < 0 || from == to)
    return;
  cleave_draw_set (edge, "style", "dashed");
  cleave_draw_set (edge, "color", "#c03000");
  if (!is_first (ranks, value, to))
    return;
  label = g_strdup_printf ("%" G_GINT64_FORMAT " bytes", cleave_tensor_type_n_bytes (&value->type));
  cleave_draw_set (edge, "xlabel", label); /* with the attribute "label" in place of "xlabel",
                                            * Graphviz 2.43 frees its layers (ranks) twice */
  cleave_draw_set (edge, "fontname", "Helvetica");
  cleave_draw_set (edge, "fontsize", "8");
}
