/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

/* The lifetimes of buffers without an arena, for searches. passes/fit measures candidates with
 * these lifetimes, and packs an arena only if it needs the bytes of the arena. The result has the
 * public type CleaveMemoryTimeline. */

/* Returns the timeline of a program with one thread, without placing buffers: `arena_bytes` and all
 * offsets are 0. Returns NULL on error. Sets `spans` to an array for cleave_arena_place_spans(),
 * which can compute the arena's bytes later. The timeline assumes that the program uses laps, if
 * there are any. A program may use a memory plan without laps if the arena with laps is larger than
 * `most_bytes` bytes, which this function sets. cleave_memory_timeline_new() returns the timeline
 * of the plan that a program uses. */
CleaveMemoryTimeline *cleave_memory_timeline_new_unplaced (const CleaveGraph *graph,
                                                           gint64 *most_bytes,
                                                           GArray **spans,
                                                           GError **error);
