/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

/* Lists the buffers of a program of one thread, as cleave_memory_timeline_new() does, but places
 * none: `arena_bytes` and all offsets are 0. cleave_arena_place_spans() finds the bytes of the
 * arena from the lifetimes, later and only if they are needed. If it finds more than `most_bytes`,
 * the program may have another plan; cleave_memory_timeline_new() makes it. */
CleaveMemoryTimeline *
cleave_memory_timeline_new_unplaced (const CleaveGraph *graph, gint64 *most_bytes, GError **error);
