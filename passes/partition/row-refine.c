/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Moves nodes across the cuts of a row, if fewer bytes then cross the cuts. The cuts of a row are
 * the cheapest cuts for the order of nodes in the row. Another order may have a cheaper cut:
 *
 *     row:  a1 b1 a2 b2 | a3 b3 a4 b4      two values cross, one of each chain
 *     then: a1 a2 a3 a4 | b1 b2 b3 b4      one value crosses
 *
 * For two parts that follow each other, a minimum cut of the graph says which nodes go to which
 * part. The first nodes of the first part and the last nodes of the second part stay, so that both
 * parts keep about their sizes. All other nodes of both parts are movable. */

#include "row-refine.h"

#include "../../lib/ir/min-cut.h"

#include "row-measure.h"

/* One minimum cut may move at most this many nodes. In a random graph, such a minimum cut takes 0.1
 * s. */
#define MAX_MOVABLE 20000

/* A refinement computes a series of minimum cuts. Together, the graphs of these minimum cuts have
 * at most this many edges. The refinement then takes at most about 2 s. */
#define MAX_EDGES (1 << 24)

/* A refinement improves the cut between two parts. If one of these parts exceeds the limit, the
 * refinement moves nodes one by one from this part to the other part, at most MAX_STEPS nodes. Each
 * node is chosen from at most MAX_CANDIDATES nodes. */
#define MAX_STEPS 12
#define MAX_CANDIDATES 6

/* All cuts are refined this many times. After a cut has moved, its neighbor cuts may have a cheaper
 * position, too. */
#define N_PASSES 2

/* Fraction of the nodes of each part that may move to the other part, in eighths. refine_cut()
 * tries these fractions in order, until a cut is cheaper than the current cut and both parts meet
 * the limit. */
static const guint eighths[] = { 7, 4, 2, 1 };

/* Two adjacent parts, with nodes [begin, middle) and [middle, end). Only the nodes [first, last)
 * may move to the other part. */
typedef struct
{
  CleaveRow *row;
  guint begin, middle, end, first, last;
  GArray *edges; /* CleaveFlowEdge: edges of the graph of which a minimum cut is computed */
  /* set of CleaveResult: results of nodes before `first` that have a vertex already */
  GHashTable *values;
  guint n_vertices; /* number of vertices: source, sink, movable nodes, values */
  gint64 limit;     /* limit on the bytes of a part */
  gint64 *n_left; /* remaining budget of edges (MAX_EDGES at the start); each minimum cut subtracts
                   * its edges */
} Window;

static void
window_clear (Window *window)
{
  g_clear_pointer (&window->edges, g_array_unref);
  g_clear_pointer (&window->values, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Window, window_clear)

static guint
get_vertex (const Window *window, guint place)
{
  return place < window->first   ? CLEAVE_FLOW_SOURCE
         : place >= window->last ? CLEAVE_FLOW_SINK
                                 : 2 + place - window->first;
}

static void
add_edge (Window *window, guint from, guint to, gint64 n_bytes)
{
  CleaveFlowEdge edge = { from, to, n_bytes };

  g_array_append_val (window->edges, edge);
}

/* Returns the place of the node that uses a value: its index in the row's list of nodes. Returns
 * CLEAVE_NEVER if an output uses the value. */
static guint
find_place (const CleaveRow *row, const CleaveOperand *use)
{
  return use->node == NULL ? CLEAVE_NEVER : row->place[use->node->id];
}

/* Adds a vertex for a value. A cut costs the bytes of the value once, however many nodes after the
 * cut read the value:
 *
 *     node ─ bytes ─► value ─ no cut ─► readers
 *
 * An edge from each reader back to the node keeps the reader from running before the node. */
static void
add_value (Window *window, const CleaveResult *value, guint node)
{
  guint vertex = window->n_vertices++;

  add_edge (window, node, vertex, cleave_tensor_type_n_bytes (&value->type));
  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    {
      guint place = find_place (window->row, use);

      if (place == CLEAVE_NEVER || place < window->first)
        continue;
      add_edge (window, vertex, get_vertex (window, place), -1);
      if (node != CLEAVE_FLOW_SOURCE && place < window->last)
        add_edge (window, get_vertex (window, place), node, -1);
    }
}

/* Adds a vertex for each operand of `node` (a movable node) that is the result of a node before all
 * movable nodes. */
static void
add_given (Window *window, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveResult *value = node->operands[i].result;

      if (value == NULL || cleave_node_is_fixed (value->node) ||
          window->row->place[value->node->id] == CLEAVE_NEVER ||
          window->row->place[value->node->id] >= window->first ||
          !g_hash_table_add (window->values, value))
        continue;
      add_value (window, value, CLEAVE_FLOW_SOURCE);
    }
}

