/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* A heap of numbers (guint), the smallest on top. */
void cleave_heap_push (GArray *heap, guint number);
/* G_MAXUINT: it is empty. */
guint cleave_heap_top (const GArray *heap);
guint cleave_heap_pop (GArray *heap);
