/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Allocates large blocks: weights, arenas, and arrays with an entry for each node. The size of such
 * a block depends on the model. If there is not enough memory for tensors or arenas, the functions
 * return an error, where g_malloc() would abort. The tensors of lib/ir and the programs of
 * lib/runtime use such blocks; lib/memory uses the arrays. */

#include <glib.h>

/* Allocates aligned memory, for a size that depends on the model. Returns NULL and
 * CLEAVE_ERROR_MEMORY if there is not enough memory. `what` names the purpose in the error message.
 * Free with free(). */
gpointer cleave_memory_try (gint64 n_bytes, gsize alignment, const char *what, GError **error);
/* Allocates memory that other processes can map, in an anonymous file (memfd), and sets `fd` to the
 * descriptor. If the system has no such files, allocates ordinary memory and sets `fd` to -1. Free
 * with cleave_memory_free_shared(). */
gpointer cleave_memory_try_shared (
    gint64 n_bytes, gsize alignment, const char *what, int *fd, GError **error);
void cleave_memory_free_shared (gpointer memory, gint64 n_bytes, int fd);
/* Takes all pages of a block from the system with one call, instead of one page fault for each
 * page. The caller must be about to write the whole block. Does nothing for a block of less than
 * 128 KiB. */
void cleave_memory_populate (gpointer memory, gsize n_bytes);

/* Allocate an array of n entries of `size` bytes, one for each node or value of a graph. The caller
 * must write every entry of cleave_memory_new(); cleave_memory_new0() writes zeros. Both functions
 * abort if there is no memory. Free with g_free(). */
gpointer cleave_memory_new (gsize n, gsize size);
gpointer cleave_memory_new0 (gsize n, gsize size);
#define CLEAVE_NEW(type, n) ((type *) cleave_memory_new ((n), sizeof (type)))
#define CLEAVE_NEW0(type, n) ((type *) cleave_memory_new0 ((n), sizeof (type)))
/* Returns an empty array with capacity for n pointers. */
GPtrArray *cleave_memory_list (guint n);
