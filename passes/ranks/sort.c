/* SPDX-License-Identifier: GPL-2.0-or-later */

/* In which order nodes run: that in which they begin in a simulation, on all ranks. */

#include "simulate.h"

static int
compare_keys (gconstpointer a, gconstpointer b, gpointer data)
{
  const double *key = data;
  double x = key[(*(CleaveNode *const *) a)->id], y = key[(*(CleaveNode *const *) b)->id];

  return x < y ? -1 : x > y ? 1 : 0;
}

/* GLib's sort is stable. */
void
cleave_ranks_sort_nodes (GPtrArray *nodes, double *key)
{
  g_ptr_array_sort_with_data (nodes, compare_keys, key);
}

/* How much longer a run may take in an order that is good for memory. */
#define MAX_TIME_FOR_MEMORY 1.05

/* By the longest way to the end, or, if that is as good, by the order that the whole graph has,
 * which is one that takes little memory. */
static void
find_times (CleaveRankTimes *times, const CleavePlacement *p)
{
  const CleaveNetwork network = { p->n_ranks, 1, CLEAVE_NETWORK_BANDWIDTH, CLEAVE_NETWORK_LATENCY };
  g_autofree double *height = cleave_ranks_find_heights (p->graph, p->order);
  g_autofree double *early = g_new0 (double, p->graph->n_ids + 1);
  CleaveRankTimes of_memory;

  for (guint i = 0; i < p->order->len; i++)
    early[((const CleaveNode *) p->order->pdata[i])->id] = -(double) i;
  cleave_rank_times_init_by (times, p, &network, height);
  cleave_rank_times_init_by (&of_memory, p, &network, early);
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
