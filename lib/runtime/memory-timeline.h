/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

/* The lifetimes of buffers without an arena, for searches. passes/fit measures candidates with this
 * function, and packs an arena only if it needs the bytes of the arena. The result has the public
 * type CleaveMemoryTimeline. */

/* Lists the buffers of a program with one thread, as cleave_memory_timeline_new() does, but places
 * no buffer: `arena_bytes` and all offsets are 0. cleave_arena_place_spans() can later compute the
 * arena's bytes from the lifetimes. If these are more than `most_bytes`, which this function sets,
 * a program may use another plan. cleave_memory_timeline_new() then gives the program's numbers. */
CleaveMemoryTimeline *
cleave_memory_timeline_new_unplaced (const CleaveGraph *graph, gint64 *most_bytes, GError **error);
