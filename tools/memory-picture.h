/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* A timeline to show, and what it is of. */
typedef struct
{
  const char *title;
  const CleaveMemoryTimeline *timeline;
} CleaveMemoryPanel;

/* Live bytes over the steps of each run, one beneath the other in one scale, as SVG: the largest
 * values of the peak as bands with their names, and a line at `limit` bytes unless it is 0. */
char *cleave_memory_picture_draw (const CleaveMemoryPanel *panels, guint n_panels, gint64 limit);
/* Indices of the buffers that are in use at the peak, the largest first. */
GArray *cleave_memory_list_peak (const CleaveMemoryTimeline *timeline);
/* 1.31 MiB, 640 B. */
char *cleave_memory_format (gint64 bytes);
