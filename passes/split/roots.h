/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "trial.h"

/* Turns requests into roots: reads the ranges of a tiling, or searches for them. */

/* Settings for all requests of a call. */
typedef struct
{
  const CleaveRecursion *recursion;
  gboolean lenient;    /* a tiling that does not fit a node leaves it whole and is no error */
  CleaveWork *work;    /* work that all searches together may do */
  guint n_searches;    /* searches that share `work` */
  CleaveTrial *trial;  /* measures the peak of the graph, if that is limited */
  GHashTable *letters; /* cache of cleave_letters_find() */
  CleaveMadeLimit made;
} CleavePolicy;

/* Returns the roots (CleaveRoot), one for each request: with the ranges that the request gives, or
 * that a search finds.  NULL with the error if a request is wrong. */
GArray *cleave_roots_new (const CleaveGraph *graph,
                          const CleaveSplitRequest *requests,
                          guint n_requests,
                          const CleavePolicy *policy,
                          GError **error);
