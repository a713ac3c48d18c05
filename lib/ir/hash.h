/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A hash function for pairs of numbers, such as an edge between two components or between two
 * ranks. The hash tables of lib/ir/subgraph-handovers.c, lib/dot/frames.c and passes/ranks use it,
 * with g_int64_equal(). */

#include <glib.h>

/* Returns the hash of a guint64 that packs two guint. g_int64_hash() of GLib 2.74 reads only the
 * lower 32 bits, so all pairs with the same lower number would collide. */
static inline guint
cleave_hash_pair (gconstpointer key)
{
  guint64 bits = *(const guint64 *) key;

  return (guint) (bits >> 32) * 31 + (guint) bits;
}
