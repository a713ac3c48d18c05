/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The limits of `cleave split`, such as --max-pieces, and their names in messages. cmd-split.c
 * judges the limits after the split, and report.c prints them. The option max-memory of the pass
 * `split` is --max-piece-memory of the command. */

#include <cleave/cleave.h>

/* Prints to standard error each limit that the split does not meet. Returns whether the split meets
 * all limits. */
gboolean cleave_limits_judge (const CleaveSplitReport *report);
/* Returns the name that the command has for an option of the pass `split`. */
const char *cleave_split_name_option (const char *option);
/* Returns the name of the option that sets a limit. */
const char *cleave_limit_get_option (CleaveLimitKind kind);
/* Returns a limit as text: bytes, pieces or per cent. */
char *cleave_limit_dup_number (CleaveLimitKind kind, double number);
