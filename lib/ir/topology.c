/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Topological order, cycles, connected components, reachability and minimum cuts. */

#include "topology.h"

#include "graph-private.h"
#include "heap.h"
#include "memory.h"
#include "min-cut.h"
#include "node-queries.h"

#include <cleave/cleave-error.h>

#include <igraph/igraph.h>
#include <pthread.h>

/* A message about a cycle names at most this many of its nodes. */
#define MAX_NAMES 12

/* A graph in igraph: a vertex for each node id, an edge for each operand. */
typedef struct
{
  igraph_t graph;
  igraph_error_handler_t *handler;
} Analysis;

/* igraph has global state, so only one analysis may run at a time. This is a pthread mutex because
 * the thread sanitizer does not understand GMutex. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Aborts if a call of igraph failed. igraph fails only if there is no memory, for which GLib
 * aborts, too. */
static void
must (igraph_error_t code)
{
  if (code != IGRAPH_SUCCESS)
    g_error ("the analysis of a graph ran out of memory");
}

static void
vector_init (igraph_vector_int_t *vector, gsize size)
{
  must (igraph_vector_int_init (vector, (igraph_integer_t) size));
}

static void
lock (Analysis *analysis)
{
  pthread_mutex_lock (&mutex);
  analysis->handler = igraph_set_error_handler (igraph_error_handler_ignore);
}

/* Makes the igraph graph from `edges`, a list of pairs of vertices, and frees the list. */
static void
make (Analysis *analysis, igraph_vector_int_t *edges, guint n_vertices)
{
  must (igraph_create (&analysis->graph, edges, (igraph_integer_t) n_vertices, IGRAPH_DIRECTED));
  igraph_vector_int_destroy (edges);
}

static void
push_edge (igraph_vector_int_t *edges, guint from, guint to)
{
  must (igraph_vector_int_push_back (edges, (igraph_integer_t) from));
  must (igraph_vector_int_push_back (edges, (igraph_integer_t) to));
}

/* Builds the igraph graph. A node whose `without[id]` is set has a vertex, but no edges. */
static void
begin (Analysis *analysis, const CleaveGraph *graph, const gboolean *without)
{
  igraph_vector_int_t edges;

  lock (analysis);
  vector_init (&edges, 0);
  must (igraph_vector_int_reserve (&edges, 4 * (igraph_integer_t) graph->n_nodes));
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    for (guint i = 0; i < node->n_operands; i++)
      {
        const CleaveNode *from = cleave_node_get_producer (node, i);

        if (from == NULL || without[from->id] || without[node->id])
          continue;
        push_edge (&edges, from->id, node->id);
      }
  make (analysis, &edges, graph->n_ids);
}

static void
end (Analysis *analysis)
{
  igraph_destroy (&analysis->graph);
  igraph_set_error_handler (analysis->handler);
  pthread_mutex_unlock (&mutex);
}

/* Returns an array of the nodes, indexed by id; NULL for an id that no node has. */
static CleaveNode **
index_nodes (const CleaveGraph *graph)
{
  CleaveNode **nodes = CLEAVE_NEW0 (CleaveNode *, graph->n_ids + 1);

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    nodes[node->id] = node;
  return nodes;
}

/* The functions below compute the topological order. */

/* Returns the nodes in the order of building if this order is topological, as in graphs that were
 * not edited. Returns NULL if the order is not topological. */
static GPtrArray *
list_as_built (const CleaveGraph *graph)
{
  g_autoptr (GPtrArray) nodes = cleave_memory_list (graph->n_nodes);

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      for (guint i = 0; i < node->n_operands; i++)
        {
          const CleaveNode *from = cleave_node_get_producer (node, i);

          if (from != NULL && from->id >= node->id)
            return NULL;
        }
      g_ptr_array_add (nodes, node);
    }
  return g_steal_pointer (&nodes);
}

/* Returns an array indexed by node id: how many operands of the node have a producer that is not
 * yet in the topological order. At first, this is the number of operands. Fills `ready` with the
 * ids of the nodes without operands. */
