/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* A heap of nodes, that with the least key on top; of equal keys the one that comes first. */
typedef struct
{
  double key;
  guint position;
} CleaveReady;

void cleave_ready_push (GArray *heap, double key, guint position);
CleaveReady cleave_ready_pop (GArray *heap);
