/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

/* The lifetimes of buffers without an arena, for searches. passes/fit measures candidates with
 * these lifetimes, and packs an arena only if it needs the bytes of the arena. The result has the
 * public type CleaveMemoryTimeline. */

/* Returns the timeline of a program with one thread, without placing buffers: `arena_bytes` and all
 * offsets are 0. Returns NULL on error. cleave_arena_place_spans() can compute the arena's bytes
 * later. If the arena has more than `most_bytes` bytes (set by this function), a program may use
 * another plan, which cleave_memory_timeline_new() lists. */
CleaveMemoryTimeline *
cleave_memory_timeline_new_unplaced (const CleaveGraph *graph, gint64 *most_bytes, GError **error);
