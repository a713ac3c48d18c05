/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

/* Lists the buffers of a program with one thread, as cleave_memory_timeline_new() does, but places
 * no buffer: `arena_bytes` and all offsets are 0. cleave_arena_place_spans() can compute the
 * arena's bytes from the lifetimes later. If these are more than `most_bytes`, a program may use
 * another plan; then call cleave_memory_timeline_new(). */
CleaveMemoryTimeline *
cleave_memory_timeline_new_unplaced (const CleaveGraph *graph, gint64 *most_bytes, GError **error);
