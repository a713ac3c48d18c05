/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <graphviz/cgraph.h>

/* Drawings with more vertices than this are laid out here. Graphviz takes 2 s for 3,500 vertices
 * with their clusters and 11 s for 6,400; this layout takes 1.3 s for those 6,400. */
#define CLEAVE_LARGE_DRAWING 2000

/* Sets the attributes "pos", "bb" and "lp" of all objects of a drawing. Its vertices and clusters
 * must have "width", "height" and "lwidth". Lays out the contents of each cluster in layers; then
 * lays out the clusters and the remaining vertices as boxes. */
void cleave_large_place (Agraph_t *drawing);
