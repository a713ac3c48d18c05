/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Orders the nodes of a placement by the times at which they begin in a simulation of all ranks. */

#include "../../lib/memory/node-orders.h"
#include "../../lib/memory/ordering.h"
#include "own-orders.h"
#include "rank-costs.h"
#include "simulate.h"

static int
compare_keys (gconstpointer a, gconstpointer b, gpointer data)
{
  const double *key = data;
  double x = key[(*(CleaveNode *const *) a)->id], y = key[(*(CleaveNode *const *) b)->id];

  return x < y ? -1 : x > y ? 1 : 0;
}

/* Sorts nodes by `key`, indexed by node id. Nodes with equal keys keep their order, since GLib's
 * sort is stable. */
void
cleave_ranks_sort_nodes (GPtrArray *nodes, double *key)
{
  g_ptr_array_sort_with_data (nodes, compare_keys, key);
}

/* Limit on the time of a run in an order that needs less memory, as a multiple of the time in the
 * original order. */
#define MAX_TIME_FOR_MEMORY 1.05

/* Simulates a run twice, with different priorities of the nodes. In the first simulation, the node
 * with the longest path to the end has the highest priority. In the second simulation, the first
 * node of the order of the whole graph has the highest priority, since this order needs little
 * memory. If the second run takes at most MAX_TIME_FOR_MEMORY times as long as the first run, sets
 * `times` to the times of the second run. If not, sets `times` to the times of the first run. */
static void
find_times (CleaveRankTimes *times, const CleavePlacement *p)
{
  const CleaveNetwork network = { p->n_ranks, 1, CLEAVE_NETWORK_BANDWIDTH, CLEAVE_NETWORK_LATENCY };
  g_autofree double *height = cleave_ranks_find_heights (p->graph, p->order);
  g_autofree double *early = g_new0 (double, p->graph->n_ids + 1);
  CleaveRankTimes of_memory;

  for (guint i = 0; i < p->order->len; i++)
    early[((const CleaveNode *) p->order->pdata[i])->id] = -(double) i;
  cleave_rank_times_init_by (times, p, &network, height, 0);
  cleave_rank_times_init_by (&of_memory, p, &network, early, 0);
  if (of_memory.duration <= MAX_TIME_FOR_MEMORY * times->duration)
    {
      CleaveRankTimes other = *times;

      *times = of_memory;
      of_memory = other;
    }
  cleave_rank_times_clear (&of_memory);
}

static void
sort (CleavePlacement *p)
{
  g_auto (CleaveRankTimes) times = { 0 };

  find_times (&times, p);
  cleave_ranks_sort_nodes (p->order, times.begin);
  p->begin = g_steal_pointer (&times.begin);
}

CleavePlacement *
cleave_ranks_make (CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank)
{
  CleavePlacement *p = cleave_placement_make (graph, order, n_ranks, rank);

  sort (p);
  return p;
}

/* Returns priorities, indexed by node id: the first node of the order has the highest priority. */
static double *
make_priority (const CleaveGraph *graph, const GPtrArray *order)
{
  double *priority = g_new0 (double, graph->n_ids + 1);

  for (guint i = 0; i < order->len; i++)
    priority[((const CleaveNode *) order->pdata[i])->id] = -(double) i;
  return priority;
}

static CleavePlacement *
copy_in_order (const CleavePlacement *p, const GPtrArray *order, guint window)
{
  const CleaveNetwork network = { p->n_ranks, 1, CLEAVE_NETWORK_BANDWIDTH, CLEAVE_NETWORK_LATENCY };
  g_autofree double *priority = make_priority (p->graph, order);
  CleavePlacement *copy = cleave_placement_copy (p, order);
  g_auto (CleaveRankTimes) times = { 0 };

  cleave_rank_times_init_by (&times, copy, &network, priority, window);
  cleave_ranks_sort_nodes (copy->order, times.begin);
  copy->begin = g_steal_pointer (&times.begin);
  return copy;
}

/* Tries several orders of the nodes, and returns the placement with the order in which the largest
 * memory of a rank is the smallest. Leaves out orders in which a run takes more than
 * MAX_TIME_FOR_MEMORY times as long as in the order of `p`. Sets `*memory` to the largest memory of
 * a rank in bytes. */
static CleavePlacement *
choose (CleavePlacement *p,
        const CleaveNetwork *network,
        guint n_in_flight,
        const guint *windows,
        guint n_windows,
        gint64 *memory)
{
  g_autoptr (GPtrArray) deep = cleave_order_depth_first (p->graph, NULL);
  g_autoptr (GPtrArray) eager = cleave_order_eager (p->graph, p->all);
  const GPtrArray *const whole[] = { p->all, deep, eager };
  g_autoptr (GPtrArray) own = cleave_ranks_find_own_orders (p, whole, G_N_ELEMENTS (whole));
  const GPtrArray *const walks[] = { p->all, deep, eager, own };
  double most = MAX_TIME_FOR_MEMORY * cleave_placement_simulate_stream (p, network, n_in_flight);
  CleavePlacement *best = cleave_placement_ref (p);

  *memory = cleave_ranks_find_memory (p);
  for (guint i = 0; p->messages->len > 0 && i < G_N_ELEMENTS (walks) * n_windows; i++)
    {
      g_autoptr (CleavePlacement) other =
          copy_in_order (p, walks[i / n_windows], windows[i % n_windows]);
      double time = cleave_placement_simulate_stream (other, network, n_in_flight);
      gint64 n_bytes = time > most ? G_MAXINT64 : cleave_ranks_find_memory (other);

      if (n_bytes >= *memory)
        continue;
      cleave_placement_unref (best);
      best = g_steal_pointer (&other);
      *memory = n_bytes;
    }
  return best;
}

/* The windows that choose() tries. While a rank waits for a value, the rank may run a later node of
 * its order, even if the later node needs more memory. The window is the number of next nodes among
 * which the rank chooses; 0: all later nodes. Example: a text detector at 640 x 640 on two ranks.
 * With all four windows, the larger of the two arenas has 8.2 MB. With window 0 alone, the larger
 * arena has 11.3 MB. */
static const guint all_windows[] = { 0, 32, 8, 1 };
/* for most placements, an order with this window needs less memory than orders with other windows;
 * a quick estimate tries only this window */
static const guint least_window = 1;

CleavePlacement *
cleave_ranks_sort_for_memory (CleavePlacement *p, const CleaveNetwork *network, guint n_in_flight)
{
  gint64 memory;

  return choose (p, network, n_in_flight, all_windows, G_N_ELEMENTS (all_windows), &memory);
}

gint64
cleave_ranks_predict_memory (CleavePlacement *p, const CleaveNetwork *network, double *time)
{
  gint64 memory;
  g_autoptr (CleavePlacement) sorted = choose (p, network, 1, &least_window, 1, &memory);

  *time = cleave_placement_simulate (sorted, network);
  return memory;
}
