/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "constraint.h"
#include "region.h"
#include "work.h"

/* Splits tried on copies of a graph, for limits that ask about the graph as a whole.  What is tried
 * does not depend on the limits, only what is accepted: so what meets one meets any larger, and the
 * best that was found is met when it is asked for. */
typedef struct
{
  const CleaveGraph *graph;
  const CleaveRecursion *recursion;
  CleaveConstraint limits; /* the tightest of each kind */
  CleaveWork *work;
  gint64 bound; /* what no schedule betters */
  char *which;  /* why */
  CleaveMadeLimit made;
  gboolean is_too_many; /* the last split would have made more */
  gboolean has_best;
  CleavePeaks best, last;
  char *why; /* what stands against the best */
} CleaveTrial;

/* With the limits on the graph of all requests, which may be none. */
void cleave_trial_init (CleaveTrial *trial,
                        const CleaveGraph *graph,
                        const CleaveSplitRequest *requests,
                        guint n_requests,
                        const CleaveRecursion *recursion,
                        CleaveWork *work);
void cleave_trial_clear (CleaveTrial *trial);
/* Finds what no split that begins at the roots betters. */
void cleave_trial_find_bound (CleaveTrial *trial, const CleaveRoot *roots, guint n_roots);
/* Whether there is a limit to be met. */
gboolean cleave_trial_is_asked (const CleaveTrial *trial);
/* Whether the graph split like this would meet the limits. */
gboolean cleave_trial_run (CleaveTrial *trial, const CleaveRoot *roots, guint n_roots);
/* Whether nothing better can come. */
gboolean cleave_trial_is_done (const CleaveTrial *trial);
/* Says that nothing met the limits, and what the best came to. */
void cleave_trial_explain (const CleaveTrial *trial, GString *why);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveTrial, cleave_trial_clear)
