/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/pool.h"
#include "region.h"
#include "work.h"

/* Fills the report of a split. The report lists the nodes that were split with their pieces, and
 * the nodes that stayed whole with the reasons. The report also contains the totals of the graph
 * before and after the split. report-access.c has the public functions that read a report. */

struct _CleaveSplitReport
{
  CleavePool *pool;     /* owner of the elements of the lists */
  GPtrArray *split;     /* CleaveSplitNode: nodes that were split */
  GPtrArray *not_split; /* CleaveUnsplitNode: nodes that stayed whole, with the reason */
  GArray *limits;       /* CleaveSplitLimit: limits of the split, and the values reached */
  GHashTable *lists; /* RangeList: each different list of ranges once, since nodes of a chain often
                        have equal lists */
  CleaveSplitTotals totals;
};

/* Returns a new report with the totals of the graph before the split. */
CleaveSplitReport *cleave_split_report_new (const CleaveGraph *graph);
/* Adds the nodes of an applied region: first the roots in their order, then the other nodes in the
 * order of the plan. */
void cleave_split_report_add (CleaveSplitReport *report,
                              const CleaveRegion *region,
                              const CleaveRoot *roots,
                              guint n_roots);
/* Adds a node named `name` with op `op`, which was cut into `n` pieces with these ranges. */
void cleave_split_report_add_pieces (CleaveSplitReport *report,
                                     const char *name,
                                     const CleaveOp *op,
                                     CleaveNode *const *pieces,
                                     const CleaveRange *ranges,
                                     guint n);
/* Adds the totals of the graph after the split, and removes pieces that are no longer in the
 * graph. */
void cleave_split_report_finish (CleaveSplitReport *report, const CleaveGraph *graph);
/* Finishes the report as cleave_split_report_finish() does, with a peak that the caller has
 * measured. Measuring the peak takes as long as making a program. */
void cleave_split_report_finish_with_peak (CleaveSplitReport *report,
                                           const CleaveGraph *graph,
                                           gint64 peak_bytes);
void cleave_split_report_add_limit (CleaveSplitReport *report, const CleaveSplitLimit *limit);
void cleave_split_report_add_work (CleaveSplitReport *report, const CleaveWork *work);
