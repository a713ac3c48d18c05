/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <graphviz/cgraph.h>

/* A drawing with more vertices than this is laid out here: Graphviz takes 2 s for 3,500 with their
 * clusters, 11 s for 6,400, and ours 1.3 s for those. */
#define CLEAVE_LARGE_DRAWING 2000

/* Sets "pos", "bb" and "lp" of all in a drawing whose vertices and clusters have "width", "height"
 * and "lwidth": each cluster in layers, then they and what is in none. */
void cleave_large_place (Agraph_t *drawing);
