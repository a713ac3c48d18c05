/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Simulates a run in the order of the ranks' programs. A rank performs its acts one after the
 * other, in the order of the placement, so that one late message delays all later acts. With one
 * thread for each rank, nodes keep that order as well.
 *
 * Only the first bytes of a large message leave at once (the rendezvous protocol of MPI). The
 * receiver answers after it has posted a buffer and has sent its own data. The rest of the message
 * then leaves the sender, after the data that the sender has sent meanwhile. */

#include "rank-costs.h"
#include "ready-heap.h"
#include "simulation.h"

/* At most this many bytes of a message leave before the receiver has posted a buffer, as in MPI's
 * eager protocol. */
#define FIRST_BYTES (64 << 10)

void
cleave_replay_init (CleaveReplay *replay, const CleavePlacement *p)
{
  const CleaveFlight none = { CLEAVE_NOT_YET, CLEAVE_NOT_YET, CLEAVE_NOT_YET, CLEAVE_NOT_YET,
                              CLEAVE_NOT_YET };

  cleave_acts_init (&replay->acts, p);
  replay->n_done = g_new0 (guint, p->n_ranks);
  replay->now = g_new0 (double, p->n_ranks);
  replay->flights = g_new (CleaveFlight, p->messages->len + 1);
  for (guint m = 0; m < p->messages->len; m++)
    replay->flights[m] = none;
  replay->end = g_new0 (double, p->graph->n_ids + 1);
  replay->rests = g_new (GArray *, p->n_ranks);
  replay->ranks = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint r = 0; r < p->n_ranks; r++)
    {
      replay->rests[r] = g_array_new (FALSE, FALSE, sizeof (CleaveReady));
      g_array_append_val (replay->ranks, r);
    }
}

void
cleave_replay_clear (CleaveReplay *replay)
{
  for (guint r = 0; r < replay->acts.n_ranks; r++)
    g_array_unref (replay->rests[r]);
  g_free (replay->rests);
  cleave_acts_clear (&replay->acts);
  g_free (replay->n_done);
  g_free (replay->now);
  g_free (replay->flights);
  g_free (replay->end);
  g_array_unref (replay->ranks);
}

gboolean
cleave_replay_is_in_order (const CleaveSimulation *s)
{
  return s->network->n_threads == 1;
}

gboolean
cleave_replay_find_next (const CleaveSimulation *s, guint rank, double *begin)
{
  const GArray *acts = s->replay->acts.of_rank[rank];
  guint rank_index = s->first[rank], n_done = s->replay->n_done[rank];
  const CleaveNode *node;

  if (rank_index == s->of_rank[rank]->len ||
      (n_done < acts->len && g_array_index (acts, CleaveAct, n_done).rank_index <= rank_index))
    return FALSE;
  node = s->of_rank[rank]->pdata[rank_index];
  *begin = MAX (s->free_at[rank], s->ready[node->id]);
  return s->n_missing[node->id] == 0;
}

/* Spends `cost` nanoseconds of a thread of the rank on an act. The act begins neither before
 * `since` nor before the end of the previous act. */
static void
spend (CleaveSimulation *s, guint rank, double since, double cost)
{
  CleaveReplay *replay = s->replay;
  guint thread = cleave_ranks_find_thread (s->network, s->free_at, rank);

  replay->now[rank] = MAX (replay->now[rank], since);
  if (cleave_replay_is_in_order (s))
    replay->now[rank] = MAX (replay->now[rank], s->free_at[thread]);
  replay->now[rank] += cost;
  s->free_at[thread] =
      cleave_replay_is_in_order (s) ? replay->now[rank] : s->free_at[thread] + cost;
  s->times->busy[rank] += cost;
  s->times->duration = MAX (s->times->duration, replay->now[rank]);
}

static void
note_arrival (CleaveSimulation *s, const CleaveMessage *message)
{
  g_array_append_val (s->replay->ranks, message->from);
  g_array_append_val (s->replay->ranks, message->to);
}

/* Sends the remaining bytes of the rank's large messages, if their receivers have answered by time
 * `until`. */
