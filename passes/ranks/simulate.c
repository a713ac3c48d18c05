/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Simulates a run of all ranks. Each thread takes the ready node with the highest priority. A rank
 * sends one value after the other. Without priorities, replays the ranks' programs (replay.c). */

#include "simulation.h"

#include "rank-costs.h"
#include "ready-heap.h"

/* Returns whether a rank may run a node now. The node must be among the next `window` unfinished
 * nodes of the rank, unless `window` is 0 or another rank may wait for the node (`goes_first`). If
 * the node on top of the heap `able` may not run, no other node of the heap may run. */
static gboolean
can_begin (const CleaveSimulation *s, guint rank, const CleaveReady *ready)
{
  guint id = ((const CleaveNode *) s->p->order->pdata[ready->position])->id;

  return s->window == 0 || s->goes_first[id] || s->rank_index[id] < s->first[rank] + s->window;
}

/* Gets the time at which the rank begins its next node. Returns FALSE if no node is ready or
 * becomes ready. */
static gboolean
find_next (const CleaveSimulation *s, guint rank, double *begin)
{
  const GArray *able = s->able[rank], *waiting = s->waiting[rank];
  double least = G_MAXDOUBLE;

  if (s->replay != NULL && cleave_replay_is_in_order (s))
    return cleave_replay_find_next (s, rank, begin);
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
find_key (const CleaveSimulation *s, const CleaveNode *node, guint position)
{
  if (s->priority == NULL)
    return position;
  return s->goes_first[node->id] ? -G_MAXDOUBLE : -s->priority[node->id];
}

/* Returns the next node of a rank, which begins at time `begin`. If the rank keeps the order of the
 * placement, returns the rank's first unfinished node in that order. If not, removes and returns
 * the ready node with the highest priority from the heap `able`. */
static const CleaveNode *
take_node (CleaveSimulation *s, guint rank, double begin)
{
  if (s->replay != NULL && cleave_replay_is_in_order (s))
    return s->of_rank[rank]->pdata[s->first[rank]];
  while (s->waiting[rank]->len > 0 && g_array_index (s->waiting[rank], CleaveReady, 0).key <= begin)
    {
      CleaveReady entry = cleave_ready_pop (s->waiting[rank]);

      cleave_ready_push (s->able[rank],
                         find_key (s, s->p->order->pdata[entry.position], entry.position),
                         entry.position);
    }
  return s->p->order->pdata[cleave_ready_pop (s->able[rank]).position];
}

/* Sends the messages of a value. Returns the time that these messages take on the sender's thread,
 * in nanoseconds. */
static double
send_all (CleaveSimulation *s, const CleaveResult *value, double end)
{
  guint first = GPOINTER_TO_UINT (g_hash_table_lookup (s->p->first_of, value));
  double sum = 0;

  for (guint m = first; m > 0 && m <= s->p->values->len && s->p->values->pdata[m - 1] == value; m++)
    {
      const CleaveMessage *message = cleave_placement_get_message (s->p, m - 1);
      double cost = cleave_ranks_cost_of_message (message);

      sum += cost;
      s->received[message->to] += cost;
      cleave_simulation_arrive (
          s, value, message->to,
          cleave_simulation_send (s, message->from, message->n_bytes, end + sum));
    }
  return sum;
}

static void
run_node (CleaveSimulation *s, guint rank, double least)
{
  const CleaveNode *node = take_node (s, rank, least);
  double begin = MAX (least, s->ready[node->id]);
  double own = s->cost == NULL ? cleave_ranks_cost (node) : s->cost[node->id];
  double cost = own + s->received[rank], end = begin + cost;
  guint thread = cleave_ranks_find_thread (s->network, s->free_at, rank);

  s->received[rank] = 0;
  s->is_done[node->id] = TRUE;
  while (s->first[rank] < s->of_rank[rank]->len &&
         s->is_done[((const CleaveNode *) s->of_rank[rank]->pdata[s->first[rank]])->id])
    s->first[rank]++;
  for (guint r = 0; r < node->n_results; r++)
    {
      cleave_simulation_arrive (s, &node->results[r], rank, end);
      if (s->replay == NULL)
        cost += send_all (s, &node->results[r], begin + cost);
    }
  s->times->begin[node->id] = begin;
  s->times->busy[rank] += cost;
  s->free_at[thread] = begin + cost;
  s->times->duration = MAX (s->times->duration, begin + cost);
  if (s->replay == NULL)
    return;
  s->replay->end[node->id] = end;
  g_array_append_val (s->replay->ranks, rank);
  cleave_replay_go_on (s);
}

/* Returns the rank whose next node begins first. Returns the number of ranks if no node can
 * begin. */
static guint
find_first_rank (const CleaveSimulation *s, double *least)
{
  guint first = s->p->n_ranks;

  for (guint r = 0; r < s->p->n_ranks; r++)
    {
      double begin;

      if (!find_next (s, r, &begin) || (first < s->p->n_ranks && begin >= *least))
        continue;
      first = r;
      *least = begin;
    }
  return first;
}

static void
simulate (CleaveSimulation *s)
{
  const CleavePlacement *p = s->p;
  CleaveRankTimes *times = s->times;

  times->begin = g_new0 (double, p->graph->n_ids + 1);
  times->busy = g_new0 (double, p->n_ranks);
  times->sending = g_new0 (double, p->n_ranks);
  times->duration = 0;
  cleave_simulation_init (s);
  if (s->replay != NULL)
    cleave_replay_go_on (s);
  for (guint n = 0; n < p->order->len;)
    {
      double least = G_MAXDOUBLE;
      guint first = find_first_rank (s, &least);

      if (s->replay != NULL && cleave_replay_send_rest (s, least))
        continue;
      g_assert (first < s->p->n_ranks);
      run_node (s, first, least);
      n++;
    }
  while (s->replay != NULL && cleave_replay_send_rest (s, G_MAXDOUBLE))
    ;
  cleave_simulation_clear (s);
}

void
cleave_rank_times_init_by (CleaveRankTimes *times,
                           const CleavePlacement *p,
                           const CleaveNetwork *network,
                           const double *priority,
                           guint window)
{
  CleaveSimulation s = {
    .p = p, .network = network, .times = times, .priority = priority, .window = window
  };

  simulate (&s);
}

void
cleave_rank_times_init (CleaveRankTimes *times,
                        const CleavePlacement *p,
                        const CleaveNetwork *network)
{
  CleaveReplay replay = { 0 };
  CleaveSimulation s = {
    .p = p, .network = network, .times = times, .cost = p->cost, .replay = &replay
  };

  cleave_replay_init (&replay, p);
  simulate (&s);
  cleave_replay_clear (&replay);
}

void
cleave_rank_times_clear (CleaveRankTimes *times)
{
  g_clear_pointer (&times->begin, g_free);
  g_clear_pointer (&times->busy, g_free);
  g_clear_pointer (&times->sending, g_free);
}

/* Returns the time between two results of a stream of runs with `n_in_flight` runs in flight, in
 * seconds. */
static double
find_period (const CleaveRankTimes *times,
             const CleavePlacement *p,
             const CleaveNetwork *network,
             guint n_in_flight)
{
  double period = times->duration / n_in_flight;

  for (guint r = 0; r < p->n_ranks; r++)
    period = MAX (period, MAX (times->busy[r] / network->n_threads, times->sending[r]));
  return period / 1e9;
}

/* Returns an array, indexed by node id: the nanoseconds that the steps of the node took in a
 * profile. The entry is 0 for a node without a step of its own: a fused node or a view. */
static double *
find_costs (const CleavePlacement *p, const CleaveProfile *profile)
{
  double *cost = g_new0 (double, p->graph->n_ids + 1);
  g_autoptr (GHashTable) times = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);

  for (guint i = 0; i < profile->n_steps; i++)
    {
      const CleaveStepTime *step = &profile->steps[i];
      const double *known = g_hash_table_lookup (times, step->name);
      double time = (double) step->nanoseconds + (known != NULL ? *known : 0);

      g_hash_table_insert (times, step->name, g_memdup2 (&time, sizeof time));
    }
  for (guint i = 0; i < p->order->len; i++)
    {
      const CleaveNode *node = p->order->pdata[i];
      const double *time = g_hash_table_lookup (times, node->name);

      if (time != NULL)
        cost[node->id] = *time;
    }
  return cost;
}

