/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "constraint.h"
#include "region.h"
#include "work.h"

/* Tries splits on copies of a graph and measures their peaks, for limits on the graph as a whole.
 *
 * Which splits are tried does not depend on the limits; only which one is accepted does.  So a
 * split that meets one limit meets any larger one, and the best peak found is accepted if it is
 * then asked for as a limit. */
typedef struct
{
  const CleaveGraph *graph;
  const CleaveRecursion *recursion;
  CleaveConstraint limits; /* the tightest limit of each kind */
  CleaveWork *work;
  gint64 bound; /* lower bound on the peak of the schedule, in bytes; 0: not known */
  char *which;  /* message about the node that sets the bound */
  CleaveMadeLimit made;
  gboolean is_too_many; /* the last split would have made more nodes than `made` allows */
  gboolean has_best;
  CleavePeaks best, last;
  char *why; /* text: the limit that the best split does not meet */
} CleaveTrial;

/* Initializes a trial with the tightest limits on the graph of all requests; there may be none. */
void cleave_trial_init (CleaveTrial *trial,
                        const CleaveGraph *graph,
                        const CleaveSplitRequest *requests,
                        guint n_requests,
                        const CleaveRecursion *recursion,
                        CleaveWork *work);
void cleave_trial_clear (CleaveTrial *trial);
/* Sets `bound` for splits that begin at the roots. */
void cleave_trial_find_bound (CleaveTrial *trial, const CleaveRoot *roots, guint n_roots);
/* Returns whether there is a limit on the graph. */
gboolean cleave_trial_is_asked (const CleaveTrial *trial);
/* Splits a copy of the graph at the roots, measures it and returns whether it meets the limits. */
gboolean cleave_trial_run (CleaveTrial *trial, const CleaveRoot *roots, guint n_roots);
/* Returns whether the best split has reached the bound, so that no other can be better. */
gboolean cleave_trial_is_done (const CleaveTrial *trial);
/* Appends why no split met the limits, with the best peak found. */
void cleave_trial_explain (const CleaveTrial *trial, GString *why);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveTrial, cleave_trial_clear)
