/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Text of the command line to numbers.  Each function names the option in its error, what it
 * expected and what came. */

gboolean cleave_argument_fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* A whole number from `min` to `max`. */
gboolean cleave_argument_int (
    const char *option, const char *text, gint64 min, gint64 max, gint64 *value, GError **error);
/* Bytes: 300000, 64KiB, 1MiB, 2GiB. */
gboolean cleave_argument_size (const char *option, const char *text, gint64 *bytes, GError **error);
/* 1,3,224,224; nothing is a scalar. */
gboolean
cleave_argument_shape (const char *option, const char *text, CleaveShape *shape, GError **error);
/* 1,2,3 as gint64, 0.5,1 as double: NULL on error, never empty. */
GArray *cleave_argument_ints (const char *option, const char *text, GError **error);
GArray *cleave_argument_doubles (const char *option, const char *text, GError **error);
/* 0:1,0:16/0:1,16:32 as CleaveRange. */
GArray *cleave_argument_ranges (const char *option, const char *text, GError **error);
/* NAME=VALUE, parted at the last '=' if `last`, else at the first.  Without one, the name is NULL.
 */
void cleave_argument_pair (const char *text, gboolean last, char **name, const char **value);

/* Parses the options of a command; what is left must be `n_files` names, told as `what`, which are
 * returned. */
char **cleave_argument_parse (int argc,
                              char **argv,
                              const GOptionEntry *entries,
                              const char *what,
                              const char *summary,
                              guint n_files,
                              GError **error);
