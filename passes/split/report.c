/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Fills reports of splits. report-access.c reads them. */

#include "report.h"

#include <cleave/cleave-program.h>
#include <string.h>

#include "../../lib/ir/boxed.h"
#include "../../lib/ir/pool.h"
#include "../../lib/ir/subgraphs.h"

static void
let_pieces_go (gpointer data)
{
  CleaveSplitNode *split = data;

  for (guint i = 0; i < split->n_pieces; i++)
    cleave_node_unref (split->pieces[i]);
}

typedef struct
{
  guint n;
  CleaveRange range[];
} RangeList;

static guint
list_hash (gconstpointer data)
{
  const RangeList *list = data;
  guint hash = list->n;

  for (guint i = 0; i < list->n; i++)
    hash = hash * 31 + cleave_range_hash (&list->range[i]);
  return hash;
}

static gboolean
list_equal (gconstpointer a, gconstpointer b)
{
  const RangeList *l = a, *m = b;
  guint same = 0;

  while (l->n == m->n && same < l->n && cleave_range_equal (&l->range[same], &m->range[same]))
    same++;
  return l->n == m->n && same == l->n;
}

/* Returns a copy of the ranges that lives as long as the report. Equal lists share one copy. */
static const CleaveRange *
keep_ranges (CleaveSplitReport *report, const CleaveRange *ranges, guint n)
{
  gsize n_bytes = sizeof (RangeList) + n * sizeof *ranges;
  g_autofree RangeList *list = g_malloc (n_bytes);
  RangeList *kept;

  list->n = n;
  if (n > 0)
    memcpy (list->range, ranges, n * sizeof *ranges);
  kept = g_hash_table_lookup (report->lists, list);
  if (kept == NULL)
    {
      kept = cleave_pool_copy (report->pool, list, n_bytes);
      g_hash_table_add (report->lists, kept);
    }
  return kept->range;
}

CleaveSplitReport *
cleave_split_report_new (const CleaveGraph *graph)
{
  CleaveSplitReport *report = g_atomic_rc_box_new0 (CleaveSplitReport);

  report->pool = cleave_pool_new ();
  report->split = g_ptr_array_new_with_free_func (let_pieces_go);
  report->not_split = g_ptr_array_new ();
  report->limits = g_array_new (FALSE, FALSE, sizeof (CleaveSplitLimit));
  report->lists = g_hash_table_new (list_hash, list_equal);
  report->totals.nodes_before = cleave_graph_count_operators (graph);
  report->totals.macs_before = cleave_graph_get_macs (graph);
  report->totals.peak_bytes_before = cleave_graph_get_peak_bytes (graph, NULL);
  return report;
}

/* Counts the parallel subgraphs of a graph, and the MACs in them. */
static void
count_parallel (CleaveSplitTotals *totals, const CleaveGraph *graph)
{
  g_autofree guint *subgraph = g_new (guint, graph->n_ids + 1);

  totals->n_parallel_subgraphs = cleave_subgraphs_find (graph, subgraph);
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (subgraph[node->id] != G_MAXUINT)
      totals->parallel_macs =
          cleave_saturated_add (totals->parallel_macs, cleave_node_get_macs (node));
}

/* Returns whether a piece is no longer in the graph: a later split removed the piece, or a new node
 * with another name has the piece's address. */
static gboolean
is_lost (const CleaveSplitNode *split, guint piece, const CleaveGraph *graph)
{
  return split->pieces[piece]->graph != graph ||
         strcmp (split->pieces[piece]->name, split->piece_names[piece]) != 0;
}

static void
forget_lost_pieces (CleaveSplitReport *report, CleaveSplitNode *split, const CleaveGraph *graph)
{
  CleaveNode **pieces = (CleaveNode **) split->pieces;
  const char **names = (const char **) split->piece_names;
  g_autofree CleaveRange *ranges = NULL;
  guint n = 0;

  while (n < split->n_pieces && !is_lost (split, n, graph))
    n++;
  if (n == split->n_pieces)
    return;
  ranges = g_memdup2 (split->ranges, split->n_pieces * sizeof *ranges);
  for (guint i = n; i < split->n_pieces; i++)
    {
      if (is_lost (split, i, graph))
        {
          cleave_node_unref (pieces[i]);
          continue;
        }
      names[n] = names[i];
      pieces[n] = pieces[i];
      ranges[n++] = ranges[i];
    }
  split->ranges = keep_ranges (report, ranges, n);
  split->n_pieces = n;
}

/* Removes from the list of whole nodes each node that a later request has split. */
static void
drop_split_later (CleaveSplitReport *report)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  guint n = report->not_split->len;

  for (guint i = 0; n > 0 && i < report->split->len; i++)
    g_hash_table_add (names, (gpointer) cleave_split_report_get_split (report, i)->name);
  for (guint i = n; i-- > 0;)
    if (g_hash_table_contains (names, cleave_split_report_get_not_split (report, i)->name))
      g_ptr_array_remove_index (report->not_split, i);
}

void
cleave_split_report_finish_with_peak (CleaveSplitReport *report,
                                      const CleaveGraph *graph,
                                      gint64 peak_bytes)
{
  drop_split_later (report);
  for (guint i = 0; i < report->split->len; i++)
    forget_lost_pieces (report, report->split->pdata[i], graph);
  report->totals.nodes_after = cleave_graph_count_operators (graph);
  report->totals.macs_after = cleave_graph_get_macs (graph);
  report->totals.peak_bytes_after = peak_bytes;
  count_parallel (&report->totals, graph);
}

