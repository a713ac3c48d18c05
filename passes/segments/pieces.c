/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records the part (segment of a plan) and the place of each node, and lists the nodes of the split
 * graph by place. The place of a node is its position in the list of nodes before the segments are
 * cut. All nodes and pieces of a part have the place of the part's first node. */

#include "pieces.h"

#include "../../lib/ir/topology.h"
#include "../../lib/memory/node-orders.h"
#include "file-order.h"

static guint *
get (GArray *table, const CleaveNode *node)
{
  return &g_array_index (table, guint, node->id);
}

void
cleave_segment_pieces_init (CleaveSegmentPieces *pieces,
                            const CleaveGraph *graph,
                            GPtrArray *const *nodes,
                            guint n_parts)
{
  guint next = 0;

  pieces->part = g_array_sized_new (FALSE, TRUE, sizeof (guint), graph->n_ids);
  pieces->place = g_array_sized_new (FALSE, TRUE, sizeof (guint), graph->n_ids);
  g_array_set_size (pieces->part, graph->n_ids);
  g_array_set_size (pieces->place, graph->n_ids);
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      *get (pieces->part, node) = CLEAVE_NO_PART;
      /* weights come first in the list, since any piece of a segment may read them */
      *get (pieces->place, node) =
          cleave_node_is_input (node) || cleave_node_is_fixed (node) ? 0 : ++next;
    }
  pieces->place_of_part = g_array_sized_new (FALSE, FALSE, sizeof (guint), n_parts);
  for (guint p = 0; p < n_parts; p++)
    {
      guint place = *get (pieces->place, nodes[p]->pdata[0]);

      g_array_append_val (pieces->place_of_part, place);
      for (guint i = 0; i < nodes[p]->len; i++)
        {
          *get (pieces->part, nodes[p]->pdata[i]) = p;
          *get (pieces->place, nodes[p]->pdata[i]) = place;
        }
    }
}

void
cleave_segment_pieces_note (CleaveSegmentPieces *pieces, const CleaveGraph *graph, guint part)
{
  while (pieces->part->len < graph->n_ids)
    g_array_append_val (pieces->part, part);
}

/* Sets `place` of the nodes that the cuts of segments added. A place is a position in the list of
 * nodes before the cuts. A piece gets the place of its segment. A node that several segments share
 * gets the largest place of its operands. */
static void
place_pieces (CleaveSegmentPieces *pieces, const GPtrArray *order)
{
  guint n_before = pieces->place->len;

  g_array_set_size (pieces->place, pieces->part->len);
  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];
      guint part = cleave_segment_pieces_part (pieces, node);

      if (node->id < n_before)
        continue;
      if (part != CLEAVE_SHARED_PART)
        *get (pieces->place, node) = g_array_index (pieces->place_of_part, guint, part);
      for (guint o = 0; o < node->n_operands && part == CLEAVE_SHARED_PART; o++)
        *get (pieces->place, node) =
            MAX (*get (pieces->place, node), *get (pieces->place, node->operands[o].result->node));
    }
}

static int
compare_places (gconstpointer a, gconstpointer b, gpointer data)
{
  guint x = *get (data, *(CleaveNode *const *) a), y = *get (data, *(CleaveNode *const *) b);

  return (x > y) - (x < y);
}

typedef struct
{
  CleaveSegmentPieces *pieces;
  gboolean *seen;   /* indexed by node id: listed, or on the stack */
  GPtrArray *stack; /* CleaveNode: nodes to list, the next one on top. A NULL means: all operands of
                       the node below the NULL are listed, so list this node */
  GPtrArray *order; /* CleaveNode: nodes listed so far, operands before readers */
} Listing;

static CleaveNode *
pop (Listing *listing)
{
  return g_ptr_array_steal_index (listing->stack, listing->stack->len - 1);
}

static void
push_operands (const Listing *listing, const CleaveNode *node)
{
  for (guint o = node->n_operands; o-- > 0;)
    {
      const CleaveResult *read = node->operands[o].result;

      if (read != NULL &&
          *get (listing->pieces->place, read->node) == *get (listing->pieces->place, node))
        g_ptr_array_add (listing->stack, read->node);
    }
}

