/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "for-threads.h"

/* Chooses the dimension along which a node is cut into a piece for each thread. for-threads.c
 * visits the nodes in topological order, so the cuts of the nodes before are known. */

/* The split tries at most this many dimensions for the cut of a node: if a cut is refused, the next
 * attempt takes another dimension. */
#define CLEAVE_MAX_ATTEMPTS 3

/* The dimensions along which the nodes visited so far are cut. */
typedef struct
{
  const CleaveThreads *threads;
  GHashTable *dims; /* maps a CleaveNode to the dimension of result 0 along which the node is cut */
  /* CleaveNode: nodes whose pieces each read a part of the weights, and readers of these nodes
   * that are cut along the same dimension */
  GHashTable *by_weights;
  GHashTable *members; /* CleaveNode: nodes of segments; a segment is cut by rows into strips */
} CleaveCutDims;

/* Returns the dimension of result 0 along which to cut a node. `attempt` is 0 at first. If the cut
 * is refused, the caller calls this function again with the next number, up to CLEAVE_MAX_ATTEMPTS
 * - 1. Returns -1 if the node is not worth a cut, or if there is no further dimension. Sets
 * `*is_by_weights` to TRUE if the caller must add the node to `by_weights`. */
gint cleave_cut_dims_choose (const CleaveCutDims *dims,
                             const CleaveNode *node,
                             guint attempt,
                             gboolean *is_by_weights);

/* Returns whether cutting a view along `dim` would cost copies. A whole view copies nothing, but a
 * join of pieces of the view copies the pieces. No join is needed if the node before the view and
 * all readers of the view are cut at the same places. */
gboolean cleave_cut_dims_would_copy (const CleaveCutDims *dims, const CleaveNode *node, gint dim);
