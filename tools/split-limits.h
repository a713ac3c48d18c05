/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* What a split must meet, as the command line says it; texts are NULL where an option is not given.
 */
typedef struct
{
  char *memory, *subgraph_memory, *schedule_memory, *added_macs, *pieces, *search_budget;
} CleaveLimits;

void cleave_limits_clear (CleaveLimits *limits);
/* Whether any is given; a budget is none. */
gboolean cleave_limits_is_given (const CleaveLimits *limits);
gboolean
cleave_limits_parse (const CleaveLimits *limits, CleaveConstraint *constraint, GError **error);

/* Says on standard error which limits are not met, a line for each; whether all are. */
gboolean cleave_limits_judge (const CleaveSplitReport *report);
/* A limit as people read it: bytes, pieces or per cent. */
char *cleave_limit_dup_number (CleaveLimitKind kind, double number);
