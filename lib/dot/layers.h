/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Lays out boxes in layers, so that edges lead downwards, in time linear in boxes and edges. For
 * drawings that take Graphviz too long.
 * `sizes` has width and height of each box, and `edges` the source and the target box of each edge;
 * the edges may form cycles. `gap` is the horizontal and the vertical distance between boxes.
 * Writes x and y of each box to `centers`, with y downwards, in a rectangle from 0 to `extent`. */
void cleave_layers_place (const double *sizes,
                          guint n_boxes,
                          const guint *edges,
                          guint n_edges,
                          const double gap[2],
                          double *centers,
                          double extent[2]);
