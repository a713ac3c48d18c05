/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Memory for many small things that come and go by themselves, such as the nodes of a graph: those
 * made one after the other lie side by side, and what held only such as are gone is free for
 * others. */
typedef struct _CleaveSlab CleaveSlab;

CleaveSlab *cleave_slab_new (void);
/* With all that is left in it, but for what is larger than 512 bytes. */
void cleave_slab_free (CleaveSlab *slab);

/* Not zeroed, aligned as any type needs. */
gpointer cleave_slab_take (CleaveSlab *slab, gsize n_bytes);
/* With the size that it was taken with.  With NULL in place of the slab, which another thread may
 * be using, the memory is kept until the slab is freed. */
void cleave_slab_give_back (CleaveSlab *slab, gpointer item, gsize n_bytes);
