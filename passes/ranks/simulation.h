/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "rank-acts.h"
#include "simulate.h"

/* A run that is under way. */

/* A message of a run in the order of the programs: nanoseconds, or CLEAVE_NOT_YET. */
typedef struct
{
  double expected, sent, first_there, left, there;
} CleaveFlight;

#define CLEAVE_NOT_YET G_MAXDOUBLE

/* What is done for messages. */
typedef struct
{
  CleaveActs acts;
  guint *n_done;         /* by rank, of its acts, here and below */
  double *now;           /* when the last of them was done */
  CleaveFlight *flights; /* by message */
  double *end;           /* by id, when what the node makes is there */
  GArray **rests;        /* by rank: of its large messages, by when they may leave */
  GArray *ranks;         /* that may go on */
} CleaveReplay;

typedef struct
{
  const CleavePlacement *p;
  const CleaveNetwork *network;
  CleaveRankTimes *times;
  const double *cost;     /* by id, here and below; NULL: that of the cost model */
  const double *priority; /* NULL: the order is that of the placement */
  CleaveReplay *replay;   /* then; else NULL */
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
} CleaveSimulation;

void cleave_simulation_init (CleaveSimulation *s);
void cleave_simulation_clear (CleaveSimulation *s);
/* The thread of the rank that is free first; `free_at` is by rank and thread. */
guint cleave_ranks_find_thread (const CleaveNetwork *network, const double *free_at, guint rank);
/* Bytes that a rank sends behind those before: when they are on another rank. */
double cleave_simulation_send (CleaveSimulation *s, guint rank, gint64 n_bytes, double begin);
/* A value is on a rank from then on. */
void
cleave_simulation_arrive (CleaveSimulation *s, const CleaveResult *value, guint rank, double time);

void cleave_replay_init (CleaveReplay *replay, const CleavePlacement *p);
void cleave_replay_clear (CleaveReplay *replay);
/* Whether nodes keep to the order of the placement. */
gboolean cleave_replay_is_in_order (const CleaveSimulation *s);
/* The next node of such a rank, once all is done that comes before it. */
gboolean cleave_replay_find_next (const CleaveSimulation *s, guint rank, double *begin);
/* What can be done for messages now that some ranks have gone on. */
void cleave_replay_go_on (CleaveSimulation *s);
/* The rest of a message leaves that does so first, and by then; FALSE: there is none. */
gboolean cleave_replay_send_rest (CleaveSimulation *s, double until);
