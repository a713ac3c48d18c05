/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Defines the pass `parallelize`: reads the options of the pass from texts, makes a tiling for
 * each node, and splits all these nodes. */

#include "info.h"

#include <string.h>

#include <cleave/cleave-languages.h>
#include <cleave/cleave-split.h>
#include <cleave/cleave-text.h>

#include "../lib/ir/graph-private.h"
#include "../lib/ir/node-queries.h"

/*    x               x
 *    |             /   \
 *  MatMul   =>  MatMul MatMul
 *    |             \   /
 *    |            Assemble
 *
 * With `kind=data`, each piece computes rows of the first dimension with all weights. With
 * `kind=model`, each piece computes some channels, or a part of the last dimension, with a part of
 * the weights.
 *
 * Before: a valid graph. After: each node that computes (or each named node) is split into
 * `num-chunks` pieces, or into fewer pieces if its dimension has fewer aligned parts. Run clean-up
 * next, so that pieces of consecutive nodes read each other directly. */

static const CleavePassOption option_table[] = {
  { "num-chunks", "K", "make this many pieces of each node", FALSE },
  { "kind", "KIND",
    "cut by data (default): rows of the first dimension; or by model: channels or columns", FALSE },
  { "node", "NAME", "cut only this node, by its name or that of its first result", TRUE },
  { "align", "A", "end pieces at multiples of this", FALSE },
  { 0 },
};

typedef struct
{
  gint64 n_chunks, alignment;
  gboolean is_model;
} Asked;

static gboolean
parse_count (GHashTable *texts, const char *name, gint64 *count, GError **error)
{
  const char *text = g_hash_table_lookup (texts, name);

  return text == NULL || cleave_text_to_int (name, text, 1, G_MAXINT32, count, error);
}

static gboolean
parse (GHashTable *texts, Asked *asked, GError **error)
{
  const char *kind = texts == NULL ? NULL : g_hash_table_lookup (texts, "kind");

  *asked = (Asked){ .alignment = 1, .is_model = g_strcmp0 (kind, "model") == 0 };
  if (texts == NULL || !g_hash_table_contains (texts, "num-chunks"))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "expected num-chunks");
  if (kind != NULL && !asked->is_model && strcmp (kind, "data") != 0)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "kind must be data or model, not '%s'", kind);
  return parse_count (texts, "num-chunks", &asked->n_chunks, error) &&
         parse_count (texts, "align", &asked->alignment, error);
}

static gboolean
check (GHashTable *texts, GError **error)
{
  Asked asked;

  return parse (texts, &asked, error);
}

/* Limit on the number of nodes that find_model() visits. With the limit, a long chain of
 * element-wise nodes does not take quadratic time. */
#define MAX_WALK 64

/* Returns the node whose op says which dimension has the channels: an op with a layout, such as
 * NCHW. The ops of element-wise nodes have no layout. From an element-wise node, the function goes
 * on to the node that computes the operand. */
static const CleaveNode *
find_model (const CleaveNode *node)
{
  for (guint i = 0; i < MAX_WALK; i++)
    {
      const CleaveResult *x = node->n_operands > 0 ? node->operands[0].result : NULL;

      if (node->op->layout != NULL || (node->op->flags & CLEAVE_OP_IN_PLACE) == 0 || x == NULL ||
          x->type.shape.rank != node->results[0].type.shape.rank)
        break;
      node = x->node;
    }
  return node;
}

/* Returns the dimension along which to cut result 0 of a node: the dimension of the channels if
 * `is_model`, else the first dimension. */
static guint
find_dimension (const CleaveNode *node, gboolean is_model)
{
  g_auto (CleaveNodeCall) call = { 0 };
  const char *letters, *channels;

  if (!is_model)
    return 0;
  node = find_model (node);
  letters =
      node->op->layout == NULL ? NULL : node->op->layout (cleave_node_call_init (&call, node));
  channels = letters == NULL ? NULL : strchr (letters, 'C');
  return channels != NULL ? (guint) (channels - letters) : node->results[0].type.shape.rank - 1;
}

