/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

#include "../../lib/ir/graph-private.h"

struct _CleavePlacement
{
  CleaveGraph *given;
  guint *given_rank;  /* by id; of what constants decide, nobody's */
  CleaveGraph *graph; /* the same, with joins once for each rank that makes them */
  guint n_ranks;
  guint *rank;          /* by id, of nodes of that graph, as all below */
  GPtrArray *all;       /* CleaveNode, topologically, in an order that takes little memory */
  GPtrArray *order;     /* those that constants do not decide, topologically */
  double *begin;        /* by id: when, in a simulation, in which they begin in that order */
  double *cost;         /* by id: nanoseconds as a profile has them; NULL: by the cost model */
  GArray *messages;     /* CleaveMessage: those of one value follow each other */
  GPtrArray *values;    /* CleaveResult: of each message */
  GHashTable *first_of; /* the first message of a CleaveResult, counted from 1 */
};

/* In bytes a second, and seconds: what is slower is no network, and all times are finite. */
#define CLEAVE_MIN_BANDWIDTH 1.0
#define CLEAVE_MAX_LATENCY 1e6

/* Whether there can be ranks with so many threads each and such links between them. */
static inline gboolean
cleave_network_is_possible (const CleaveNetwork *network)
{
  return network->n_threads > 0 && network->n_threads <= CLEAVE_MAX_RANK_THREADS &&
         network->bandwidth >= CLEAVE_MIN_BANDWIDTH && network->latency >= 0 &&
         network->latency <= CLEAVE_MAX_LATENCY;
}

/* Takes the ranks; that of an input becomes 0.  `order` is topological. */
CleavePlacement *
cleave_placement_make (CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank);
/* The same, with nodes of its graph in another order of all of them. */
CleavePlacement *cleave_placement_copy (const CleavePlacement *p, const GPtrArray *order);
/* As cleave_placement_build(); a graph that never runs needs no functions. */
CleaveGraph *
cleave_ranks_build (const CleavePlacement *placement, guint rank, const CleaveTransport *transport);
/* The nodes of a rank as if it never had to wait: what it receives comes when it is read, and
 * nothing is sent.  `origins` gets the placement's nodes by its own.  It never runs. */
CleaveGraph *
cleave_ranks_build_alone (const CleavePlacement *placement, guint rank, GHashTable *origins);
/* Whether they have as many nodes and the same messages: those of the same split are alike. */
gboolean cleave_placement_is_alike (const CleavePlacement *a, const CleavePlacement *b);
/* The message that brings the value to the rank, which is not the one that makes it. */
guint cleave_placement_find_message (const CleavePlacement *p, const CleaveResult *value, guint to);
