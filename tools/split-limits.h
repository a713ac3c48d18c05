/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Prints each limit that is not met on standard error. Returns whether all are met. */
gboolean cleave_limits_judge (const CleaveSplitReport *report);
/* Formats a limit: bytes, pieces or per cent. */
char *cleave_limit_dup_number (CleaveLimitKind kind, double number);
