/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "rank-acts.h"
#include "simulate.h"

/* State of a simulated run, shared by simulation.c, simulate.c and replay.c. */

/* The times of a message in a replay, in nanoseconds or CLEAVE_NOT_YET. They are: the receiver
 * posted its buffer, the message was sent, its first bytes arrived, all of it had left, and all of
 * it arrived. */
typedef struct
{
  double expected, sent, first_there, left, there;
} CleaveFlight;

#define CLEAVE_NOT_YET G_MAXDOUBLE

/* A replay: a simulation of the programs of the ranks, with their acts for messages. */
typedef struct
{
  CleaveActs acts;
  guint *n_done;         /* indexed by rank: number of acts done */
  double *now;           /* indexed by rank: time of the last act */
  CleaveFlight *flights; /* indexed by message */
  double *end;           /* indexed by node id: when its results are complete */
  GArray **rests;        /* indexed by rank: rests of large messages, by when they may leave */
  GArray *ranks;         /* ranks that may be able to do further acts */
} CleaveReplay;

typedef struct
{
  const CleavePlacement *p;
  const CleaveNetwork *network;
  CleaveRankTimes *times;
  const double *cost;     /* indexed by node id: nanoseconds; NULL: use the cost model */
  const double *priority; /* indexed by node id; NULL: use the order of the placement */
  CleaveReplay *replay;   /* set if `priority` is NULL; else NULL */
  double *ready; /* indexed by node id: when the operands that are computed so far have arrived */
  guint *n_missing;     /* indexed by node id: number of operands not computed yet */
  gboolean *goes_first; /* indexed by node id: it takes no time and another rank may wait for it */
  guint window;         /* how many nodes of a rank may be overtaken; 0: any number */
  guint *rank_index;    /* indexed by node id: its index among the nodes of its rank */
  gboolean *is_done;
  GPtrArray **of_rank; /* indexed by rank: its nodes (CleaveNode) in the order of the placement */
  guint *first;        /* indexed by rank: index of the first node that is not done */
  guint *position;
  GArray **waiting, **able; /* indexed by rank: nodes that will be ready (by time), and nodes that
                               are ready (by priority) */
  double *free_at;          /* indexed by rank and thread: when it is free */
  double *link_free_at;     /* indexed by rank: when its link is free */
  double
      *received; /* indexed by rank: time to copy the messages that arrived since its last node */
} CleaveSimulation;

void cleave_simulation_init (CleaveSimulation *s);
void cleave_simulation_clear (CleaveSimulation *s);
/* Returns the thread of a rank that is free first, as an index into `free_at` (by rank and thread).
 */
guint cleave_ranks_find_thread (const CleaveNetwork *network, const double *free_at, guint rank);
/* Sends bytes from a rank, after all that it sent before.  Returns when they arrive. */
double cleave_simulation_send (CleaveSimulation *s, guint rank, gint64 n_bytes, double begin);
/* Notes that a value is on a rank from `time` on; nodes that have all operands become ready. */
void
cleave_simulation_arrive (CleaveSimulation *s, const CleaveResult *value, guint rank, double time);

void cleave_replay_init (CleaveReplay *replay, const CleavePlacement *p);
void cleave_replay_clear (CleaveReplay *replay);
/* Returns whether nodes run in the order of the placement, as they do with one thread for each
 * rank. */
gboolean cleave_replay_is_in_order (const CleaveSimulation *s);
/* Gets the begin of the next node of a rank that keeps the order.  FALSE if acts or operands before
 * it are missing. */
gboolean cleave_replay_find_next (const CleaveSimulation *s, guint rank, double *begin);
/* Does all acts that have become possible. */
void cleave_replay_go_on (CleaveSimulation *s);
/* Sends the rest of the large message that may leave first, if that is at `until` or earlier. FALSE
 * if there is none. */
gboolean cleave_replay_send_rest (CleaveSimulation *s, double until);
