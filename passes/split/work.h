/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* How much a search has done, of how much it may do.  A unit is a chunk planned; a node of
 * a graph tried is more.  It is counted, not timed, so that a search ends at the same place
 * everywhere. */
typedef struct _CleaveWork CleaveWork;

struct _CleaveWork
{
  gint64 done, budget;
  CleaveWork *all; /* of which this is a share; NULL: it is all */
  CleaveSearchFunc watch;
  gpointer data;
  GCancellable *cancellable; /* or NULL; ends every search */
  gboolean gave_up;          /* a search ended for want of work that it might do */
};

/* What the searches of a graph may do together: as much as the most generous of the constraints
 * says. */
CleaveWork cleave_work_init (const CleaveGraph *graph, const CleaveSplitRequest *requests, guint n);
/* One of `n` equal shares. */
CleaveWork cleave_work_share (CleaveWork *all, guint n);
void cleave_work_add (CleaveWork *work, gint64 n);
gboolean cleave_work_is_cancelled (const CleaveWork *work, GError **error);
/* Whether nothing is left; then the search gives up. */
gboolean cleave_work_is_over (const CleaveWork *work);
void cleave_work_give_up (CleaveWork *work);
/* Pieces that a node may become: what comes of a split costs more than to plan it. */
gint64 cleave_work_max_pieces (const CleaveWork *work);
/* Returns how many nodes a call may make, pieces and what they read together.  NULL: the pieces are
 * asked for, not searched for. */
CleaveMadeLimit cleave_work_made_limit (const CleaveWork *work, const CleaveGraph *graph);
