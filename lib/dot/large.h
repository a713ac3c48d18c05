/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <graphviz/cgraph.h>

/* The layout of large drawings. render.c calls cleave_large_place() in place of Graphviz's own
 * layout if a drawing has more vertices than CLEAVE_LARGE_DRAWING. Graphviz takes 2 s for 3,500
 * vertices with their clusters, and 11 s for 6,400 vertices. cleave_large_place() takes 1.3 s for
 * 6,400 vertices. */
#define CLEAVE_LARGE_DRAWING 2000

/* Sets the attributes "pos", "bb" and "lp" of all objects of a drawing. The vertices and clusters
 * of the drawing must have "width", "height" and "lwidth". Lays out the vertices of each cluster in
 * layers; then lays out the clusters and the remaining vertices in layers. */
void cleave_large_place (Agraph_t *drawing);
