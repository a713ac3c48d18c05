/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "trial.h"

/* Turns the requests of a split into roots: reads the ranges of a tiling, or searches for ranges.
 * node.c calls cleave_roots_new() first, and then plans the region of the roots (region.h). */

/* Settings that all requests of a call share. */
typedef struct
{
  const CleaveRecursion *recursion;
  /* a tiling that does not fit a node leaves the node whole; FALSE: it is an error */
  gboolean lenient;
  CleaveWork *work;    /* budget of work that all searches share */
  guint n_searches;    /* number of searches that share `work` */
  CleaveTrial *trial;  /* measures the peak of the graph, if there is a limit on it */
  GHashTable *letters; /* cache of cleave_letters_find() */
  CleaveMadeLimit made;
} CleavePolicy;

/* Returns the roots (CleaveRoot), one for each request, with the ranges that the request gives or
 * that a search finds. Returns NULL and sets the error if a request is wrong. */
GArray *cleave_roots_new (const CleaveGraph *graph,
                          const CleaveSplitRequest *requests,
                          guint n_requests,
                          const CleavePolicy *policy,
                          GError **error);