/* Appends the node `last` to the order, unless the order contains it. First appends the nodes that
 * compute the operands of `last`, directly or through other nodes, if their `place` equals the
 * `place` of `last`. */
static void
add (Listing *listing, CleaveNode *last)
{
  g_ptr_array_add (listing->stack, last);
  while (listing->stack->len > 0)
    {
      CleaveNode *node = pop (listing);

      if (node == NULL)
        g_ptr_array_add (listing->order, pop (listing));
      else if (!listing->seen[node->id])
        {
          listing->seen[node->id] = TRUE;
          g_ptr_array_add (listing->stack, node);
          g_ptr_array_add (listing->stack, NULL);
          push_operands (listing, node);
        }
    }
}

/* Lists the pieces of a segment strip by strip: first the first strip of each end node in `ends`,
 * then the second strip of each end node, and so on. */
static void
add_strips (Listing *listing, const CleaveGraph *graph, char **ends)
{
  guint n_strips = 1;

  for (guint s = 0; s < n_strips; s++)
    for (guint e = g_strv_length (ends); e-- > 0;)
      {
        const CleaveNode *end = cleave_graph_find_node (graph, ends[e]);
        CleaveNode *piece;

        if (end == NULL || (end->op->flags & CLEAVE_OP_JOIN) == 0)
          continue;
        n_strips = MAX (n_strips, end->n_operands);
        piece = s < end->n_operands ? end->operands[s].result->node : NULL;
        if (piece != NULL &&
            *get (listing->pieces->place, piece) == *get (listing->pieces->place, end))
          add (listing, piece);
      }
}

/* Reorders the graph, which renumbers its nodes, and reorders `part` in the same way. */
static void
arrange (CleaveSegmentPieces *pieces, CleaveGraph *graph, const GPtrArray *order)
{
  GArray *part = g_array_sized_new (FALSE, FALSE, sizeof (guint), order->len);

  for (guint i = 0; i < order->len; i++)
    g_array_append_val (part, *get (pieces->part, order->pdata[i]));
  g_array_unref (pieces->part);
  pieces->part = part;
  cleave_graph_arrange (graph, order);
}

void
cleave_segment_pieces_list (CleaveSegmentPieces *pieces, CleaveGraph *graph, char **const *ends)
{
  const guint *place_of_part = (const guint *) (gpointer) pieces->place_of_part->data;
  g_autoptr (GPtrArray) nodes = cleave_order_depth_first (graph, NULL);
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  g_autoptr (GPtrArray) order = g_ptr_array_sized_new (nodes->len);
  g_autoptr (GPtrArray) sorted = NULL, read = NULL;
  g_autofree gboolean *seen = g_new0 (gboolean, graph->n_ids + 1);
  Listing listing = { pieces, seen, stack, order };
  guint next = 0;

  place_pieces (pieces, nodes);
  g_ptr_array_sort_with_data (
      nodes, compare_places,
      pieces->place); /* the sort is stable: nodes with equal places keep their order */
  for (guint i = 0; i < nodes->len; i++)
    {
      guint place = *get (pieces->place, nodes->pdata[i]);

      while (next < pieces->place_of_part->len && place_of_part[next] < place)
        next++;
      if (next < pieces->place_of_part->len && place_of_part[next] == place)
        add_strips (&listing, graph, ends[next++]);
      add (&listing, nodes->pdata[i]);
    }
  arrange (pieces, graph, order);
  sorted = cleave_topology_sort (graph, NULL);
  read = cleave_list_as_in_file (graph, sorted);
  arrange (pieces, graph, read);
  graph->keeps_order = TRUE;
}

void
cleave_segment_pieces_clear (CleaveSegmentPieces *pieces)
{
  g_clear_pointer (&pieces->part, g_array_unref);
  g_clear_pointer (&pieces->place, g_array_unref);
  g_clear_pointer (&pieces->place_of_part, g_array_unref);
}
