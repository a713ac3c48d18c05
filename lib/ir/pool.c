/* SPDX-License-Identifier: GPL-2.0-or-later */

/* An arena allocator: allocates small objects from blocks, which are freed together. */

#include "pool.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <string.h>

/* Size of a block, in bytes: small, since many pools hold little, but large enough to make calls of
 * malloc() rare. With a million nodes, blocks of 4 KiB and of 1 MiB take the same time. */
#define BLOCK_BYTES (64 << 10)

struct _CleavePool
{
  GPtrArray *blocks;
  char *free;   /* first free byte of the last block */
  gsize n_free; /* number of free bytes from `free` on */
};

CleavePool *
cleave_pool_new (void)
{
  CleavePool *pool = g_new0 (CleavePool, 1);

  pool->blocks = g_ptr_array_new_with_free_func (g_free);
  return pool;
}

/* If a pool has at least this many blocks (64 MiB), cleave_pool_free() returns the memory to the
 * system, not only to malloc(). malloc() could not reuse this memory, since later allocations are
 * larger blocks. For a chain of a million Relus this saves a third of the peak. */
#define MANY_BLOCKS 1024

void
cleave_pool_free (CleavePool *pool)
{
  gboolean many = pool->blocks->len >= MANY_BLOCKS;

  g_ptr_array_unref (pool->blocks);
  g_free (pool);
#ifdef __GLIBC__
  if (many)
    malloc_trim (0);
#endif
}

static char *
take (CleavePool *pool, gsize n_bytes, gsize alignment)
{
  gsize skip = -(gsize) pool->free % alignment;
  char *taken;

  if (pool->n_free < n_bytes + skip)
    {
      pool->n_free = MAX (n_bytes, BLOCK_BYTES);
      pool->free = g_malloc (pool->n_free);
      g_ptr_array_add (pool->blocks, pool->free);
      skip = 0;
    }
  taken = pool->free + skip;
  pool->free = taken + n_bytes;
  pool->n_free -= n_bytes + skip;
  return taken;
}

gpointer
cleave_pool_alloc (CleavePool *pool, gsize n_bytes)
{
  return memset (take (pool, n_bytes, sizeof (gpointer)), 0, n_bytes);
}

gpointer
cleave_pool_copy (CleavePool *pool, gconstpointer from, gsize n_bytes)
{
  gpointer to = take (pool, n_bytes, sizeof (gpointer));

  return n_bytes == 0 ? to : memcpy (to, from, n_bytes);
}

char *
cleave_pool_strdup (CleavePool *pool, const char *text)
{
  gsize n_bytes = strlen (text) + 1;

  return memcpy (take (pool, n_bytes, 1), text, n_bytes);
}

/* Moves a full array to twice the memory. The capacity is the number of items, rounded up to a
 * power of two, so the array is full at 0, 1, 2, 4 … items. */
gpointer
cleave_pool_grow (CleavePool *pool, gpointer items, guint n, gsize item_size)
{
  gpointer more;

  if ((n & (n - 1)) != 0)
    return items;
  more = cleave_pool_alloc (pool, MAX (2 * (gsize) n, 1) * item_size);
  return n == 0 ? more : memcpy (more, items, n * item_size);
}
