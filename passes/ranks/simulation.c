/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prepares the state of a simulated run, and updates the state when a rank sends a value or a value
 * arrives. A node runs before other ready nodes (`goes_first`) if it takes no time and another rank
 * waits for its result, directly or through other such nodes. The link of a rank carries the values
 * that the rank sends. */

#include "simulation.h"

#include "rank-costs.h"
#include "ready-heap.h"

static void
count_missing (CleaveSimulation *s)
{
  const GPtrArray *order = s->p->order;

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      s->position[node->id] = i;
      s->rank_index[node->id] = s->of_rank[s->p->rank[node->id]]->len;
      g_ptr_array_add (s->of_rank[s->p->rank[node->id]], (gpointer) node);
      for (guint o = 0; o < node->n_operands; o++)
        s->n_missing[node->id] += node->operands[o].result != NULL &&
                                  !cleave_node_is_fixed (node->operands[o].result->node);
      if (s->n_missing[node->id] == 0)
        cleave_ready_push (s->waiting[s->p->rank[node->id]], 0, i);
    }
}

static gboolean
is_awaited (const CleaveSimulation *s, const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    {
      if (g_hash_table_contains (s->p->first_of, &node->results[r]))
        return TRUE;
      for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
        if (use->node != NULL && s->goes_first[use->node->id])
          return TRUE;
    }
  return FALSE;
}

static void
find_first (CleaveSimulation *s)
{
  for (guint i = s->p->order->len; i-- > 0;)
    {
      const CleaveNode *node = s->p->order->pdata[i];

      s->goes_first[node->id] = cleave_ranks_cost (node) <= 0 && is_awaited (s, node);
    }
}

void
cleave_simulation_init (CleaveSimulation *s)
{
  gsize n = (gsize) s->p->graph->n_ids + 1, n_ranks = s->p->n_ranks;

  s->ready = g_new0 (double, n);
  s->n_missing = g_new0 (guint, n);
  s->position = g_new0 (guint, n);
  s->rank_index = g_new0 (guint, n);
  s->is_done = g_new0 (gboolean, n);
  s->first = g_new0 (guint, n_ranks);
  s->of_rank = g_new (GPtrArray *, n_ranks);
  s->waiting = g_new (GArray *, n_ranks);
  s->able = g_new (GArray *, n_ranks);
  for (guint r = 0; r < n_ranks; r++)
    {
      s->of_rank[r] = g_ptr_array_new ();
      s->waiting[r] = g_array_new (FALSE, FALSE, sizeof (CleaveReady));
      s->able[r] = g_array_new (FALSE, FALSE, sizeof (CleaveReady));
    }
  s->free_at = g_new0 (double, n_ranks * s->network->n_threads);
  s->link_free_at = g_new0 (double, n_ranks);
  s->received = g_new0 (double, n_ranks);
  s->goes_first = g_new0 (gboolean, n);
  if (s->priority != NULL)
    find_first (s);
  count_missing (s);
}

void
cleave_simulation_clear (CleaveSimulation *s)
{
  for (guint r = 0; r < s->p->n_ranks; r++)
    {
      g_ptr_array_unref (s->of_rank[r]);
      g_array_unref (s->waiting[r]);
      g_array_unref (s->able[r]);
    }
  g_free (s->rank_index);
  g_free (s->is_done);
  g_free (s->first);
  g_free (s->of_rank);
  g_free (s->waiting);
  g_free (s->able);
  g_free (s->ready);
  g_free (s->n_missing);
  g_free (s->goes_first);
  g_free (s->position);
  g_free (s->free_at);
  g_free (s->link_free_at);
  g_free (s->received);
}

guint
cleave_ranks_find_thread (const CleaveNetwork *network, const double *free_at, guint rank)
{
  guint n_threads = network->n_threads, best = rank * n_threads;

  for (guint t = best + 1; t < (rank + 1) * n_threads; t++)
    if (free_at[t] < free_at[best])
      best = t;
  return best;
}

/* Simulates that a rank sends a value of `n_bytes` bytes at the time `begin` or later. Returns
 * the time in nanoseconds at which the value arrives. The link of a rank sends one value after
 * the other. A value arrives one latency after its last byte has left. */
double
cleave_simulation_send (CleaveSimulation *s, guint rank, gint64 n_bytes, double begin)
{
  double time = (double) n_bytes / s->network->bandwidth * 1e9;

  s->link_free_at[rank] = MAX (s->link_free_at[rank], begin) + time;
  s->times->sending[rank] += time;
  return s->link_free_at[rank] + s->network->latency * 1e9;
}

void
cleave_simulation_arrive (CleaveSimulation *s, const CleaveResult *value, guint rank, double time)
{
  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    {
      guint id;

      if ((use->node == NULL ? 0 : s->p->rank[use->node->id]) != rank)
        continue;
      s->times->duration = MAX (s->times->duration, time);
      if (use->node == NULL)
        continue;
      id = use->node->id;
      s->ready[id] = MAX (s->ready[id], time);
      if (--s->n_missing[id] == 0)
        cleave_ready_push (s->waiting[rank], s->ready[id], s->position[id]);
    }
}
