/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

#include "../../lib/ir/graph-private.h"

/* A placement: the rank on which each node of a graph runs, and the messages between the ranks.
 * place.c and by-node.c make placements. simulate.h estimates their time, and build.c builds the
 * graph of each rank. */

struct _CleavePlacement
{
  CleaveGraph *given; /* the graph that the caller passed */
  /* indexed by the ids of the nodes of `given`: rank of the node; meaningless for a constant
   * expression, which runs on every rank that reads it */
  guint *given_rank;
  /* `given`, or a copy of `given` with more joins (joins.h); the fields below are for this graph */
  CleaveGraph *graph;
  guint n_ranks;
  guint *rank;      /* indexed by node id: rank of the node */
  GPtrArray *all;   /* CleaveNode: a topological order that needs little memory */
  GPtrArray *order; /* CleaveNode: a topological order without constant expressions */
  /* indexed by node id: time in nanoseconds at which the node begins in a simulation. No node of
   * `order` begins before an earlier node of `order` */
  double *begin;
  /* indexed by node id: time in nanoseconds from a profile; NULL: use the cost model */
  double *cost;
  GArray *messages;     /* CleaveMessage; the messages of one value are consecutive */
  GPtrArray *values;    /* CleaveResult: value of each message */
  GHashTable *first_of; /* maps a CleaveResult to 1 plus the index of its first message */
};

/* Least bandwidth in bytes per second, and most latency in seconds. Within these limits, all times
 * are finite. */
#define CLEAVE_MIN_BANDWIDTH 1.0
#define CLEAVE_MAX_LATENCY 1e6

/* Returns whether the threads, the bandwidth and the latency of a network are within the limits. */
static inline gboolean
cleave_network_is_possible (const CleaveNetwork *network)
{
  return network->n_threads > 0 && network->n_threads <= CLEAVE_MAX_RANK_THREADS &&
         network->bandwidth >= CLEAVE_MIN_BANDWIDTH && network->latency >= 0 &&
         network->latency <= CLEAVE_MAX_LATENCY;
}

/* Returns a new placement. Takes ownership of `rank`, which is indexed by node id, and sets the
 * rank of inputs to 0. `order` must be topological. */
CleavePlacement *
cleave_placement_make (CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank);
/* Returns a copy of the placement `p` in which the nodes of the graph have the order `order`. */
CleavePlacement *cleave_placement_copy (const CleavePlacement *p, const GPtrArray *order);
/* Builds and returns the graph of a rank, as cleave_placement_build() does. If the graph never
 * runs, `transport` needs no functions. */
CleaveGraph *
cleave_ranks_build (const CleavePlacement *placement, guint rank, const CleaveTransport *transport);
/* Builds a graph with the nodes of one rank, which serves only to measure the memory of the rank
 * and cannot run. In this graph, the rank sends nothing and never waits: a value from another rank
 * becomes available when a node reads it. Fills `origins`, which maps each node of the returned
 * graph to the node of `placement->graph` that it was made from. */
CleaveGraph *
cleave_ranks_build_alone (const CleavePlacement *placement, guint rank, GHashTable *origins);
/* Returns whether two placements have the same number of nodes and the same messages. This is so if
 * the graphs of the placements are equal splits of one graph, and each node has the same rank in
 * both. */
gboolean cleave_placement_is_alike (const CleavePlacement *a, const CleavePlacement *b);
/* Returns the index of the message that brings a value to rank `to`, which must not be the rank
 * that computes the value. */
guint cleave_placement_find_message (const CleavePlacement *p, const CleaveResult *value, guint to);
