/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Memory for many small things that go together: nothing is freed by itself. */
typedef struct _CleavePool CleavePool;

CleavePool *cleave_pool_new (void);
void cleave_pool_free (CleavePool *pool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleavePool, cleave_pool_free)

/* Zeroed, aligned as any type needs. */
gpointer cleave_pool_alloc (CleavePool *pool, gsize n_bytes);
gpointer cleave_pool_copy (CleavePool *pool, gconstpointer from, gsize n_bytes);
/* Without alignment. */
char *cleave_pool_strdup (CleavePool *pool, const char *text);
/* Room for one more after `n` items: where they lie from now on.  `items` came of the same call. */
gpointer cleave_pool_grow (CleavePool *pool, gpointer items, guint n, gsize item_size);
