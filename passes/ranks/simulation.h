/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "rank-acts.h"
#include "simulate.h"

/* State of a simulated run, which simulation.c, simulate.c and replay.c share. A run is simulated
 * in one of two ways: by priorities (simulate.c alone), or as a replay of the ranks' programs with
 * their acts (replay.c). */

/* Times of a message in a replay, in nanoseconds; CLEAVE_NOT_YET if the event has not happened:
 *
 * - `expected`: the receiver posted its buffer
 * - `sent`: the SEND act ran
 * - `first_there`: the first bytes arrived
 * - `left`: all bytes left the sender
 * - `there`: all bytes arrived */
typedef struct
{
  double expected, sent, first_there, left, there;
} CleaveFlight;

#define CLEAVE_NOT_YET G_MAXDOUBLE

/* A replay: a simulation of the ranks' programs, with their acts for messages. */
typedef struct
{
  CleaveActs acts;
  guint *n_done;         /* indexed by rank: number of acts that are done */
  double *now;           /* indexed by rank: end of the rank's last act */
  CleaveFlight *flights; /* indexed by message: times of the message */
  double *end;           /* indexed by node id: time at which the node's results are complete */
  /* indexed by rank: heap (CleaveReady) of the large messages of which the rank has sent the first
   * bytes. The key is the time from which the rank may send the remaining bytes. */
  GArray **rests;
  GArray *ranks; /* guint: ranks that may be able to perform further acts */
} CleaveReplay;

typedef struct
{
  const CleavePlacement *p;
  const CleaveNetwork *network;
  CleaveRankTimes *times;
  const double *cost; /* indexed by node id: time in nanoseconds; NULL: use the cost model */
  /* indexed by node id: priority of the node; NULL: use the order of the placement */
  const double *priority;
  CleaveReplay *replay; /* state of the simulation if it is a replay of the ranks' programs; NULL if
                           `priority` is set */
  double *ready; /* indexed by node id: latest arrival of the operands that are computed so far */
  guint *n_missing; /* indexed by node id: number of operands that are not computed yet */
  /* indexed by node id: the node takes no time, and another rank may wait for the node */
  gboolean *goes_first;
  guint window; /* a rank chooses its next node among this many of its first unfinished nodes; 0:
                   among all */
  guint *rank_index; /* indexed by node id: index of the node among the nodes of its rank */
  gboolean *is_done;
  /* indexed by rank: the rank's nodes (CleaveNode) in the order of the placement */
  GPtrArray **of_rank;
  guint *first; /* indexed by rank: index in `of_rank` of the first node that is not done */
  guint *position;
  GArray **waiting, **able; /* indexed by rank: nodes that will become ready, sorted by time, and
                               nodes that are ready, sorted by priority */
  double *free_at;          /* indexed by rank and thread: time from which the thread is free */
  double *link_free_at;     /* indexed by rank: time from which the rank's link is free */
  /* indexed by rank: time that the rank's next node spends on messages: the messages that were sent
   * to the rank since the rank's last node */
  double *received;
} CleaveSimulation;

void cleave_simulation_init (CleaveSimulation *s);
void cleave_simulation_clear (CleaveSimulation *s);
/* Returns the thread of a rank that is free first, as an index in `free_at`. */
guint cleave_ranks_find_thread (const CleaveNetwork *network, const double *free_at, guint rank);
/* Sends `n_bytes` bytes from a rank, after all data that the rank has sent before. Returns the time
 * at which the bytes arrive. */
double cleave_simulation_send (CleaveSimulation *s, guint rank, gint64 n_bytes, double begin);
/* Makes a value available on a rank from `time` on. Readers that now have all operands become
 * ready. */
void
cleave_simulation_arrive (CleaveSimulation *s, const CleaveResult *value, guint rank, double time);

void cleave_replay_init (CleaveReplay *replay, const CleavePlacement *p);
void cleave_replay_clear (CleaveReplay *replay);
/* Returns whether nodes run in the order of the placement, as they do if each rank has one
 * thread. */
gboolean cleave_replay_is_in_order (const CleaveSimulation *s);
/* Sets `*begin` to the time, in nanoseconds, at which the next node of a rank begins. The rank runs
 * its nodes in the order of the placement. Returns FALSE if an act before the node is not done, or
 * if an operand is not there yet. */
gboolean cleave_replay_find_next (const CleaveSimulation *s, guint rank, double *begin);
/* Performs all acts that have become possible. */
void cleave_replay_go_on (CleaveSimulation *s);
/* Sends the remaining bytes of one large message: the message that a sender may continue first.
 * Returns FALSE if no sender may continue a message at time `until` or earlier. */
gboolean cleave_replay_send_rest (CleaveSimulation *s, double until);
