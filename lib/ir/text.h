/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-text.h>

/* 1,2,3 as gint64, 0.5,1 as double: NULL on error, never empty. */
GArray *cleave_text_to_ints (const char *option, const char *text, GError **error);
GArray *cleave_text_to_doubles (const char *option, const char *text, GError **error);
/* 0:1,0:16/0:1,16:32 as CleaveRange. */
GArray *cleave_text_to_ranges (const char *option, const char *text, GError **error);
/* Where a place in a text is, as editors count: `line 2, column 3`, without the line if there is
 * but one. */
char *cleave_text_dup_place (const char *text, const char *at);
