/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

gboolean cleave_argument_fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* "; did you mean '…'?", or nothing. */
char *cleave_argument_dup_hint (const char *text, const char *const *words);

/* NAME=VALUE, parted at the last '=' if `last`, else at the first.  Without one, the name is NULL.
 */
void cleave_argument_pair (const char *text, gboolean last, char **name, const char **value);

/* Parses the options of a command; what is left must be `n_files` names, told as `what`, which are
 * returned; G_MAXUINT: as many as there are. */
char **cleave_argument_parse (int argc,
                              char **argv,
                              const GOptionEntry *entries,
                              const char *what,
                              const char *summary,
                              guint n_files,
                              GError **error);
