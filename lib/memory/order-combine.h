/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Combines several candidate orders into one, for the search in ordering.c. Example: two orders run
 * the same first 50 nodes in a different sequence, then the same last 50 nodes. If one order has
 * the lower peak in the first half and the other order in the second half, the combination takes
 * one half of each order. */

/* An order of all nodes, and the memory in use while each node runs. */
typedef struct
{
  GPtrArray *order;
  gint64 *live; /* indexed by position: bytes in use while the node runs */
  gint64 peak;
  gint64 cutoff;     /* the `cutoff` of cleave_storage_new_within(), in bytes: if `peak` exceeds it,
                      * no search tried to lower `peak` */
  gboolean is_bound; /* `live` and `peak` are lower bounds: the order was not measured */
} CleaveOrderCandidate;

/* Combines orders. Cuts all orders at the points where they have run the same set of nodes. Takes
 * the nodes between two cuts from the order with the lowest peak between these cuts. The first
 * candidate must be measured.
 *
 * Returns NULL if one order is best everywhere or the combination has no lower peak. If an order
 * must be measured before that can be decided, returns NULL and sets `*unknown` to this order. In
 * all other cases, sets `*unknown` to NULL. */
GPtrArray *cleave_order_combine (const CleaveGraph *graph,
                                 const GPtrArray *candidates,
                                 CleaveOrderCandidate **unknown);
