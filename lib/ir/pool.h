/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* An arena allocator for many small objects that are freed together, with the pool. The ONNX
 * importer and exporter, lib/memory and the reports of passes/split allocate names and small arrays
 * from a pool. slab.h is for objects that are freed one by one. */

#include <glib.h>

typedef struct _CleavePool CleavePool;

CleavePool *cleave_pool_new (void);
void cleave_pool_free (CleavePool *pool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleavePool, cleave_pool_free)

/* Allocates memory that holds zeros and is aligned for pointers and 64-bit numbers. */
gpointer cleave_pool_alloc (CleavePool *pool, gsize n_bytes);
gpointer cleave_pool_copy (CleavePool *pool, gconstpointer from, gsize n_bytes);
/* Copies a string, without alignment. */
char *cleave_pool_strdup (CleavePool *pool, const char *text);
/* Grows an array of n items, which this function returned before, so that it has room for one more.
 * Returns the array, which may have moved. */
gpointer cleave_pool_grow (CleavePool *pool, gpointer items, guint n, gsize item_size);