static void
build (Window *window)
{
  window->edges = g_array_new (FALSE, FALSE, sizeof (CleaveFlowEdge));
  window->values = g_hash_table_new (NULL, NULL);
  window->n_vertices = 2 + window->last - window->first;
  for (guint i = window->first; i < window->last; i++)
    {
      const CleaveNode *node = g_ptr_array_index (window->row->nodes, i);

      add_given (window, node);
      for (guint r = 0; r < node->n_results && !cleave_node_is_fixed (node); r++)
        add_value (window, &node->results[r], get_vertex (window, i));
    }
}

/* Returns the sum of the bytes of edges from vertices before a cut to vertices after the cut. */
static gint64
sum_bytes (const Window *window, const gboolean *is_before)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < window->edges->len; i++)
    {
      const CleaveFlowEdge *edge = &g_array_index (window->edges, CleaveFlowEdge, i);

      if (is_before[edge->from] && !is_before[edge->to])
        n_bytes += MAX (edge->n_bytes, 0);
    }
  return n_bytes;
}

/* Returns the bytes that cross the current cut. Marks a value as after the cut if one of its
 * readers is after the cut. */
static gint64
sum_present (const Window *window, gboolean *is_before)
{
  const guint n = 2 + window->last - window->first;

  for (guint i = 0; i < window->n_vertices; i++)
    is_before[i] = i != CLEAVE_FLOW_SINK && (i >= n || window->first + i < window->middle + 2);
  for (guint i = 0; i < window->edges->len; i++)
    {
      const CleaveFlowEdge *edge = &g_array_index (window->edges, CleaveFlowEdge, i);

      if (edge->from >= n && !is_before[edge->to])
        is_before[edge->from] = FALSE;
    }
  return sum_bytes (window, is_before);
}

/* Reorders the movable nodes: the nodes before the cut come first. Returns the position of the cut,
 * the new `window->middle`. */
static guint
sort (Window *window, const gboolean *is_before)
{
  const guint n = window->last - window->first;
  g_autofree gpointer *nodes =
      g_memdup2 (window->row->nodes->pdata + window->first, n * sizeof (gpointer));
  guint place = window->first, middle = place;

  for (guint side = 0; side < 2; side++)
    {
      middle = side == 1 ? place : middle;
      for (guint i = 0; i < n; i++)
        if (is_before[2 + i] == (side == 0))
          {
            window->row->place[((const CleaveNode *) nodes[i])->id] = place;
            window->row->nodes->pdata[place++] = nodes[i];
          }
    }
  return middle;
}

/* Restores the order that the movable nodes had before sort(). `nodes` has the movable nodes in
 * that order. */
static void
restore (Window *window, gpointer const *nodes)
{
  for (guint i = window->first; i < window->last; i++)
    {
      window->row->nodes->pdata[i] = nodes[i - window->first];
      window->row->place[((const CleaveNode *) nodes[i - window->first])->id] = i;
    }
}

static gboolean
has_edges_left (const Window *window)
{
  return *window->n_left > 0;
}

/* Finds the cheapest cut, marks the vertices before the cut in `is_before`, and returns the bytes
 * that cross the cut. */
static gint64
find_cut (Window *window, gboolean *is_before)
{
  *window->n_left -= window->edges->len;
  cleave_min_cut (window->edges, window->n_vertices, is_before);
  return sum_bytes (window, is_before);
}

/* Returns the vertices (guint, at most MAX_CANDIDATES) of movable nodes, each of which could move
 * across the cut alone. If `forwards` is TRUE, lists nodes after the cut whose operands are all
 * before the cut. If `forwards` is FALSE, lists nodes before the cut whose readers are all after
 * the cut. */
static GArray *
list_candidates (const Window *window, gboolean forwards, const gboolean *is_before)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (guint));
  const guint n = window->last - window->first;
  g_autofree gboolean *is_bound = g_new0 (gboolean, window->n_vertices);

  for (guint i = 0; i < window->edges->len; i++)
    {
      const CleaveFlowEdge *edge = &g_array_index (window->edges, CleaveFlowEdge, i);
      guint node = forwards ? edge->from : edge->to, other = forwards ? edge->to : edge->from;

      if (edge->n_bytes < 0 && other >= 2 && other < 2 + n && is_before[other] != forwards)
        is_bound[node] = TRUE;
    }
  for (guint i = 0; i < n && candidates->len < MAX_CANDIDATES; i++)
    {
      guint vertex = 2 + (forwards ? i : n - 1 - i);

      if (!is_bound[vertex] && is_before[vertex] != forwards)
        g_array_append_val (candidates, vertex);
    }
  return candidates;
}

