/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* A binary heap of nodes that are ready to run. simulate.c takes the next node of a rank from the
 * heap. replay.c also keeps the remaining bytes of messages in such heaps. */

/* An entry of the heap. The entry with the smallest key is on top. If keys are equal, the entry
 * with the smallest position is on top. */
typedef struct
{
  double key;
  guint position;
} CleaveReady;

void cleave_ready_push (GArray *heap, double key, guint position);
CleaveReady cleave_ready_pop (GArray *heap);
