/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* A file of external data. Its parts are read into memory as long as all files together stay within
 * a budget of half of the physical memory. Further parts are mapped, and so are all parts of a file
 * of more than 2 GiB. */
typedef struct _CleaveExternalFile CleaveExternalFile;

/* Opens a regular file. Returns NULL and the error on failure. */
CleaveExternalFile *cleave_external_file_new (const char *path, GError **error);
void cleave_external_file_free (CleaveExternalFile *file);
guint64 cleave_external_file_get_size (const CleaveExternalFile *file);
/* Returns a part that lies within the file. Each part is read only once. Lowers `budget`, the bytes
 * that may still be read into memory. Returns NULL and the error on failure. */
GBytes *cleave_external_file_get (
    CleaveExternalFile *file, guint64 offset, gsize n_bytes, gint64 *budget, GError **error);
/* Returns the initial budget in bytes: half of the physical memory. */
gint64 cleave_external_file_get_budget (void);
/* Releases the pages of bytes that lie in a mapped file and will hardly be read again. If they are,
 * the system reads the pages from the file. Does nothing for other bytes. */
void cleave_external_file_forget (gconstpointer data, gsize n_bytes);