static guint *
count_operands (const CleaveGraph *graph, GArray *ready)
{
  guint *missing = CLEAVE_NEW0 (guint, graph->n_ids + 1);

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      for (guint i = 0; i < node->n_operands; i++)
        missing[node->id] += cleave_node_get_producer (node, i) != NULL;
      if (missing[node->id] == 0)
        cleave_heap_push (ready, node->id);
    }
  return missing;
}

static void
release_users (const CleaveNode *node, guint *missing, GArray *ready)
{
  for (guint i = 0; i < node->n_results; i++)
    for (const CleaveOperand *use = node->results[i].first_use; use != NULL; use = use->next_use)
      if (use->node != NULL && --missing[use->node->id] == 0)
        cleave_heap_push (ready, use->node->id);
}

/* The functions below make error messages for cycles. */

/* Returns a producer of `node` that the topological order could not include: the producer is in a
 * cycle, or depends on a cycle. `missing` is indexed by node id: how many operands of the node have
 * a producer that is not in the order. */
static CleaveNode *
step_back (const CleaveNode *node, const guint *missing)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveNode *from = cleave_node_get_producer (node, i);

      if (from != NULL && missing[from->id] > 0)
        return from;
    }
  g_assert_not_reached ();
}

static CleaveNode *
find_missing (const CleaveGraph *graph, const guint *missing)
{
  CleaveNode *node = graph->first;

  while (missing[node->id] == 0)
    node = node->next;
  return node;
}

/* Returns the nodes of a cycle. Each node is followed by a producer that it reads. */
static GPtrArray *
find_cycle (const CleaveGraph *graph, const guint *missing)
{
  g_autofree gboolean *seen = g_new0 (gboolean, graph->n_ids + 1);
  GPtrArray *cycle = g_ptr_array_new ();
  CleaveNode *first = find_missing (graph, missing);

  for (; !seen[first->id]; first = step_back (first, missing))
    seen[first->id] = TRUE;
  g_ptr_array_add (cycle, first);
  for (CleaveNode *node = step_back (first, missing); node != first;
       node = step_back (node, missing))
    g_ptr_array_add (cycle, node);
  return cycle;
}

static guint
find_first_built (const GPtrArray *nodes)
{
  guint first = 0;

  for (guint i = 1; i < nodes->len; i++)
    if (((CleaveNode *) nodes->pdata[i])->id < ((CleaveNode *) nodes->pdata[first])->id)
      first = i;
  return first;
}

/* Sets the error "cycle: 'a' → 'b' → 'a'". Arrows lead from producer to consumer. The message
 * begins with the node that was built first. */
static void
set_cycle_error (const CleaveGraph *graph, const guint *missing, GError **error)
{
  g_autoptr (GPtrArray) cycle = find_cycle (graph, missing);
  g_autoptr (GString) names = g_string_new (NULL);
  guint n = cycle->len, first = find_first_built (cycle);

  for (guint i = 0; i < MIN (n, MAX_NAMES); i++)
    g_string_append_printf (names, "'%s' → ",
                            ((CleaveNode *) cycle->pdata[(first + n - i) % n])->name);
  if (n > MAX_NAMES)
    g_string_append_printf (names, "%u more → ", n - MAX_NAMES);
  cleave_fail (error, CLEAVE_ERROR_CYCLE, "cycle: %s'%s'", names->str,
               ((CleaveNode *) cycle->pdata[first])->name);
}

/* Sorts by Kahn's algorithm with a heap. igraph's own sort breaks ties by the order in which nodes
 * become ready. With igraph's sort, a rewrite in one part of a graph would change the order in
 * another part. */
static GPtrArray *
sort_by_heap (const CleaveGraph *graph, GError **error)
{
  g_autofree CleaveNode **nodes = index_nodes (graph);
  g_autoptr (GPtrArray) order = cleave_memory_list (graph->n_nodes);
  g_autoptr (GArray) ready = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree guint *missing = count_operands (graph, ready);

  while (ready->len > 0)
    {
      CleaveNode *node = nodes[cleave_heap_pop (ready)];

      g_ptr_array_add (order, node);
      release_users (node, missing, ready);
    }
  if (order->len == graph->n_nodes)
    return g_steal_pointer (&order);
  set_cycle_error (graph, missing, error);
  return NULL;
}

