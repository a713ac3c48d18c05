/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "constraint.h"
#include "region.h"
#include "work.h"

/* Tries splits on copies of a graph and measures their peaks, for limits on the graph as a whole.
 *
 * The limits decide only which split is accepted, not which splits are tried. So a split that meets
 * one limit meets any larger limit. The best peak of a failed search is accepted if the user then
 * gives it as the limit. */
typedef struct
{
  const CleaveGraph *graph;
  const CleaveRecursion *recursion;
  CleaveConstraint limits; /* for each kind of limit, the lowest limit of all requests */
  CleaveWork *work;
  gint64 bound; /* lower bound on the peak of the schedule, in bytes; 0: not known */
  /* message for `bound`: names the node that stays whole in every split, and whose operands and
   * results have `bound` bytes together */
  char *which;
  CleaveMadeLimit made;
  gboolean is_too_many; /* the last split would have made more nodes than `made` allows */
  gboolean has_best;
  CleavePeaks best, last;
  char *why; /* message about the limit that the best split does not meet */
} CleaveTrial;

/* Initializes a trial. Its limits are the lowest limits on the graph in any request. If no request
 * limits the graph, the trial has no limits. */
void cleave_trial_init (CleaveTrial *trial,
                        const CleaveGraph *graph,
                        const CleaveSplitRequest *requests,
                        guint n_requests,
                        const CleaveRecursion *recursion,
                        CleaveWork *work);
void cleave_trial_clear (CleaveTrial *trial);
/* Finds the lower bound on the peak (`bound`) for splits that begin at the roots. */
void cleave_trial_find_bound (CleaveTrial *trial, const CleaveRoot *roots, guint n_roots);
/* Returns whether the requests limit a peak: the peak of the graph, or the peak of a parallel
 * subgraph. */
gboolean cleave_trial_is_asked (const CleaveTrial *trial);
/* Splits a copy of the graph at the roots and measures its peaks. Returns whether the peaks meet
 * the limits. */
gboolean cleave_trial_run (CleaveTrial *trial, const CleaveRoot *roots, guint n_roots);
/* Returns whether the best split has reached the bound, so that no other split can be better. */
gboolean cleave_trial_is_done (const CleaveTrial *trial);
/* Appends to `why` that no split met the limits, with the best peak found. */
void cleave_trial_explain (const CleaveTrial *trial, GString *why);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveTrial, cleave_trial_clear)
