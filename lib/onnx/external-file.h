/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* A file of external data, which external-data.c reads part by part: one part for each tensor.
 * Parts are read into memory as long as all files together stay within a budget of half of the
 * physical memory. Later parts are mapped. All parts of a file of more than 2 GiB are mapped. */
typedef struct _CleaveExternalFile CleaveExternalFile;

/* Opens a regular file. Returns NULL and the error on failure. */
CleaveExternalFile *cleave_external_file_new (const char *path, GError **error);
void cleave_external_file_free (CleaveExternalFile *file);
guint64 cleave_external_file_get_size (const CleaveExternalFile *file);
/* Returns one part of the file: `n_bytes` bytes from the byte offset `offset` on. The part must lie
 * within the file. If an earlier call has read the same part into memory, returns the same GBytes.
 * If not, reads the part into memory and subtracts its bytes from `budget`. Maps the part if
 * `budget` is too small, or the file has more than 2 GiB. Returns NULL and the error on failure. */
GBytes *cleave_external_file_get (
    CleaveExternalFile *file, guint64 offset, gsize n_bytes, gint64 *budget, GError **error);
/* Returns half of the physical memory in bytes: the initial `budget` of
 * cleave_external_file_get(). */
gint64 cleave_external_file_get_budget (void);
/* Releases the pages of bytes in a mapped file, for bytes that will hardly be read again. A later
 * access reads them from the file again. Does nothing for bytes that are not in a mapped file. */
void cleave_external_file_forget (gconstpointer data, gsize n_bytes);
