/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../split/report.h"
#include "rematerialize.h"

/* The rewrites of a graph before its segments are split. variants.c finds the rewrites, and a plan
 * stores them so that cleave_fit_plan_apply() can repeat them. All zero: no rewrites. */
typedef struct
{
  gint64 per_reader_bytes; /* values of at least this many bytes are split per reader
                              (split-per-reader.h), and recurrent layers are cut into chunks of time
                              steps; 0: none */
  GPtrArray *idle;   /* CleaveFitCopy: copies for late readers (rematerialize-idle.h), or NULL */
  GPtrArray *copies; /* CleaveFitCopy: copies for poolings (rematerialize.h), and nodes that run
                        earlier or later (move-nodes.h), or NULL */
} CleaveFitRewrite;

/* Rewrites a graph. Reorders the nodes into the order in which the search listed them; programs of
 * the graph then run them in this order. Returns FALSE and sets the error if a rewrite fails; the
 * graph may then be partly rewritten. */
gboolean cleave_fit_rewrite_apply (const CleaveFitRewrite *rewrite,
                                   CleaveGraph *graph,
                                   CleaveSplitReport *report,
                                   GError **error);
gboolean cleave_fit_rewrite_is_empty (const CleaveFitRewrite *rewrite);
CleaveFitRewrite cleave_fit_rewrite_copy (const CleaveFitRewrite *rewrite);
void cleave_fit_rewrite_clear (CleaveFitRewrite *rewrite);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFitRewrite, cleave_fit_rewrite_clear)
