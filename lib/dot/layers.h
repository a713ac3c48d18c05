/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Lays out boxes in layers, so that edges lead downwards. The time is linear in boxes and edges.
 * large.c uses this layout for drawings that Graphviz would lay out too slowly.
 *
 * igraph's layout by Sugiyama, with the layers found in layers.c, is worse for split models: the
 * pieces of a node do not stay in their order. MobileNet-v2 in strips has 1,404 boxes, and in tiles
 * 13,699:
 *
 *   layout                    crossings  mean edge      width         processor time
 *   here, strips                    962        206      6,254 points    1 ms
 *   igraph, 10 iterations         3,275        549     19,588          22 ms
 *   here, tiles                 215,108      2,733     82,361          37 ms
 *   igraph, 10 iterations       431,299      4,961    239,363         366 ms
 *
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