/**
 * cleave_placement_set_profile:
 * @placement: a placement to which there is no other reference
 * @profile: the profile of a program of [method@Cleave.Placement.get_graph] with one thread
 *
 * Makes simulations use the measured times of the profile's steps instead of the cost model.
 *
 * Since: 0.2
 */
void
cleave_placement_set_profile (CleavePlacement *placement, const CleaveProfile *profile)
{
  g_return_if_fail (placement != NULL && profile != NULL && profile->steps != NULL);
  g_free (placement->cost);
  placement->cost = find_costs (placement, profile);
}

/**
 * cleave_placement_simulate:
 * @placement: a placement
 * @network: the number of threads of each rank, bandwidth and latency; `n_ranks` is ignored
 *
 * Estimates the time of a run, by the cost model of splits, or by a profile if one is set. Each
 * node runs on one thread, even a convolution that is not split.
 *
 * Returns: seconds
 *
 * Since: 0.2
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
 * @network: the number of threads of each rank, bandwidth and latency; `n_ranks` is ignored
 * @n_in_flight: number of runs in flight at the same time
 *
 * Estimates the time between two results of a stream of runs. The estimate is the largest of three
 * times: the longest time that a rank computes (on all its threads), the longest sending time, and
 * a run's time divided by @n_in_flight.
 *
 * Returns: seconds
 *
 * Since: 0.2
 */
double
cleave_placement_simulate_stream (const CleavePlacement *placement,
                                  const CleaveNetwork *network,
                                  guint n_in_flight)
{
  g_auto (CleaveRankTimes) times = { 0 };

  g_return_val_if_fail (placement != NULL && network != NULL && n_in_flight > 0, 0);
  g_return_val_if_fail (cleave_network_is_possible (network), 0);
  cleave_rank_times_init (&times, placement, network);
  return find_period (&times, placement, network, n_in_flight);
}