void
cleave_split_report_finish (CleaveSplitReport *report, const CleaveGraph *graph)
{
  cleave_split_report_finish_with_peak (report, graph, cleave_graph_get_peak_bytes (graph, NULL));
}

void
cleave_split_report_add_pieces (CleaveSplitReport *report,
                                const char *name,
                                const CleaveOp *op,
                                CleaveNode *const *pieces,
                                const CleaveRange *ranges,
                                guint n)
{
  CleaveSplitNode *split = cleave_pool_alloc (report->pool, sizeof *split);
  CleaveNode **kept = cleave_pool_alloc (report->pool, n * sizeof *kept);
  char **names = cleave_pool_alloc (report->pool, (n + 1) * sizeof *names);

  for (guint i = 0; i < n; i++)
    {
      kept[i] = cleave_node_ref (pieces[i]);
      names[i] = cleave_pool_strdup (report->pool, pieces[i]->name);
    }
  *split = (CleaveSplitNode){ .name = cleave_pool_strdup (report->pool, name),
                              .op = op,
                              .n_pieces = n,
                              .pieces = kept,
                              .ranges = keep_ranges (report, ranges, n),
                              .piece_names = (const char *const *) names };
  g_ptr_array_add (report->split, split);
}

static void
add_split (CleaveSplitReport *report, const CleaveRegionNode *member)
{
  g_autofree CleaveNode **pieces = g_new (CleaveNode *, member->n_pieces);
  g_autofree CleaveRange *ranges = g_new (CleaveRange, member->n_pieces);
  guint n = 0;

  for (guint i = 0; i < member->n_pieces; i++)
    {
      const CleaveResult *value = member->values[i * member->n_results];

      if (value == NULL)
        continue;
      pieces[n] = value->node;
      ranges[n++] = *member->pieces[i].range;
    }
  cleave_split_report_add_pieces (report, member->name, member->op, pieces, ranges, n);
}

static void
add_missed (CleaveSplitReport *report, const CleaveMissed *missed)
{
  CleaveUnsplitNode *unsplit = cleave_pool_alloc (report->pool, sizeof *unsplit);

  unsplit->name = cleave_pool_strdup (report->pool, missed->name);
  unsplit->op = missed->op;
  unsplit->reason = missed->reason;
  unsplit->message = cleave_pool_strdup (report->pool, missed->message);
  g_ptr_array_add (report->not_split, unsplit);
}

/* Fills two tables. `by_node` maps a node that stays whole to its missed remark (CleaveMissed).
 * `by_ranges` finds the region node of a root: the key is the address of the array of the root's
 * ranges. */
static void
index_region (const CleaveRegion *region, GHashTable *by_node, GHashTable *by_ranges)
{
  for (guint i = 0; i < region->missed->len; i++)
    {
      CleaveMissed *missed = g_ptr_array_index (region->missed, i);

      g_hash_table_insert (by_node, (gpointer) missed->node, missed);
    }
  for (guint i = 0; i < region->members->len; i++)
    {
      CleaveRegionNode *member = g_ptr_array_index (region->members, i);

      if (member->root != NULL)
        g_hash_table_insert (by_ranges, (gpointer) member->root, member);
    }
}

void
cleave_split_report_add (CleaveSplitReport *report,
                         const CleaveRegion *region,
                         const CleaveRoot *roots,
                         guint n_roots)
{
  g_autoptr (GHashTable) by_node = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) by_ranges = g_hash_table_new (NULL, NULL);

  index_region (region, by_node, by_ranges);
  for (guint i = 0; i < n_roots; i++)
    {
      const CleaveRegionNode *member =
          roots[i].ranges != NULL ? g_hash_table_lookup (by_ranges, roots[i].ranges) : NULL;
      const CleaveMissed *missed = g_hash_table_lookup (by_node, roots[i].node);

      if (member != NULL)
        add_split (report, member);
      else if (missed != NULL && g_hash_table_remove (by_node, roots[i].node))
        add_missed (report, missed);
    }
  for (guint i = 0; i < region->members->len; i++)
    {
      const CleaveRegionNode *member = g_ptr_array_index (region->members, i);

      if (member->root == NULL && member->is_split)
        add_split (report, member);
    }
  for (guint i = 0; i < region->missed->len; i++)
    {
      const CleaveMissed *missed = g_ptr_array_index (region->missed, i);

      if (g_hash_table_contains (by_node, missed->node))
        add_missed (report, missed);
    }
}

void
cleave_split_report_add_limit (CleaveSplitReport *report, const CleaveSplitLimit *limit)
{
  g_array_append_vals (report->limits, limit, 1);
}

void
cleave_split_report_add_work (CleaveSplitReport *report, const CleaveWork *work)
{
  report->totals.search_work = work->done;
  report->totals.search_budget = work->done > 0 ? work->budget : 0;
  report->totals.search_gave_up = work->gave_up;
}

static void
clear (gpointer data)
{
  CleaveSplitReport *report = data;

  g_ptr_array_unref (report->split);
  g_ptr_array_unref (report->not_split);
  g_array_unref (report->limits);
  g_hash_table_unref (report->lists);
  cleave_pool_free (report->pool);
}

/**
 * cleave_split_report_ref:
 * @report: a report
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @report
 *
 * Since: 0.1
 */

/**
 * cleave_split_report_unref:
 * @report: (nullable) (transfer full): a report
 *
 * Drops a reference; the last one frees the report.
 *
 * Since: 0.1
 */

CLEAVE_DEFINE_COUNTED (CleaveSplitReport, split_report, clear)
