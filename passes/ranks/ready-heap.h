/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* A binary heap of nodes that are ready to run. Simulations of runs use it. */

/* An entry of the heap. The entry with the smallest key is on top; of equal keys, the one with the
 * smallest position. */
typedef struct
{
  double key;
  guint position;
} CleaveReady;

void cleave_ready_push (GArray *heap, double key, guint position);
CleaveReady cleave_ready_pop (GArray *heap);
