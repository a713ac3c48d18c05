/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"
#include "work.h"

/* A report with the totals of the graph as it is. */
CleaveSplitReport *cleave_split_report_new (const CleaveGraph *graph);
/* What became of a region that was applied: the roots in their order, then the rest as it was
 * planned. */
void cleave_split_report_add (CleaveSplitReport *report,
                              const CleaveRegion *region,
                              const CleaveRoot *roots,
                              guint n_roots);
/* A node that was cut into these. */
void cleave_split_report_add_pieces (CleaveSplitReport *report,
                                     const char *name,
                                     const CleaveOp *op,
                                     CleaveNode *const *pieces,
                                     const CleaveRange *ranges,
                                     guint n);
/* The totals of the graph as it now is. */
void cleave_split_report_finish (CleaveSplitReport *report, const CleaveGraph *graph);
/* The same, if its peak is known already: finding it is as much work as compiling it. */
void cleave_split_report_finish_with_peak (CleaveSplitReport *report,
                                           const CleaveGraph *graph,
                                           gint64 peak_bytes);
void cleave_split_report_add_limit (CleaveSplitReport *report, const CleaveSplitLimit *limit);
void cleave_split_report_add_work (CleaveSplitReport *report, const CleaveWork *work);
