/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "constraint.h"
#include "report.h"

/* Records how far the limits of a split were met, for the report. node.c records the limits while
 * it plans a split, and adds them to the finished report. */

/* For each kind of limit: the limit and the value that the split reached. If several requests
 * have a limit of one kind, the entry is for the limit that is furthest from being met. */
typedef struct
{
  CleaveSplitLimit limits[CLEAVE_LIMIT_PIECES + 1];
  gboolean is_asked[CLEAVE_LIMIT_PIECES + 1];
} CleaveLimitReport;

/* Records the limits on the pieces of each root. Call this function before the check of the limits
 * on the graph: this check may remove the pieces of roots. */
void cleave_limit_report_add_roots (CleaveLimitReport *limit_report, const GArray *roots);
void cleave_limit_report_add_peaks (CleaveLimitReport *limit_report,
                                    const CleaveConstraint *limits,
                                    CleavePeaks peaks);
/* Adds the recorded limits to a finished report. */
void cleave_limit_report_add_to (CleaveLimitReport *limit_report, CleaveSplitReport *report);
