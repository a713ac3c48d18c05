/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A binary heap of guint in a GArray, the smallest number on top. topology.c keeps the ids of ready
 * nodes in a heap. lib/runtime/plan/list-schedule.c keeps the priorities of ready steps in a heap:
 * the step with the smallest number runs first. */

#include <glib.h>

void cleave_heap_push (GArray *heap, guint number);
/* Returns the smallest number, or G_MAXUINT if the heap is empty. */
guint cleave_heap_top (const GArray *heap);
/* Removes the smallest number and returns it. The heap must not be empty. */
guint cleave_heap_pop (GArray *heap);
