/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A run of all ranks: each thread takes, of the nodes whose operands are there, the one with the
 * highest priority, or the first in order; a rank sends one value after the other. */

#include "simulate.h"

#include "../../lib/memory/cost.h"
#include "ready-heap.h"

double
cleave_ranks_cost (const CleaveNode *node)
{
  double n_bytes = 0;

  if (cleave_node_is_input (node) || cleave_node_is_fixed (node) ||
      (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) != 0)
    return 0;
  if ((node->op->flags & CLEAVE_OP_IN_PLACE) == 0)
    return cleave_cost_of_node (node);
  for (guint r = 0; r < node->n_results; r++)
    n_bytes += (double) cleave_tensor_type_n_bytes (&node->results[r].type);
  return CLEAVE_COST_OF_STEP + cleave_cost_of_hot_bytes (n_bytes);
}

double *
cleave_ranks_find_heights (const CleaveGraph *graph, const GPtrArray *order)
{
  double *height = g_new0 (double, graph->n_ids + 1);

  for (guint i = order->len; i-- > 0;)
    {
      const CleaveNode *node = order->pdata[i];
      double below = 0;

      for (guint r = 0; r < node->n_results; r++)
        for (const CleaveOperand *use = node->results[r].first_use; use != NULL;
             use = use->next_use)
          if (use->node != NULL)
            below = MAX (below, height[use->node->id]);
      height[node->id] = below + cleave_ranks_cost (node);
    }
  return height;
}

typedef struct
{
  const CleavePlacement *p;
  const CleaveNetwork *network;
  CleaveRankTimes *times;
  const double *priority; /* by id, here and below; NULL: the order is that of the placement */
  double *ready;          /* when all operands are there that have been made */
  guint *n_missing;       /* operands that have not */
  gboolean *goes_first;   /* it takes no time, and another rank may wait for it */
  guint window;           /* how many nodes of its rank may be put before others; 0: any */
  guint *turn;            /* which of the nodes of its rank it is */
  gboolean *is_done;
  GPtrArray **of_rank; /* by rank, here and below: its nodes in turn */
  guint *first;        /* the first of those that is not done */
  guint *position;
  GArray **waiting,
      **able;           /* by rank: nodes by when they are ready, and those that are, by height */
  double *free_at;      /* by rank and thread */
  double *link_free_at; /* by rank, as below */
  double *received;     /* what it takes to copy what has come since its last node */
} Simulation;

static void
count_missing (Simulation *s)
{
  const GPtrArray *order = s->p->order;

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      s->position[node->id] = i;
      s->turn[node->id] = s->of_rank[s->p->rank[node->id]]->len;
      g_ptr_array_add (s->of_rank[s->p->rank[node->id]], (gpointer) node);
      for (guint o = 0; o < node->n_operands; o++)
        s->n_missing[node->id] += node->operands[o].result != NULL &&
                                  !cleave_node_is_fixed (node->operands[o].result->node);
      if (s->n_missing[node->id] == 0)
        cleave_ready_push (s->waiting[s->p->rank[node->id]], 0, i);
    }
}

static gboolean
is_awaited (const Simulation *s, const CleaveNode *node)
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
find_first (Simulation *s)
{
  for (guint i = s->p->order->len; i-- > 0;)
    {
      const CleaveNode *node = s->p->order->pdata[i];

      s->goes_first[node->id] = cleave_ranks_cost (node) <= 0 && is_awaited (s, node);
    }
}

