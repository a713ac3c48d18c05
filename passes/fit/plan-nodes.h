/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "search.h"

/* The number of nodes of a split graph. The time of a measurement is proportional to this number,
 * so the search (search.c) leaves out plans with many nodes. */

/* Estimates the nodes that the graph has after it is split by the plan of a path. */
double cleave_fit_variant_estimate_nodes (const CleaveFitVariant *variant,
                                          const CleaveFitPath *path);
/* Raises the estimate of the nodes of each piece if the split graph has more nodes. `n_nodes`: the
 * measured number of nodes of the graph that the plan of the path has split. */
void
cleave_fit_variant_note_nodes (CleaveFitVariant *variant, const CleaveFitPath *path, guint n_nodes);
