/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "trial.h"

/* How requests are taken. */
typedef struct
{
  const CleaveRecursion *recursion;
  gboolean lenient;    /* an option that does not fit a node is no error */
  CleaveWork *work;    /* for searches */
  guint n_searches;    /* that share it */
  CleaveTrial *trial;  /* of what is asked of the graph */
  GHashTable *letters; /* of nodes that were looked at */
  CleaveMadeLimit made;
} CleavePolicy;

/* Where a split begins: the ranges that each request asks for, or finds by a search.  NULL and the
 * error if a request is wrong. */
GArray *cleave_roots_new (const CleaveGraph *graph,
                          const CleaveSplitRequest *requests,
                          guint n_requests,
                          const CleavePolicy *policy,
                          GError **error);
