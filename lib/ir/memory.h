/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Aligned memory of a size that a model decides: NULL and CLEAVE_ERROR_MEMORY where GLib would
 * abort.  Freed with free(). */
gpointer cleave_memory_try (gint64 n_bytes, gsize alignment, const char *what, GError **error);
/* The same in a file that has no name and takes memory alone, so that other processes can map it:
 * its descriptor, or -1 where there are no such files.  Freed with cleave_memory_free_shared(). */
gpointer cleave_memory_try_shared (
    gint64 n_bytes, gsize alignment, const char *what, int *fd, GError **error);
void cleave_memory_free_shared (gpointer memory, gint64 n_bytes, int fd);
/* For memory that is written at once: takes all its pages with one call of the system, in place of
 * a fault for each. */
void cleave_memory_populate (gpointer memory, gsize n_bytes);

/* Arrays for as many nodes or values as a graph has, which are written from end to end. */
gpointer cleave_memory_new (gsize n, gsize size);
gpointer cleave_memory_new0 (gsize n, gsize size);
#define CLEAVE_NEW(type, n) ((type *) cleave_memory_new ((n), sizeof (type)))
#define CLEAVE_NEW0(type, n) ((type *) cleave_memory_new0 ((n), sizeof (type)))
/* Empty, with room for so many pointers. */
GPtrArray *cleave_memory_list (guint n);
