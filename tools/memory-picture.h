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

/* Returns a drawing of the live bytes over the steps of each run as SVG. All panels have one scale,
 * and each panel is below the panel before it. The largest values at the peak are bands with their
 * names. A line marks `limit` bytes unless it is 0. */
char *cleave_memory_picture_draw (const CleaveMemoryPanel *panels, guint n_panels, gint64 limit);
/* Returns the indices (guint) of the buffers that are in use at the peak, the largest first. */
GArray *cleave_memory_list_peak (const CleaveMemoryTimeline *timeline);
