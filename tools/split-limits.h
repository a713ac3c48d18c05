/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Says on standard error which limits are not met, a line for each; whether all are. */
gboolean cleave_limits_judge (const CleaveSplitReport *report);
/* A limit as people read it: bytes, pieces or per cent. */
char *cleave_limit_dup_number (CleaveLimitKind kind, double number);