static void
send_rests (CleaveSimulation *s, guint rank, double until)
{
  GArray *rests = s->replay->rests[rank];

  while (rests->len > 0 && g_array_index (rests, CleaveReady, 0).key <= until)
    {
      CleaveReady rest = cleave_ready_pop (rests);
      const CleaveMessage *message = cleave_placement_get_message (s->p, rest.position);
      CleaveFlight *flight = &s->replay->flights[rest.position];

      flight->there = cleave_simulation_send (s, rank, message->n_bytes - FIRST_BYTES, rest.key);
      flight->left = s->link_free_at[rank];
      note_arrival (s, message);
    }
}

/* Sends the first bytes of a message, if the SEND act is done. If the message has more bytes and
 * the receiver has posted a buffer, queues the answer of the receiver after the data that the
 * receiver is sending. */
static void
send_first_bytes (CleaveSimulation *s, guint number)
{
  const CleaveMessage *message = cleave_placement_get_message (s->p, number);
  CleaveFlight *flight = &s->replay->flights[number];
  gboolean is_large = message->n_bytes > FIRST_BYTES;
  double answered;

  if (flight->sent >= CLEAVE_NOT_YET)
    return;
  if (flight->first_there >= CLEAVE_NOT_YET)
    {
      send_rests (s, message->from, flight->sent);
      flight->first_there = cleave_simulation_send (
          s, message->from, MIN (message->n_bytes, FIRST_BYTES), flight->sent);
    }
  if (is_large && flight->expected < CLEAVE_NOT_YET)
    {
      answered = MAX (s->link_free_at[message->to], MAX (flight->first_there, flight->expected));
      cleave_ready_push (s->replay->rests[message->from], answered + s->network->latency * 1e9,
                         number);
    }
  else if (!is_large)
    {
      flight->there = flight->first_there;
      flight->left = flight->sent;
      note_arrival (s, message);
    }
}

/* Performs an act. Returns FALSE if the act must wait for another rank or for a node. */
static gboolean
do_act (CleaveSimulation *s, guint rank, const CleaveAct *act)
{
  const CleaveMessage *message = cleave_placement_get_message (s->p, act->message);
  const CleaveResult *value = s->p->values->pdata[act->message];
  CleaveFlight *flight = &s->replay->flights[act->message];

  if (cleave_replay_is_in_order (s) && act->rank_index > s->first[rank])
    return FALSE;
  switch (act->kind)
    {
    case CLEAVE_ACT_EXPECT:
      spend (s, rank, 0, 0);
      flight->expected = s->replay->now[rank];
      send_first_bytes (s, act->message);
      return TRUE;
    case CLEAVE_ACT_RECEIVE:
      if (flight->there >= CLEAVE_NOT_YET)
        return FALSE;
      spend (s, rank, flight->there, cleave_ranks_cost_of_message (message));
      cleave_simulation_arrive (s, value, rank, s->replay->now[rank]);
      return TRUE;
    case CLEAVE_ACT_SEND:
      if (!s->is_done[value->node->id])
        return FALSE;
      spend (s, rank, s->replay->end[value->node->id], cleave_ranks_cost_of_message (message));
      flight->sent = s->replay->now[rank];
      send_first_bytes (s, act->message);
      return TRUE;
    case CLEAVE_ACT_FINISH:
      if (flight->left >= CLEAVE_NOT_YET)
        return FALSE;
      spend (s, rank, flight->left, 0);
      return TRUE;
    }
  return TRUE;
}

void
cleave_replay_go_on (CleaveSimulation *s)
{
  CleaveReplay *replay = s->replay;

  while (replay->ranks->len > 0)
    {
      guint r = g_array_index (replay->ranks, guint, replay->ranks->len - 1);
      const GArray *acts = replay->acts.of_rank[r];

      g_array_set_size (replay->ranks, replay->ranks->len - 1);
      while (replay->n_done[r] < acts->len &&
             do_act (s, r, &g_array_index (acts, CleaveAct, replay->n_done[r])))
        replay->n_done[r]++;
    }
}

gboolean
cleave_replay_send_rest (CleaveSimulation *s, double until)
{
  guint first = s->p->n_ranks;

  for (guint r = 0; r < s->p->n_ranks; r++)
    {
      const GArray *rests = s->replay->rests[r];

      if (rests->len == 0 || g_array_index (rests, CleaveReady, 0).key > until)
        continue;
      first = r;
      until = g_array_index (rests, CleaveReady, 0).key;
    }
  if (first == s->p->n_ranks)
    return FALSE;
  send_rests (s, first, until);
  cleave_replay_go_on (s);
  return TRUE;
}
