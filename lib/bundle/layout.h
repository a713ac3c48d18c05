/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The layout of a plan: the offsets of rings and whole values in the arena, or in several memories.
 * choose.c makes the layouts of the best plans, and keeps one layout that meets the limits. The
 * writers print its offsets. layout.c lists the buffers; place.c finds their offsets. */

#include "place.h"
#include "plan.h"

typedef struct
{
  gint64 n_bytes;       /* bytes of the arena, or of all memories together */
  gint64 *memory_bytes; /* bytes of each memory; without memories, the bytes of the arena */
  GArray *buffers;      /* CleaveBundleBuffer: the buffers of values, with their offsets */
  GHashTable *offsets;  /* maps a value to 1 plus the index of its buffer */
} CleaveBundleLayout;

/* Places the buffers of a plan. Returns NULL if the memories are too small. */
CleaveBundleLayout *cleave_bundle_layout_new (const CleaveBundleModel *model,
                                              const CleaveBundlePlan *plan,
                                              const CleaveBundleMemories *memories,
                                              gint64 align);
void cleave_bundle_layout_free (CleaveBundleLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveBundleLayout, cleave_bundle_layout_free)
/* Returns the buffer of a value. The value must be in the arena and must not be a view. */
const CleaveBundleBuffer *cleave_bundle_layout_buffer (const CleaveBundleLayout *layout,
                                                       guint value);
