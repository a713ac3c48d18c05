/* SPDX-License-Identifier: GPL-2.0-or-later */

/* In which order nodes run: that in which they begin in a simulation, on all ranks. */

#include "simulate.h"

typedef struct
{
  const double *begin;
  const guint *position;
} Places;

static int
compare_begins (gconstpointer a, gconstpointer b, gpointer data)
{
  const Places *places = data;
  guint m = (*(CleaveNode *const *) a)->id, n = (*(CleaveNode *const *) b)->id;

  if (places->begin[m] < places->begin[n] || places->begin[m] > places->begin[n])
    return places->begin[m] < places->begin[n] ? -1 : 1;
  return places->position[m] < places->position[n] ? -1 : 1;
}

/* How much longer a run may take in an order that is good for memory. */
#define MAX_TIME_FOR_MEMORY 1.05

/* By the longest way to the end, or, if that is as good, by the order that the whole graph has,
 * which is one that takes little memory. */
static void
find_times (CleaveRankTimes *times, const CleavePlacement *p, const guint *position)
{
  const CleaveNetwork network = { p->n_ranks, 1, CLEAVE_NETWORK_BANDWIDTH, CLEAVE_NETWORK_LATENCY };
  g_autofree double *height = cleave_ranks_find_heights (p->graph, p->order);
  g_autofree double *early = g_new0 (double, p->graph->n_ids + 1);
  CleaveRankTimes of_memory;

  for (guint i = 0; i < p->graph->n_ids; i++)
    early[i] = -(double) position[i];
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
  g_autofree guint *position = g_new0 (guint, p->graph->n_ids + 1);
  Places places = { NULL, position };

  for (guint i = 0; i < p->order->len; i++)
    position[((const CleaveNode *) p->order->pdata[i])->id] = i;
  find_times (&times, p, position);
  places.begin = times.begin;
  g_ptr_array_sort_with_data (p->order, compare_begins, &places);
  p->begin = g_steal_pointer (&times.begin);
}

CleavePlacement *
cleave_ranks_make (CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank)
{
  CleavePlacement *p = cleave_placement_make (graph, order, n_ranks, rank);

  sort (p);
  return p;
}
