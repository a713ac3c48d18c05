/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Reads and writes files, with errors that name the path as the caller gave it: "cannot read 'x':
 * No such file or directory". */

/* Sets the error that a file cannot be read, for the current errno. Returns FALSE. */
gboolean cleave_fail_to_read (const char *path, GError **error);
/* Checks that a path is the path of a file that this process may read, and not of a folder. */
gboolean cleave_check_readable (const char *path, GError **error);
/* Writes a file as g_file_set_contents() does. */
gboolean cleave_write_file (const char *path, gconstpointer data, gssize n, GError **error);
