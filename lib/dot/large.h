/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <graphviz/cgraph.h>

/* Cleave lays out drawings with more vertices than this. Graphviz takes 2 s for 3,500 vertices with
 * their clusters and 11 s for 6,400; the layout of Cleave takes 1.3 s for these 6,400 vertices. */
#define CLEAVE_LARGE_DRAWING 2000

/* Sets the attributes "pos", "bb" and "lp" of all objects of a drawing. The vertices and clusters
 * of the drawing must have "width", "height" and "lwidth". Lays out the contents of each cluster in
 * layers; then lays out the clusters and the remaining vertices as boxes. */
void cleave_large_place (Agraph_t *drawing);
