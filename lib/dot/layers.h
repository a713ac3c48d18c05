/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Lays out boxes in layers, each below those that it has a line from, in time in line with their
 * number: for drawings that Graphviz takes too long for.  Sizes are width and height of each box,
 * edges two boxes each; a line may lead back.  `centres` become x and y of each box, y downwards,
 * in a rectangle from 0 to `extent`. */
void cleave_layers_place (const double *sizes,
                          guint n_boxes,
                          const guint *edges,
                          guint n_edges,
                          const double gap[2],
                          double *centres,
                          double extent[2]);