/* Fixes a movable node to the part before the cut if `forwards`, else to the part after the cut. */
static void
fix (Window *window, guint vertex, gboolean forwards)
{
  if (forwards)
    add_edge (window, CLEAVE_FLOW_SOURCE, vertex, -1);
  else
    add_edge (window, vertex, CLEAVE_FLOW_SINK, -1);
}

/* Moves one candidate across the cut and fixes it there. For each candidate, finds the cheapest cut
 * with this candidate fixed, and chooses the candidate with the cheapest of these cuts. Returns
 * FALSE if there is no candidate. */
static gboolean
move_one (Window *window, gboolean forwards, const gboolean *is_before)
{
  g_autoptr (GArray) candidates = list_candidates (window, forwards, is_before);
  g_autofree gboolean *after = g_new0 (gboolean, window->n_vertices);
  gint64 least = G_MAXINT64;
  guint best = 0;

  for (guint i = 0; i < candidates->len && has_edges_left (window); i++)
    {
      gint64 n_bytes;

      fix (window, g_array_index (candidates, guint, i), forwards);
      n_bytes = find_cut (window, after);
      g_array_set_size (window->edges, window->edges->len - 1);
      if (n_bytes >= least)
        continue;
      least = n_bytes;
      best = g_array_index (candidates, guint, i);
    }
  if (best != 0)
    fix (window, best, forwards);
  return best != 0;
}

static gboolean
fits (const Window *window, guint begin, guint end)
{
  CleavePartitionMemory memory;

  cleave_row_measure (window->row, begin, end, &memory);
  return memory.weight_bytes + memory.arena_bytes <= window->limit;
}

/* Moves the nodes before the cut in front of the nodes after the cut, and measures the two parts.
 * If a part exceeds the limit, restores the order, sets `forwards` and returns FALSE. If only the
 * second part exceeds the limit, the cut must come later, and `forwards` is TRUE. */
static gboolean
meets_limit (Window *window, const gboolean *is_before, gboolean *forwards)
{
  g_autofree gpointer *nodes = g_memdup2 (window->row->nodes->pdata + window->first,
                                          (window->last - window->first) * sizeof (gpointer));
  guint middle = sort (window, is_before);
  gboolean first_fits = fits (window, window->begin, middle);

  if (first_fits && fits (window, middle, window->end))
    {
      window->middle = middle;
      return TRUE;
    }
  *forwards = first_fits;
  restore (window, nodes);
  return FALSE;
}

/* Cuts between the movable nodes where the fewest bytes cross. As long as a part exceeds the limit,
 * moves nodes to the other part. Returns TRUE if fewer bytes cross the new cut than the current
 * cut, and both parts meet the limit. If not, changes nothing and returns FALSE. */
static gboolean
try_window (Window *window)
{
  g_autofree gboolean *is_before = NULL;
  gint64 present;

  build (window);
  is_before = g_new0 (gboolean, window->n_vertices);
  present = sum_present (window, is_before);
  for (guint step = 0; step < MAX_STEPS && has_edges_left (window); step++)
    {
      gboolean forwards;

      if (find_cut (window, is_before) >= present)
        return FALSE;
      if (meets_limit (window, is_before, &forwards))
        return TRUE;
      if (!move_one (window, forwards, is_before))
        return FALSE;
    }
  return FALSE;
}

/* Improves the cut at ends[i]. Returns whether the cut changed. */
static gboolean
refine_cut (CleaveRow *row, GArray *ends, guint i, gint64 limit, gint64 *n_left)
{
  guint *middle = &g_array_index (ends, guint, i);
  const guint begin = g_array_index (ends, guint, i - 1), end = g_array_index (ends, guint, i + 1);

  for (guint k = 0; k < G_N_ELEMENTS (eighths); k++)
    {
      g_auto (Window) window = {
        .row = row, .begin = begin, .middle = *middle, .end = end, .limit = limit, .n_left = n_left
      };

      window.first = *middle - (guint) ((guint64) (*middle - begin) * eighths[k] / 8);
      window.last = *middle + (guint) ((guint64) (end - *middle) * eighths[k] / 8);
      if (window.last - window.first > MAX_MOVABLE || window.last == window.first ||
          !try_window (&window))
        continue;
      *middle = window.middle;
      return TRUE;
    }
  return FALSE;
}

void
cleave_row_refine (CleaveRow *row, GArray *ends, gint64 limit)
{
  gint64 n_left = MAX_EDGES;
  gboolean changed = TRUE;

  for (guint pass = 0; pass < N_PASSES && changed; pass++)
    {
      changed = FALSE;
      for (guint i = 1; i + 1 < ends->len && n_left > 0; i++)
        changed |= refine_cut (row, ends, i, limit, &n_left);
    }
}