GPtrArray *
cleave_topology_sort (const CleaveGraph *graph, GError **error)
{
  GPtrArray *order = list_as_built (graph);

  return order != NULL ? order : sort_by_heap (graph, error);
}

/* The functions below find components and reachable nodes. */

guint
cleave_topology_components (const CleaveGraph *graph, const gboolean *without, guint *component)
{
  Analysis analysis;
  igraph_vector_int_t membership;
  g_autofree guint *number = CLEAVE_NEW (guint, graph->n_ids + 1);
  guint n = 0;

  begin (&analysis, graph, without);
  vector_init (&membership, 0);
  must (igraph_connected_components (&analysis.graph, &membership, NULL, NULL, IGRAPH_WEAK));
  for (guint i = 0; i < graph->n_ids; i++)
    number[i] = component[i] = G_MAXUINT;
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      guint *mine = &number[VECTOR (membership)[node->id]];

      if (without[node->id])
        continue;
      if (*mine == G_MAXUINT)
        *mine = n++;
      component[node->id] = *mine;
    }
  igraph_vector_int_destroy (&membership);
  end (&analysis);
  return n;
}

static void
reach_one (CleaveNode *node, GPtrArray *stack, gboolean *reached)
{
  if (node == NULL || reached[node->id])
    return;
  reached[node->id] = TRUE;
  g_ptr_array_add (stack, node);
}

/* Walks the graph itself, because igraph would first need a list of all edges. */
void
cleave_topology_reach (const CleaveGraph *graph,
                       CleaveNode *const *nodes,
                       guint n_nodes,
                       gboolean forwards,
                       gboolean *reached)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();

  for (guint i = 0; i < graph->n_ids; i++)
    reached[i] = FALSE;
  for (guint i = 0; i < n_nodes; i++)
    reach_one (nodes[i], stack, reached);
  while (stack->len > 0)
    {
      const CleaveNode *node = g_ptr_array_steal_index (stack, stack->len - 1);

      for (guint i = 0; i < node->n_results && forwards; i++)
        for (const CleaveOperand *use = node->results[i].first_use; use; use = use->next_use)
          reach_one (use->node, stack, reached);
      for (guint i = 0; i < node->n_operands && !forwards; i++)
        reach_one (cleave_node_get_producer (node, i), stack, reached);
    }
}

/* The functions below find minimum cuts of a flow graph. */

/* Sets the capacities of the edges. The capacity of an edge that no cut may pass is larger than the
 * sum of all other capacities. */
static void
set_capacities (igraph_vector_t *capacities, const GArray *edges)
{
  double sum = 1;

  must (igraph_vector_init (capacities, (igraph_integer_t) edges->len));
  for (guint i = 0; i < edges->len; i++)
    sum += (double) MAX (g_array_index (edges, CleaveFlowEdge, i).n_bytes, 0);
  for (guint i = 0; i < edges->len; i++)
    {
      gint64 n_bytes = g_array_index (edges, CleaveFlowEdge, i).n_bytes;

      VECTOR (*capacities)[i] = n_bytes < 0 ? sum : (double) n_bytes;
    }
}

void
cleave_min_cut (const GArray *edges, guint n_vertices, gboolean *is_before)
{
  Analysis analysis;
  igraph_vector_int_t pairs, before;
  igraph_vector_t capacities;

  lock (&analysis);
  vector_init (&pairs, 0);
  for (guint i = 0; i < edges->len; i++)
    push_edge (&pairs, g_array_index (edges, CleaveFlowEdge, i).from,
               g_array_index (edges, CleaveFlowEdge, i).to);
  make (&analysis, &pairs, n_vertices);
  set_capacities (&capacities, edges);
  vector_init (&before, 0);
  must (igraph_st_mincut (&analysis.graph, NULL, NULL, &before, NULL, CLEAVE_FLOW_SOURCE,
                          CLEAVE_FLOW_SINK, &capacities));
  for (guint i = 0; i < n_vertices; i++)
    is_before[i] = FALSE;
  for (igraph_integer_t i = 0; i < igraph_vector_int_size (&before); i++)
    is_before[VECTOR (before)[i]] = TRUE;
  igraph_vector_int_destroy (&before);
  igraph_vector_destroy (&capacities);
  end (&analysis);
}
