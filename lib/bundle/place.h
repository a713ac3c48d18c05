/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Places buffers in one arena, or in several memories of a device. layout.c calls
 * cleave_bundle_place() with the buffers of a plan. Two buffers may overlap only if they are not in
 * use at the same time, or if one overlays the other (flow.h). Example: buffers of 4, 8 and 4 KiB
 * in segments 0-1, 1-2 and 2-3 take 12 KiB: the third buffer has the offset of the first buffer. */

#include <glib.h>

/* A buffer: the part of the arena that a whole value or a ring occupies. */
typedef struct
{
  guint value;            /* index of the value; for a ring, the result of the step that owns the
                           * ring */
  guint first, last;      /* first and last segment that use the buffer */
  gint64 n_bytes, offset; /* n_bytes: size of the buffer; offset: offset in the arena, or in all
                           * memories if they were one memory */
  guint memory;           /* index of the memory in which the buffer lies */
  gint64 n_used;          /* bytes that the value occupies, without the padding to the alignment */
  gint64 accesses;        /* estimated bytes that a run reads and writes in the buffer */
  guint over;             /* value whose buffer this buffer may overlap in segment `first`
                             (CleaveBundleOverlay); CLEAVE_BUNDLE_NONE: no such value */
  gint64 lag;
  gint64 row_bytes; /* bytes of a row of the result in this buffer; valid if `over` is a value */
  gboolean is_upward;
} CleaveBundleBuffer;

/* The memories of a device, fastest memory first. */
typedef struct
{
  guint n;             /* number of memories; 0: one memory of any size */
  const gint64 *sizes; /* size of each memory in bytes, a multiple of the alignment */
} CleaveBundleMemories;

typedef struct
{
  const CleaveBundleMemories *memories;
  gint64 align;
  gint64 bound; /* lower bound of the bytes of the arena, or of all memories; the search ends when a
                   result reaches this bound */
} CleaveBundlePlacement;

/* Returns the first offset of memory number `index`. If `index` is the number of memories, returns
 * the end of the last memory. */
gint64 cleave_bundle_memory_begin (const CleaveBundleMemories *memories, guint index);
/* Returns the index of the memory in which an offset lies. */
guint cleave_bundle_memory_find (const CleaveBundleMemories *memories, gint64 offset);

/* Sets the offsets of buffers (CleaveBundleBuffer). Returns FALSE if the buffers do not fit. */
gboolean cleave_bundle_place (const CleaveBundlePlacement *placement, GArray *buffers);
