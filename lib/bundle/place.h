/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Places buffers in one arena, or in several memories. */

#include <glib.h>

/* A buffer: a part of the arena for a whole value or a ring. */
typedef struct
{
  guint value;            /* base of a view; for a ring, the result of the step that owns it */
  guint first, last;      /* first and last segment that use the buffer */
  gint64 n_bytes, offset; /* size, and offset in the memory */
  guint memory;           /* index of the memory */
  gint64 n_used;          /* bytes that values occupy, without the padding to the alignment */
  gint64 accesses;        /* estimated bytes that a run reads and writes */
  guint over; /* value whose buffer this one may overlap in its first segment (CleaveBundleOverlay);
                 CLEAVE_BUNDLE_NONE: none */
  gint64 lag;
  gint64 row_bytes; /* bytes of a row of the segment's result that overlays `over` */
  gboolean is_upward;
} CleaveBundleBuffer;

/* Memories of a device, the fastest first. */
typedef struct
{
  guint n;             /* number of memories; 0: one memory of any size */
  const gint64 *sizes; /* sizes in bytes, multiples of the alignment */
} CleaveBundleMemories;

typedef struct
{
  const CleaveBundleMemories *memories;
  gint64 align;
  gint64 bound; /* the search ends at this number of bytes of the arena, or of all memories */
} CleaveBundlePlacement;

/* Returns the first offset of memory `index`; if `index` is n, the end of the last memory. */
gint64 cleave_bundle_memory_begin (const CleaveBundleMemories *memories, guint index);
/* Returns the index of the memory that has an offset. */
guint cleave_bundle_memory_find (const CleaveBundleMemories *memories, gint64 offset);

/* Sets the offsets of buffers (CleaveBundleBuffer). Returns FALSE if they do not fit. */
gboolean cleave_bundle_place (const CleaveBundlePlacement *placement, GArray *buffers);
