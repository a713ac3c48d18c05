/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* The lifetimes of the bytes of a buffer that several values share because of laps (laps.c). A lap
 * fixes the distance between two values, but not how long the memory of each value is in use.
 *
 * A member is one value of such a buffer. Two members may overlap, since strips of one member
 * overwrite rows of the other member that were read for the last time. Fragments do not overlap:
 * they divide the bytes of a buffer, and each fragment has one lifetime. Here, y overlays x, and
 * the buffer has 5 units of memory:
 *
 *    member   units   steps           fragment   units   steps
 *    x        1 … 4   0 … 5           a          0       3 … 8
 *    y        0 … 3   3 … 8           b          1 … 3   0 … 8
 *                                     c          4       0 … 5
 *
 * So one unit is free for other values while only x or only y is in use. */

typedef struct
{
  guint value;       /* index of the value that owns the buffer, the root of all its members */
  gint64 begin, end; /* in bytes from the beginning of the buffer */
  guint first, last; /* the first and the last step that uses the member */
} CleaveLapMember;

typedef struct
{
  guint buffer;          /* index of the buffer */
  gint64 begin, n_bytes; /* `begin`: in bytes from the beginning of the buffer */
  guint first, last;     /* the first and the last step that uses the fragment */
} CleaveFragment;

/* Appends the fragments of the buffer with the index `buffer` to `fragments`. `members`: the n
 * members of the buffer. Takes O(n²) time. */
void
cleave_fragments_add (GArray *fragments, guint buffer, const CleaveLapMember *members, guint n);

/* Returns the bytes of all members that are in use at a step, where members that overlap count
 * once. `members` (CleaveLapMember) must be sorted by `begin`. */
gint64 cleave_fragments_count_bytes (const GArray *members, guint step);