static void
simulation_init (Simulation *s)
{
  gsize n = (gsize) s->p->graph->n_ids + 1, n_ranks = s->p->n_ranks;

  s->ready = g_new0 (double, n);
  s->n_missing = g_new0 (guint, n);
  s->position = g_new0 (guint, n);
  s->turn = g_new0 (guint, n);
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

static void
simulation_clear (Simulation *s)
{
  for (guint r = 0; r < s->p->n_ranks; r++)
    {
      g_ptr_array_unref (s->of_rank[r]);
      g_array_unref (s->waiting[r]);
      g_array_unref (s->able[r]);
    }
  g_free (s->turn);
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

/* Of nodes that are able, if that on top cannot begin, no other can. */
static gboolean
can_begin (const Simulation *s, guint rank, const CleaveReady *ready)
{
  guint id = ((const CleaveNode *) s->p->order->pdata[ready->position])->id;

  return s->window == 0 || s->goes_first[id] || s->turn[id] < s->first[rank] + s->window;
}

/* When the rank begins its next node; FALSE: it has none that is ready or will be. */
static gboolean
find_next (const Simulation *s, guint rank, double *begin)
{
  const GArray *able = s->able[rank], *waiting = s->waiting[rank];
  double least = G_MAXDOUBLE;

  *begin = s->free_at[cleave_ranks_find_thread (s->network, s->free_at, rank)];
  if (able->len > 0 && can_begin (s, rank, &g_array_index (able, CleaveReady, 0)))
    return TRUE;
  for (guint i = 0; i < waiting->len && (i == 0 || s->window > 0); i++)
    if (can_begin (s, rank, &g_array_index (waiting, CleaveReady, i)))
      least = MIN (least, g_array_index (waiting, CleaveReady, i).key);
  *begin = MAX (*begin, least);
  return least < G_MAXDOUBLE;
}

static double
find_key (const Simulation *s, const CleaveNode *node, guint position)
{
  if (s->priority == NULL)
    return position;
  return s->goes_first[node->id] ? -G_MAXDOUBLE : -s->priority[node->id];
}

/* Of those that are ready by then. */
static const CleaveNode *
take_node (Simulation *s, guint rank, double begin)
{
  while (s->waiting[rank]->len > 0 && g_array_index (s->waiting[rank], CleaveReady, 0).key <= begin)
    {
      CleaveReady entry = cleave_ready_pop (s->waiting[rank]);

      cleave_ready_push (s->able[rank],
                         find_key (s, s->p->order->pdata[entry.position], entry.position),
                         entry.position);
    }
  return s->p->order->pdata[cleave_ready_pop (s->able[rank]).position];
}

/* The value is on another rank when all that was sent before it is, and then itself. */
static double
send (Simulation *s, const CleaveMessage *message, double end)
{
  double time = (double) message->n_bytes / s->network->bandwidth * 1e9;

  s->link_free_at[message->from] = MAX (s->link_free_at[message->from], end) + time;
  s->times->sending[message->from] += time;
  return s->link_free_at[message->from] + s->network->latency * 1e9;
}

static void
arrive (Simulation *s, const CleaveResult *value, guint rank, double time)
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

/* The messages of a value: what they take of the thread. */
static double
send_all (Simulation *s, const CleaveResult *value, double end)
{
  guint first = GPOINTER_TO_UINT (g_hash_table_lookup (s->p->first_of, value));
  double sum = 0;

  for (guint m = first; m > 0 && m <= s->p->values->len && s->p->values->pdata[m - 1] == value; m++)
    {
      const CleaveMessage *message = cleave_placement_get_message (s->p, m - 1);
      double cost = CLEAVE_RANKS_COST_OF_MESSAGE + cleave_cost_of_rows ((double) message->n_bytes);

      sum += cost;
      s->received[message->to] += cost;
      arrive (s, value, message->to, send (s, message, end + sum));
    }
  return sum;
}

static void
run_node (Simulation *s, guint rank, double least)
{
  const CleaveNode *node = take_node (s, rank, least);
  double begin = MAX (least, s->ready[node->id]);
  double cost = cleave_ranks_cost (node) + s->received[rank], end = begin + cost;
  guint thread = cleave_ranks_find_thread (s->network, s->free_at, rank);

  s->received[rank] = 0;
  s->is_done[node->id] = TRUE;
  while (s->first[rank] < s->of_rank[rank]->len &&
         s->is_done[((const CleaveNode *) s->of_rank[rank]->pdata[s->first[rank]])->id])
    s->first[rank]++;
  for (guint r = 0; r < node->n_results; r++)
    {
      arrive (s, &node->results[r], rank, end);
      cost += send_all (s, &node->results[r], begin + cost);
    }
  s->times->begin[node->id] = begin;
  s->times->busy[rank] += cost;
  s->free_at[thread] = begin + cost;
  s->times->duration = MAX (s->times->duration, begin + cost);
}

void
cleave_rank_times_init_by (CleaveRankTimes *times,
                           const CleavePlacement *p,
                           const CleaveNetwork *network,
                           const double *priority,
                           guint window)
{
  Simulation s = {
    .p = p, .network = network, .times = times, .priority = priority, .window = window
  };

  times->begin = g_new0 (double, p->graph->n_ids + 1);
  times->busy = g_new0 (double, p->n_ranks);
  times->sending = g_new0 (double, p->n_ranks);
  times->duration = 0;
  simulation_init (&s);
  for (guint n = 0; n < p->order->len; n++)
    {
      double least = 0;
      guint first = p->n_ranks;

      for (guint r = 0; r < p->n_ranks; r++)
        {
          double begin;

          if (!find_next (&s, r, &begin) || (first < p->n_ranks && begin >= least))
            continue;
          first = r;
          least = begin;
        }
      run_node (&s, first, least);
    }
  simulation_clear (&s);
}

void
cleave_rank_times_init (CleaveRankTimes *times,
                        const CleavePlacement *p,
                        const CleaveNetwork *network)
{
  cleave_rank_times_init_by (times, p, network, NULL, 0);
}

void
cleave_rank_times_clear (CleaveRankTimes *times)
{
  g_clear_pointer (&times->begin, g_free);
  g_clear_pointer (&times->busy, g_free);
  g_clear_pointer (&times->sending, g_free);
}

/**
 * cleave_placement_simulate:
 * @placement: a placement
 * @network: threads of each rank, and what lies between the ranks; its number of ranks is not read
 *
 * Tells how long a run takes, by the cost model that splits are found with.  Work that is not
 * divided by nodes, such as a convolution that is not split, is done by one thread.
 *
 * Returns: seconds
 */
double
cleave_placement_simulate (const CleavePlacement *placement, const CleaveNetwork *network)
{
  g_auto (CleaveRankTimes) times = { 0 };

  g_return_val_if_fail (placement != NULL && network != NULL, 0);
  g_return_val_if_fail (cleave_network_is_possible (network), 0);
  cleave_rank_times_init (&times, placement, network);
  return times.duration / 1e9;
}

/**
 * cleave_placement_simulate_stream:
 * @placement: a placement
 * @network: threads of each rank, and what lies between the ranks; its number of ranks is not read
 * @n_in_flight: number of runs that are under way at once
 *
 * Tells how much later each result is there than the one before, where inputs are run one after the
 * other: as long as the rank that has most to do computes, or sends, or as long as a run takes over
 * the number of runs under way, whichever is longest.
 *
 * Returns: seconds
 */
double
cleave_placement_simulate_stream (const CleavePlacement *placement,
                                  const CleaveNetwork *network,
                                  guint n_in_flight)
{
  g_auto (CleaveRankTimes) times = { 0 };
  double period;

  g_return_val_if_fail (placement != NULL && network != NULL && n_in_flight > 0, 0);
  g_return_val_if_fail (cleave_network_is_possible (network), 0);
  cleave_rank_times_init (&times, placement, network);
  period = times.duration / n_in_flight;
  for (guint r = 0; r < placement->n_ranks; r++)
    period = MAX (period, MAX (times.busy[r] / network->n_threads, times.sending[r]));
  return period / 1e9;
}
