/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* The file name `-`: standard input for a model, standard output for a file. model.c reads a model
 * from standard input, and outputs.c writes a file to standard output. Other files are read by
 * cleave_read_file(), with the error messages of a model that cannot be read. */

gboolean cleave_standard_is (const char *path);

/* Reads standard input to its end into a file in memory, and returns the path of that file. The
 * path is good until the process ends. Only the first call succeeds, since standard input can be
 * read only once. */
const char *cleave_standard_read (GError **error);

/* Reads a whole file, as g_file_get_contents() does. If reading fails, the error has the same words
 * as for a model that cannot be read. */
gboolean cleave_read_file (const char *path, char **data, gsize *n_bytes, GError **error);

/* Returns "standard input" for the path that cleave_standard_read() returned, else the path. */
const char *cleave_standard_name (const char *path);

/* Reserves standard output for the contents of a file: from now on, messages that commands print go
 * to standard error. */
gboolean cleave_standard_reserve (gboolean is_text, GError **error);

/* Copies a file to standard output. Call cleave_standard_reserve() before. */
gboolean cleave_standard_write (const char *path, GError **error);
