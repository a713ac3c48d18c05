/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "search.h"

/* Variants of a graph: rewrites that keep its results and may need less memory once it is split. */

/* Returns the variants (CleaveFitVariant) of a graph with their measured plans.  The first is the
 * graph as it is, and its first plan splits nothing.  Returns NULL and sets the error on a cycle
 * and if the search was cancelled. */
GPtrArray *cleave_fit_search_variants (const CleaveGraph *graph,
                                       const CleaveFitOptions *options,
                                       GError **error);
