/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Defines the pass `split`: reads its options from texts, splits the named nodes or all nodes,
 * and fails if a limit is not met. */

#include "../info.h"

#include <cleave/cleave-languages.h>

#include "../../lib/ir/error.h"
#include "text.h"

static const CleavePassOption option_table[] = {
  { "node", "NAME", "split this node, by its name or that of its first result", TRUE },
  { "all", NULL, "split every node that can take the option", FALSE },
  { "dims", "D,…", "cut these dimensions: numbers, negative from the end, or N, C, H, W", FALSE },
  { "num-chunks", "K,…", "make this many chunks along each dimension", FALSE },
  { "chunk-size", "S,…", "make chunks of this size", FALSE },
  { "chunk-sizes", "S,S/S,…",
    "make chunks of these sizes, with / between dimensions; one may be -1, the remainder", FALSE },
  { "chunk-weights", "W,W/W,…", "make chunks in these proportions, with / between dimensions",
    FALSE },
  { "slice-ranges", "B:E,…/…",
    "make exactly these chunks, with / between chunks and a range in every dimension", FALSE },
  { "max-memory", "SIZE", "limit the bytes of each piece: operands, weights included, and results",
    FALSE },
  { "max-subgraph-memory", "SIZE", "limit the peak of each parallel subgraph, run alone", FALSE },
  { "max-schedule-memory", "SIZE", "limit the peak of the whole model, run depth first", FALSE },
  { "max-added-macs", "PERCENT", "limit the MACs that recomputed rows add to the model", FALSE },
  { "max-pieces", "N", "limit the pieces of a node", FALSE },
  { "search-budget", "N", "limit the work of a search (default: 500000, and 2000 for each node)",
    FALSE },
  { "depth", "N", "split producers, up to this many nodes (default: 1, the node alone)", FALSE },
  { "halo", "POLICY",
    "handle rows that two chunks need by: recompute (default), carry, carry-narrow or exchange",
    FALSE },
  { "strips-per-band", "N",
    "with carry or exchange: make bands of this many strips, which run in parallel", FALSE },
  { "align", "A,…", "end chunks at multiples of this", FALSE },
  { "min-chunk", "M,…", "make chunks at least this long", FALSE },
  { "small-first", NULL, "put the smaller chunks first", FALSE },
  { "single-use", NULL, "split no producer whose value other nodes read", FALSE },
  { 0 },
};

typedef struct
{
  CleaveTiling *tiling;
  CleaveConstraint constraint;
  CleaveRecursion recursion;
} Asked;

static void
asked_clear (Asked *asked)
{
  g_clear_pointer (&asked->tiling, cleave_tiling_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Asked, asked_clear)

static gboolean
parse (GHashTable *texts, Asked *asked, GError **error)
{
  gboolean has_node = g_hash_table_contains (texts, "node");

  if (has_node == g_hash_table_contains (texts, "all"))
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "expected either node or all to say what to split");
  if (!cleave_split_parse (texts, NULL, &asked->tiling, &asked->constraint, error) ||
      !cleave_recursion_parse (texts, NULL, &asked->recursion, error))
    return FALSE;
  return has_node || asked->recursion.depth == 1 ||
         cleave_fail (error, CLEAVE_ERROR_OPTION, "depth needs node, not all");
}

static gboolean
check (GHashTable *texts, GError **error)
{
  g_auto (Asked) asked = { 0 };

  return parse (texts, &asked, error);
}

static GArray *
make_requests (CleaveGraph *graph, GHashTable *texts, const Asked *asked, GError **error)
{
  g_auto (GStrv) names = g_strsplit (g_hash_table_lookup (texts, "node"), "\n", -1);
  g_autoptr (GArray) requests = g_array_new (FALSE, FALSE, sizeof (CleaveSplitRequest));

  for (guint i = 0; names[i] != NULL; i++)
    {
      CleaveSplitRequest request = { cleave_graph_select_node (graph, names[i], error),
                                     asked->tiling,
                                     cleave_split_texts_have_limit (texts) ? &asked->constraint
                                                                           : NULL };

      if (request.node == NULL)
        return NULL;
      g_array_append_val (requests, request);
    }
  return g_steal_pointer (&requests);
}

static CleaveSplitReport *
split (CleaveGraph *graph, GHashTable *texts, const Asked *asked, GError **error)
{
  g_autoptr (GArray) requests = NULL;

  if (g_hash_table_contains (texts, "all"))
    return cleave_split_all_nodes (
        graph, asked->tiling, cleave_split_texts_have_limit (texts) ? &asked->constraint : NULL,
        error);
  requests = make_requests (graph, texts, asked, error);
  if (requests == NULL)
    return NULL;
  if (asked->recursion.depth == 1)
    return cleave_split_nodes (graph, (CleaveSplitRequest *) (gpointer) requests->data,
                               requests->len, error);
  return cleave_split_nodes_recursively (graph, (CleaveSplitRequest *) (gpointer) requests->data,
                                         requests->len, &asked->recursion, error);
}

/* Checks the split of nodes that the user named. Returns FALSE and sets the error if no node was
 * split, unless every node stays whole because its split has only one chunk
 * (CLEAVE_NOT_SPLIT_ONE_PIECE). */
static gboolean
is_done (GHashTable *texts, const CleaveSplitReport *report, GError **error)
{
  const CleaveUnsplitNode *refused = NULL;

  for (guint i = 0; i < cleave_split_report_get_n_not_split (report) && refused == NULL; i++)
    if (cleave_split_report_get_not_split (report, i)->reason != CLEAVE_NOT_SPLIT_ONE_PIECE)
      refused = cleave_split_report_get_not_split (report, i);
  if (!g_hash_table_contains (texts, "node") || refused == NULL ||
      cleave_split_report_get_n_split (report) > 0)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s '%s' is not split: %s",
                      cleave_op_get_name (refused->op), refused->name, refused->message);
}

static gboolean
meets_limits (const CleaveSplitReport *report, GError **error)
{
  for (guint i = 0; i < cleave_split_report_get_n_limits (report); i++)
    {
      const CleaveSplitLimit *limit = cleave_split_report_get_limit (report, i);

      if (!limit->is_met)
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s is not met: %.15g, asked %.15g",
                            cleave_limit_kind_get_name (limit->kind), limit->reached, limit->asked);
    }
  return TRUE;
}

/* Runs the pass in a pipeline. Callers in C use the functions of cleave-split.h. */
static gboolean
run (CleaveGraph *graph, gconstpointer texts, gboolean *changed, GError **error)
{
  g_auto (Asked) asked = { 0 };
  g_autoptr (CleaveSplitReport) report = NULL;

  if (!parse ((GHashTable *) texts, &asked, error))
    return FALSE;
  report = split (graph, (GHashTable *) texts, &asked, error);
  if (report == NULL)
    return FALSE;
  *changed = cleave_split_report_get_n_split (report) > 0;
  return is_done ((GHashTable *) texts, report, error) && meets_limits (report, error);
}

const CleavePassInfo cleave_pass_info_split = {
  .name = "split",
  .summary = "Splits nodes, and their producers if asked, into pieces that compute the same bits.",
  .options = option_table,
  .run = run,
  .check = check,
  .is_for_once = TRUE,
};
