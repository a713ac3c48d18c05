/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* An allocator for small objects that are allocated and freed one by one: the nodes of a graph and
 * their names (graph.c, node.c). Objects allocated one after the other are neighbors in memory, so
 * a walk over the nodes reads memory in order. A block whose objects are all free is freed. Not
 * thread-safe. pool.h is for objects that are freed together. */

#include <glib.h>

typedef struct _CleaveSlab CleaveSlab;

CleaveSlab *cleave_slab_new (void);
/* Frees the slab and all its objects of at most 512 bytes. The caller must have freed larger
 * objects with cleave_slab_give_back(). */
void cleave_slab_free (CleaveSlab *slab);

/* Allocates memory, not zeroed, aligned to 16 bytes. */
gpointer cleave_slab_take (CleaveSlab *slab, gsize n_bytes);
/* Frees an object of `n_bytes`, the size that it was allocated with. `slab` is NULL if another
 * thread may be using the slab: then the memory of a small object is freed together with the
 * slab. */
void cleave_slab_give_back (CleaveSlab *slab, gpointer item, gsize n_bytes);
