/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cuts an order of nodes into one segment for each rank, and makes the time of the slowest
 * segment as short as possible by bisection. A chain is the order of nodes, with the time of
 * each node and the time to send all values that cross each position. */

#include "rank-segments.h"

#include "rank-costs.h"
#include "simulate.h"

/* The search for the longest time of a segment halves its interval this many times. The result is
 * then precise to a millionth of the total time. */
#define N_HALVINGS 20

typedef struct
{
  const CleaveNetwork *network;
  guint n; /* number of nodes in the chain */
  /* indexed by position: time of the node with all threads of a rank, in nanoseconds */
  double *cost;
  double *across; /* indexed by position: time to send all values that are computed up to the
                     position and read after it */
} Chain;

static guint
find_last_use (const CleaveResult *value, const guint *position)
{
  guint last = position[value->node->id];

  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL)
      last = MAX (last, position[use->node->id]);
  return last;
}

static void
chain_init (Chain *chain, const CleaveGraph *graph, const GPtrArray *order)
{
  g_autofree guint *position = g_new0 (guint, graph->n_ids + 1);
  double sum = 0;

  chain->n = order->len;
  chain->cost = g_new0 (double, order->len + 1);
  chain->across = g_new0 (double, order->len + 1);
  for (guint i = 0; i < order->len; i++)
    position[((const CleaveNode *) order->pdata[i])->id] = i;
  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      chain->cost[i] = cleave_ranks_cost (node) / chain->network->n_threads;
      for (guint r = 0; !cleave_node_is_fixed (node) && r < node->n_results; r++)
        {
          double time = (double) cleave_tensor_type_n_bytes (&node->results[r].type) /
                        chain->network->bandwidth * 1e9;

          chain->across[i] += time;
          chain->across[find_last_use (&node->results[r], position)] -= time;
        }
    }
  for (guint i = 0; i < order->len; i++)
    chain->across[i] = sum += chain->across[i];
}

static void
chain_clear (Chain *chain)
{
  g_free (chain->cost);
  g_free (chain->across);
}

/* Returns the end of the longest segment from `begin` on that computes for at most `most`
 * nanoseconds, and sends for at most `most` nanoseconds. Returns `begin` if no segment meets both
 * limits. */
static guint
find_end (const Chain *chain, guint begin, double most)
{
  double cost = 0;
  guint end = begin;

  for (guint i = begin; i < chain->n; i++)
    {
      cost += chain->cost[i];
      if (cost > most)
        break;
      if (i + 1 == chain->n || chain->across[i] <= most)
        end = i + 1;
    }
  return end;
}

/* Cuts the chain into one segment for each rank. Each segment computes for at most `most`
 * nanoseconds, and sends for at most `most` nanoseconds. Sets `ends`, indexed by rank, to the
 * position after each segment. Returns FALSE if nodes remain after the last segment. */
static gboolean
cut (const Chain *chain, double most, guint *ends)
{
  guint begin = 0;

  for (guint r = 0; r < chain->network->n_ranks; r++)
    {
      ends[r] = find_end (chain, begin, most);
      begin = ends[r];
    }
  return begin == chain->n;
}

static void
find_ends (const Chain *chain, guint *ends)
{
  double low = 0, high = 0;

  for (guint i = 0; i < chain->n; i++)
    high += chain->cost[i];
  for (guint i = 0; i < N_HALVINGS; i++)
    {
      double middle = (low + high) / 2;

      if (cut (chain, middle, ends))
        high = middle;
      else
        low = middle;
    }
  cut (chain, high, ends);
  ends[chain->network->n_ranks - 1] = chain->n;
}

guint *
cleave_rank_segments_find (const CleaveGraph *graph,
                           const GPtrArray *order,
                           const CleaveNetwork *network)
{
  Chain chain = { .network = network };
  g_autofree guint *ends = g_new0 (guint, network->n_ranks);
  guint *ranks = g_new0 (guint, graph->n_ids + 1);
  guint rank = 0;

  chain_init (&chain, graph, order);
  find_ends (&chain, ends);
  chain_clear (&chain);
  for (guint i = 0; i < order->len; i++)
    {
      while (i >= ends[rank])
        rank++;
      ranks[((const CleaveNode *) order->pdata[i])->id] = rank;
    }
  return ranks;
}
