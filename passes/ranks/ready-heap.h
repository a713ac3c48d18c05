/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* A binary heap. simulate.c keeps the nodes of each rank that are ready to run in heaps, and takes
 * the next node from the top. replay.c keeps heaps of large messages, of which only the first bytes
 * were sent. */

/* An entry of the heap. The entry with the smallest key is on top. If keys are equal, the entry
 * with the smallest position is on top. */
typedef struct
{
  double key;
  guint position;
} CleaveReady;

void cleave_ready_push (GArray *heap, double key, guint position);
CleaveReady cleave_ready_pop (GArray *heap);
