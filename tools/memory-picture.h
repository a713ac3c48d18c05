/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Draws the live bytes of a run as SVG, for `cleave memory`. cmd-memory.c makes the timeline of the
 * unsplit model, and of a second model if one is given, and writes the picture. The axes and colors
 * are in memory-picture.c. */

#include <cleave/cleave.h>

/* A timeline of live bytes, and its title. */
typedef struct
{
  const char *title;
  const CleaveMemoryTimeline *timeline;
} CleaveMemoryPanel;

/* Returns an SVG with one diagram for each panel, one below the other. A diagram shows the live
 * bytes over the steps of a run. All diagrams have the same number of bytes per pixel. The largest
 * values at the peak are colored areas with the names of the values. A line marks `limit` bytes
 * unless `limit` is 0. */
char *cleave_memory_picture_draw (const CleaveMemoryPanel *panels, guint n_panels, gint64 limit);
/* Returns the indices (guint) of the buffers that are in use at the peak, the largest first. */
GArray *cleave_memory_list_peak (const CleaveMemoryTimeline *timeline);
