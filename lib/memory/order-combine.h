/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Step of the search in ordering.c: builds one order from the best consecutive nodes of several
 * orders. */

/* An order of all nodes, and the memory in use while each of them runs. */
typedef struct
{
  GPtrArray *order;
  gint64 *live; /* indexed by position: bytes in use while the node runs */
  gint64 peak;
  gint64 cutoff;     /* the assignment did not try to lower a peak of more than this many bytes
                      * (cleave_storage_new_within()) */
  gboolean is_bound; /* `live` and `peak` are lower bounds: the order was not measured */
} CleaveOrderCandidate;

/* Combines orders. Cuts all orders at the points where they have run the same set of nodes. Takes
 * the nodes between two cuts from the order with the lowest peak there. So each section of a graph
 * has the order that suits it. The first candidate must be measured.
 *
 * Returns NULL if one order is best everywhere or the combination has no lower peak. If an order
 * must be measured before that can be decided, returns NULL and sets `*unknown` to this order;
 * otherwise
 * `*unknown` is NULL. */
GPtrArray *cleave_order_combine (const CleaveGraph *graph,
                                 const GPtrArray *candidates,
                                 CleaveOrderCandidate **unknown);
