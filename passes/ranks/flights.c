/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds when the buffers of each message are in use: from the posting of the receiver's buffer to
 * the end of the sender's wait. The begin and the end of this use are positions, which are indices
 * in the order of all nodes. A time becomes the position of the node that the simulated run begins
 * at this time (find_position()). */

#include "flights.h"

#include "rank-costs.h"
#include "simulate.h"

/* A message may take t nanoseconds: PATIENCE times its estimated time. The receiver posts its
 * buffer t nanoseconds before it reads the value. The sender begins to wait for the end of the
 * message t nanoseconds after it begins to send. So if a message is late, its sender usually need
 * not wait. */
#define PATIENCE 2

typedef struct
{
  const CleavePlacement *p;
  guint *position; /* indexed by node id: position of the node in the order */
  guint *last;     /* indexed by node id: position of the last node on the same rank that reads the
                      result, a view of the result, or a join with the result */
  guint *hold; /* indexed by node id: position of the last node that reads the memory in which the
                  result lies */
} Uses;

static gboolean
shares_memory (const CleaveNode *node)
{
  return (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_ROW_MAJOR | CLEAVE_OP_JOIN)) != 0;
}

/* Returns whether `node` is a view and `reader` is a join, which copies the view. The copy may be
 * made as soon as the view exists. In all other cases, `reader` reads the memory of the result of
 * `node` in place. */
static gboolean
is_copied (const CleaveNode *node, const CleaveNode *reader)
{
  return (node->op->flags & CLEAVE_OP_VIEW) != 0 && (reader->op->flags & CLEAVE_OP_JOIN) != 0;
}

static guint
find_last (const Uses *uses, const CleaveNode *node)
{
  guint last = uses->position[node->id];

  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL)
        last = uses->p->rank[node->id] == 0 ? uses->p->order->len - 1 : last;
      else if (uses->p->rank[use->node->id] == uses->p->rank[node->id] &&
               !is_copied (node, use->node))
        last = MAX (last, shares_memory (use->node) ? uses->last[use->node->id]
                                                    : uses->position[use->node->id]);
  return last;
}

static guint
find_hold (const Uses *uses, const CleaveNode *node)
{
  const CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;

  if ((node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_ROW_MAJOR)) == 0 || x == NULL ||
      cleave_node_is_fixed (x->node) || uses->p->rank[x->node->id] != uses->p->rank[node->id])
    return uses->last[node->id];
  return uses->hold[x->node->id];
}

static void
find_uses (Uses *uses)
{
  const GPtrArray *order = uses->p->order;

  for (guint i = 0; i < order->len; i++)
    uses->position[((const CleaveNode *) order->pdata[i])->id] = i;
  for (guint i = order->len; i-- > 0;)
    {
      const CleaveNode *node = order->pdata[i];

      uses->last[node->id] = find_last (uses, node);
    }
  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      uses->hold[node->id] = find_hold (uses, node);
    }
}

/* Returns the time in nanoseconds that is allowed for a message: PATIENCE times the estimated
 * time. */
static double
find_flight (const CleaveMessage *message)
{
  double time = (double) message->n_bytes / CLEAVE_NETWORK_BANDWIDTH + CLEAVE_NETWORK_LATENCY;

  return PATIENCE * time * 1e9;
}

/* Returns the position of the last node whose begin in the simulation is `time` nanoseconds or
 * earlier. */
static guint
find_position (const CleavePlacement *p, double time)
{
  guint low = 0, high = p->order->len;

  while (high - low > 1)
    {
      guint middle = low + (high - low) / 2;

      if (p->begin[((const CleaveNode *) p->order->pdata[middle])->id] <= time)
        low = middle;
      else
        high = middle;
    }
  return low;
}

/* Returns the position of the node before which the receiver posts its buffer. This node begins
 * about find_flight() nanoseconds before the receiver first reads the value. The position is never
 * before the node that computes the value. */
static guint
find_expected (const Uses *uses, const CleaveMessage *message, const CleaveResult *value)
{
  const CleavePlacement *p = uses->p;
  guint first = p->order->len - 1, sent = uses->position[value->node->id];

  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && p->rank[use->node->id] == message->to)
      first = MIN (first, uses->position[use->node->id]);
  return MAX (sent, find_position (p, p->begin[((const CleaveNode *) p->order->pdata[first])->id] -
                                          find_flight (message)));
}

static guint
find_finished (const Uses *uses, const CleaveMessage *message, const CleaveNode *node)
{
  double end = uses->p->begin[node->id] + cleave_ranks_cost (node) + find_flight (message);

  return MAX (uses->hold[node->id], find_position (uses->p, end));
}

void
cleave_flights_init (CleaveFlights *flights, const CleavePlacement *p)
{
  gsize n = (gsize) p->graph->n_ids + 1;
  g_autofree guint *position = g_new0 (guint, n), *last = g_new0 (guint, n);
  g_autofree guint *hold = g_new0 (guint, n);
  Uses uses = { p, position, last, hold };

  find_uses (&uses);
  flights->expected = g_new (guint, p->messages->len + 1);
  flights->finished = g_new (guint, p->messages->len + 1);
  for (guint m = 0; m < p->messages->len; m++)
    {
      const CleaveResult *value = p->values->pdata[m];
      const CleaveMessage *message = cleave_placement_get_message (p, m);

      flights->expected[m] = find_expected (&uses, message, value);
      flights->finished[m] =
          MAX (flights->expected[m], find_finished (&uses, message, value->node));
    }
}

void
cleave_flights_clear (CleaveFlights *flights)
{
  g_clear_pointer (&flights->expected, g_free);
  g_clear_pointer (&flights->finished, g_free);
}
