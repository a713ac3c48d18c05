/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* An allocator for small objects that are allocated and freed one by one, such as the nodes of a
 * graph. Objects allocated one after the other are neighbors in memory. A block whose objects are
 * all free is freed. Not thread-safe. */

#include <glib.h>

typedef struct _CleaveSlab CleaveSlab;

CleaveSlab *cleave_slab_new (void);
/* Frees the slab and all its objects, except for those of more than 512 bytes. */
void cleave_slab_free (CleaveSlab *slab);

/* Allocates memory, not zeroed, aligned to 16 bytes. */
gpointer cleave_slab_take (CleaveSlab *slab, gsize n_bytes);
/* Frees an object; `n_bytes` is the size that it was allocated with. If the slab is NULL, because
 * another thread may be using it, the memory of a small object is kept until the slab is freed. */
void cleave_slab_give_back (CleaveSlab *slab, gpointer item, gsize n_bytes);
