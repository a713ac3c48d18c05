/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Of a guint64 that is two numbers.  g_int64_hash() of GLib 2.74 looks at the lower half alone, so
 * that all pairs of one second number are in each other's way. */
static inline guint
cleave_hash_pair (gconstpointer key)
{
  guint64 bits = *(const guint64 *) key;

  return (guint) (bits >> 32) * 31 + (guint) bits;
}
