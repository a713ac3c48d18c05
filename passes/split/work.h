/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* The work that a search has done, and its budget. One unit is the planning of one chunk; a node of
 * a graph that is split on trial costs several units. Work is counted, not timed, so that a search
 * ends at the same point on every machine. */
typedef struct _CleaveWork CleaveWork;

struct _CleaveWork
{
  gint64 done, budget;
  CleaveWork *all; /* the whole work to which this share belongs; NULL: this work is not a share */
  CleaveSearchFunc watch;
  gpointer data;
  GCancellable *cancellable; /* ends every search when it is canceled; NULL: none */
  gboolean gave_up;          /* a search ended because its budget was used up */
};

/* Returns a counter for the work of all searches of one split. The budget is the largest budget of
 * the requests' constraints. */
CleaveWork cleave_work_init (const CleaveGraph *graph, const CleaveSplitRequest *requests, guint n);
/* Returns a counter for one of `n` searches, with an equal share of the budget of `all`.
 * cleave_work_add() to this counter also adds to `all`, which counts the work of all searches. */
CleaveWork cleave_work_share (CleaveWork *all, guint n);
void cleave_work_add (CleaveWork *work, gint64 n);
gboolean cleave_work_is_cancelled (const CleaveWork *work, GError **error);
/* Returns whether the budget is used up; the search must then give up. */
gboolean cleave_work_is_over (const CleaveWork *work);
void cleave_work_give_up (CleaveWork *work);
/* Returns the largest number of pieces into which a search may cut a node. Building pieces costs
 * more than planning them, and the budget covers both. */
gint64 cleave_work_max_pieces (const CleaveWork *work);
/* Returns the limit on the number of nodes that a split may make: pieces, and the Slices and joins
 * that the pieces read. With a search, the limit depends on the budget in `work`. `work` NULL:
 * there is no search, since the user gave the pieces. */
CleaveMadeLimit cleave_work_made_limit (const CleaveWork *work, const CleaveGraph *graph);
