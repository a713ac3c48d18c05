/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

/* The lifetimes of buffers without an arena, for searches. passes/fit measures candidates with
 * these lifetimes, and packs an arena only if it needs the bytes of the arena. The result has the
 * public type CleaveMemoryTimeline. */

/* Returns the timeline of a program with one thread, without placing buffers: `arena_bytes` and all
 * offsets are 0. Returns NULL on error. cleave_arena_place_spans() can compute the arena's bytes
 * later. Sets `most_bytes` to the largest arena for which the timeline is valid. If the packed
 * arena is larger, a program may use a memory plan without laps. cleave_memory_timeline_new()
 * returns the timeline of the plan that a program uses. */
CleaveMemoryTimeline *
cleave_memory_timeline_new_unplaced (const CleaveGraph *graph, gint64 *most_bytes, GError **error);
