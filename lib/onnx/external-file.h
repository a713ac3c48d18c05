/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* A file of external data.  Its parts are read as long as half of the physical memory is enough for
 * those of all files together.  Parts beyond that are mapped. */
typedef struct _CleaveExternalFile CleaveExternalFile;

/* Opens a regular file. */
CleaveExternalFile *cleave_external_file_new (const char *path, GError **error);
void cleave_external_file_free (CleaveExternalFile *file);
guint64 cleave_external_file_get_size (const CleaveExternalFile *file);
/* Returns a part that the file has, once however often it is asked for.  `budget` has the bytes
 * that may still be read, and is lowered. */
GBytes *cleave_external_file_get (
    CleaveExternalFile *file, guint64 offset, gsize n_bytes, gint64 *budget, GError **error);
/* Returns the bytes that may be read at first: half of the physical memory. */
gint64 cleave_external_file_get_budget (void);
