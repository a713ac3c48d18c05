/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* An order, and what is alive while each of its nodes runs. */
typedef struct
{
  GPtrArray *order;
  gint64 *live; /* by position */
  gint64 peak;
  gint64 hopeless;   /* nothing is tried to bring the peak down where it is more */
  gboolean is_bound; /* live and peak are the least that they can be: it was not measured */
} CleaveOrderCandidate;

/* From each point where all orders have been through the same nodes to the next, the order that
 * needs least there: where a graph has stages, each has the order that suits it.  NULL if one of
 * them suits all, or all of it needs no less than one of them; or if one has to be measured before
 * that can be told: `*unknown`, which is NULL otherwise.  The first is measured. */
GPtrArray *cleave_order_combine (const CleaveGraph *graph,
                                 const GPtrArray *candidates,
                                 CleaveOrderCandidate **unknown);
