/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "slab.h"

#include <stdlib.h>

/* Blocks begin at multiples of this, so that an item tells its block, and end a little before the
 * next, where malloc() has its own notes.  With 64 KiB malloc() maps each by itself: graphs of a
 * few nodes take up to ten times longer to make and to free, a chain of 200,000 nodes a tenth less
 * to split. */
#define BLOCK_BYTES (8 << 10)
#define BLOCK_USED (BLOCK_BYTES - 64)

/* Items count in units; larger ones than so many are left to malloc(). */
#define UNIT 16
#define MAX_UNITS 32
/* Names have at most so many, mostly.  They lie apart: a walk over all nodes reads nodes alone. */
#define NAME_UNITS 4
/* Where the first item of a block lies: nodes, which take 256 bytes mostly, at lines of the cache.
 */
#define FIRST_BYTE ((sizeof (Block) + 63) / 64 * 64)

/* The address sanitizer is to see what is used after it was given back. */
#ifdef __SANITIZE_ADDRESS__
#define IS_LARGE(units) TRUE
#else
#define IS_LARGE(units) ((units) > MAX_UNITS)
#endif

typedef struct
{
  guint index;                  /* among the slab's blocks */
  guint n_items;                /* that are taken */
  guint end;                    /* byte where what nobody has had yet begins */
  gpointer free[MAX_UNITS + 1]; /* items that were given back, by their units: each has the next */
} Block;

struct _CleaveSlab
{
  GPtrArray *blocks;           /* Block */
  Block *filling[2];           /* those that are not full, of names and of nodes */
  Block *other[MAX_UNITS + 1]; /* the one to which an item of so many units was given back last */
};

CleaveSlab *
cleave_slab_new (void)
{
  CleaveSlab *slab = g_new0 (CleaveSlab, 1);

  slab->blocks = g_ptr_array_new_with_free_func (free);
  return slab;
}

void
cleave_slab_free (CleaveSlab *slab)
{
  g_ptr_array_unref (slab->blocks);
  g_free (slab);
}

static Block *
add_block (CleaveSlab *slab)
{
  gpointer memory;
  Block *block;

  if (posix_memalign (&memory, BLOCK_BYTES, BLOCK_USED) != 0)
    g_error ("there is no memory for the nodes of a graph");
  block = memory;
  *block = (Block){ .index = slab->blocks->len, .end = FIRST_BYTE };
  g_ptr_array_add (slab->blocks, block);
  return block;
}

/* What nobody has had yet. */
static gpointer
take_new (CleaveSlab *slab, gsize units)
{
  Block **filling = &slab->filling[units > NAME_UNITS];
  Block *block = *filling;
  gpointer item;

  if (block == NULL || block->end + units * UNIT > BLOCK_USED)
    block = *filling = add_block (slab);
  item = (char *) block + block->end;
  block->end += (guint) units * UNIT;
  block->n_items++;
  return item;
}

gpointer
cleave_slab_take (CleaveSlab *slab, gsize n_bytes)
{
  gsize units = (n_bytes + UNIT - 1) / UNIT;
  gpointer *item;
  Block *block;

  if (IS_LARGE (units))
    return g_malloc (n_bytes);
  block = slab->other[units];
  if (block == NULL || block->free[units] == NULL)
    return take_new (slab, units);
  item = block->free[units];
  block->free[units] = *item;
  block->n_items++;
  return item;
}

/* The last block takes its place. */
static void
remove_block (CleaveSlab *slab, Block *block)
{
  Block *last = slab->blocks->pdata[slab->blocks->len - 1];

  for (guint i = 0; i <= MAX_UNITS; i++)
    if (slab->other[i] == block)
      slab->other[i] = NULL;
  last->index = block->index;
  g_ptr_array_remove_index_fast (slab->blocks, block->index);
}

void
cleave_slab_give_back (CleaveSlab *slab, gpointer item, gsize n_bytes)
{
  gsize units = (n_bytes + UNIT - 1) / UNIT;
  Block *block;

  if (IS_LARGE (units))
    g_free (item);
  if (IS_LARGE (units) || slab == NULL)
    return;
  block = (Block *) ((guintptr) item & ~(guintptr) (BLOCK_BYTES - 1));
  *(gpointer *) item = block->free[units];
  block->free[units] = item;
  slab->other[units] = block;
  if (--block->n_items == 0 && block != slab->filling[0] && block != slab->filling[1])
    remove_block (slab, block);
}
