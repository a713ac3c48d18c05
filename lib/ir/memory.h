/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Allocates large blocks: fails with an error instead of aborting if a model asks for too much, and
 * takes the pages of large arrays from the system at once. */

#include <glib.h>

/* Allocates aligned memory whose size a model decides. Returns NULL and CLEAVE_ERROR_MEMORY if
 * there is not enough, where g_malloc() would abort. `what` names the purpose in the message. Free
 * with free(). */
gpointer cleave_memory_try (gint64 n_bytes, gsize alignment, const char *what, GError **error);
/* Allocates memory that other processes can map, in an anonymous file (memfd), and sets `fd` to the
 * descriptor. If the system has no such files, allocates ordinary memory and sets `fd` to -1. Free
 * with cleave_memory_free_shared(). */
gpointer cleave_memory_try_shared (
    gint64 n_bytes, gsize alignment, const char *what, int *fd, GError **error);
void cleave_memory_free_shared (gpointer memory, gint64 n_bytes, int fd);
/* Takes all pages of a block from the system with one call, instead of one page fault for each
 * page. For blocks that are written completely soon after. Does nothing for small blocks. */
void cleave_memory_populate (gpointer memory, gsize n_bytes);

/* Allocate arrays with an entry for each node or value of a graph, all of which are written. They
 * abort if there is no memory. Free with g_free(). */
gpointer cleave_memory_new (gsize n, gsize size);
gpointer cleave_memory_new0 (gsize n, gsize size);
#define CLEAVE_NEW(type, n) ((type *) cleave_memory_new ((n), sizeof (type)))
#define CLEAVE_NEW0(type, n) ((type *) cleave_memory_new0 ((n), sizeof (type)))
/* Returns an empty array with capacity for n pointers. */
GPtrArray *cleave_memory_list (guint n);
