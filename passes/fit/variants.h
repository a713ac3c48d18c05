/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "search.h"

/* Variants of a graph: rewrites that keep its results, and that may need less memory after a split.
 * The search starts here: frontier.c calls cleave_fit_search_variants(), and then selects one of
 * the measured plans. search.h searches the plans of one variant. */

/* Returns the variants (CleaveFitVariant) of a graph with their measured plans. The first variant
 * is the graph without rewrites, and its first plan splits nothing. Returns NULL and sets the error
 * if the graph has a cycle or the search was cancelled. */
GPtrArray *cleave_fit_search_variants (const CleaveGraph *graph,
                                       const CleaveFitOptions *options,
                                       GError **error);
