/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

#include "../../lib/ir/graph-private.h"

/* A placement: on which rank each node of a graph runs, and the messages between ranks. */

struct _CleavePlacement
{
  CleaveGraph *given;
  guint *given_rank; /* indexed by node id: rank of each node; meaningless for constant expressions,
                        which run on every rank that reads them */
  CleaveGraph *graph; /* `given`, or a copy of it with more joins (joins.h) */
  guint n_ranks;
  guint *rank;      /* rank of each node of `graph`, by id; arrays below are of `graph` as well */
  GPtrArray *all;   /* CleaveNode: topological order that needs little memory */
  GPtrArray *order; /* CleaveNode: topological order without constant expressions */
  double
      *begin; /* indexed by node id: begin in a simulation, in nanoseconds; ascending in `order` */
  double *cost;      /* indexed by node id: nanoseconds from a profile; NULL: use the cost model */
  GArray *messages;  /* CleaveMessage; messages of one value are consecutive */
  GPtrArray *values; /* CleaveResult: value of each message */
  GHashTable *first_of; /* from CleaveResult to its first message, counted from 1 */
};

/* Limits in bytes a second and in seconds; within them all times are finite. */
#define CLEAVE_MIN_BANDWIDTH 1.0
#define CLEAVE_MAX_LATENCY 1e6

/* Returns whether threads, bandwidth and latency of a network are within the limits. */
static inline gboolean
cleave_network_is_possible (const CleaveNetwork *network)
{
  return network->n_threads > 0 && network->n_threads <= CLEAVE_MAX_RANK_THREADS &&
         network->bandwidth >= CLEAVE_MIN_BANDWIDTH && network->latency >= 0 &&
         network->latency <= CLEAVE_MAX_LATENCY;
}

/* Makes a placement.  Takes ownership of `rank` (by node id), and sets the rank of inputs to 0.
 * `order` is topological. */
CleavePlacement *
cleave_placement_make (CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank);
/* Returns a copy of a placement with the nodes of its graph in another order. */
CleavePlacement *cleave_placement_copy (const CleavePlacement *p, const GPtrArray *order);
/* Builds the graph of a rank like cleave_placement_build().  A graph that never runs needs no
 * functions in `transport`. */
CleaveGraph *
cleave_ranks_build (const CleavePlacement *placement, guint rank, const CleaveTransport *transport);
/* Builds the graph of a rank as if it never waited: values from other ranks arrive when they are
 * read, and nothing is sent.  Fills `origins` with the placement's node of each node.  The graph
 * cannot run. */
CleaveGraph *
cleave_ranks_build_alone (const CleavePlacement *placement, guint rank, GHashTable *origins);
/* Returns whether two placements have the same number of nodes and the same messages, as placements
 * of equal splits do. */
gboolean cleave_placement_is_alike (const CleavePlacement *a, const CleavePlacement *b);
/* Returns the number of the message that brings a value to rank `to`, which is not the rank that
 * computes it. */
guint cleave_placement_find_message (const CleavePlacement *p, const CleaveResult *value, guint to);