/* Returns the tiling of a node, or NULL if the tiling would have only one piece. */
static CleaveTiling *
make_tiling (const CleaveNode *node, const Asked *asked)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  guint dimension = shape->rank == 0 ? 0 : find_dimension (node, asked->is_model);
  gint64 n_parts =
      shape->rank == 0 ? 1 : (shape->dim[dimension] + asked->alignment - 1) / asked->alignment;
  gint64 n_chunks = MIN (asked->n_chunks, n_parts);
  g_autofree char *dims = g_strdup_printf ("%u", dimension);
  CleaveTiling *tiling;

  if (n_chunks < 2)
    return NULL;
  tiling = cleave_tiling_by_num_chunks (dims, &n_chunks, 1);
  cleave_tiling_set_alignment (tiling, asked->alignment);
  return tiling;
}

/* Returns whether a split can make a node faster. Views, joins and nodes that only store data
 * compute nothing. */
static gboolean
computes (const CleaveNode *node)
{
  return !cleave_node_is_source (node) && node->op->maps != NULL &&
         (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_STORAGE)) == 0;
}

/* Returns the nodes (CleaveNode) that the option `node` names. Without the option, returns all
 * nodes that compute. Returns NULL and sets the error if a name is unknown. */
static GPtrArray *
find_nodes (CleaveGraph *graph, GHashTable *texts, GError **error)
{
  const char *names = g_hash_table_lookup (texts, "node");
  g_auto (GStrv) list = g_strsplit (names == NULL ? "" : names, "\n", -1);
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();

  for (CleaveNode *node = graph->first; names == NULL && node != NULL; node = node->next)
    if (computes (node))
      g_ptr_array_add (nodes, node);
  for (guint i = 0; list[i] != NULL; i++)
    {
      CleaveNode *node = cleave_graph_select_node (graph, list[i], error);

      if (node == NULL)
        return NULL;
      g_ptr_array_add (nodes, node);
    }
  return g_steal_pointer (&nodes);
}

/* Returns FALSE and sets the error if a named node was not split, unless its dimension allows only
 * one piece. */
static gboolean
is_done (GHashTable *texts, const CleaveSplitReport *report, GError **error)
{
  for (guint i = 0; i < cleave_split_report_get_n_not_split (report); i++)
    {
      const CleaveUnsplitNode *node = cleave_split_report_get_not_split (report, i);

      if (g_hash_table_contains (texts, "node") && node->reason != CLEAVE_NOT_SPLIT_ONE_PIECE)
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s '%s' is not split: %s",
                            cleave_op_get_name (node->op), node->name, node->message);
    }
  return TRUE;
}

static gboolean
run (CleaveGraph *graph, gconstpointer texts, gboolean *changed, GError **error)
{
  g_autoptr (GPtrArray) nodes = NULL, tilings = NULL;
  g_autoptr (GArray) requests = g_array_new (FALSE, FALSE, sizeof (CleaveSplitRequest));
  g_autoptr (CleaveSplitReport) report = NULL;
  Asked asked;

  if (!parse ((GHashTable *) texts, &asked, error))
    return FALSE;
  nodes = find_nodes (graph, (GHashTable *) texts, error);
  if (nodes == NULL)
    return FALSE;
  tilings = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tiling_unref);
  for (guint i = 0; i < nodes->len; i++)
    {
      CleaveSplitRequest request = { nodes->pdata[i], make_tiling (nodes->pdata[i], &asked), NULL };

      if (request.tiling == NULL)
        continue;
      g_ptr_array_add (tilings, (gpointer) request.tiling);
      g_array_append_val (requests, request);
    }
  report = cleave_split_nodes (graph, (const CleaveSplitRequest *) (gpointer) requests->data,
                               requests->len, error);
  if (report == NULL)
    return FALSE;
  *changed = cleave_split_report_get_n_split (report) > 0;
  return is_done ((GHashTable *) texts, report, error);
}

const CleavePassInfo cleave_pass_info_parallelize = {
  .name = "parallelize",
  .summary = "Cuts each node into pieces that run in parallel, by rows or by columns.",
  .options = option_table,
  .run = run,
  .check = check,
  .is_for_once = TRUE,
};
