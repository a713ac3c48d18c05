/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "measurement.h"
#include "rewrite.h"

#include <cleave/cleave-fit.h>

/* The search for plans.  Which plans are measured does not depend on the limits that the caller
 * sets: a limit only selects from the measured plans.  So each budget that a frontier lists is
 * accepted, the smallest budget that a refusal names is accepted, and a looser limit never gives a
 * worse plan.
 *
 *     graph ── variants ── steps ── segment candidates ──┬── cheapest path ── measured plan ──┐
 *     (variants.h)   (steps.h) (candidates.h)└────── corrected estimates ─────────┘ */

typedef struct
{
  const CleaveFitOptions *options; /* the caller's options, with at least one thread */
  gint64 unsplit_macs;             /* MACs of the unsplit graph */
  guint n_measured;                /* plans */
} CleaveFitSearch;

/* A variant of the graph and the plans for it that were measured. */
typedef struct
{
  CleaveGraph *before; /* a copy, rewritten */
  CleaveGraph *graph;  /* the rewritten graph, with the nodes listed in the order of the steps */
  CleaveFitRewrite rewrite;
  CleaveFitSteps steps;
  CleaveFitCandidates candidates;
  gint64 least;            /* least estimated bytes of a path that has only strips */
  GPtrArray *measurements; /* CleaveFitMeasurement: measured plans for this variant */
} CleaveFitVariant;

/* Estimates the least memory of a variant whose graph, rewrite and steps are set, in strips alone.
 * Returns FALSE and sets the error if it was cancelled. */
gboolean cleave_fit_variant_prepare (CleaveFitVariant *variant,
                                     const CleaveFitSearch *search,
                                     GError **error);
/* Looks for tiles as well, and measures plans: those with the least memory for several limits on
 * MACs, and some between them and the unsplit graph. */
void cleave_fit_variant_measure (CleaveFitVariant *variant, CleaveFitSearch *search);
void cleave_fit_variant_free (CleaveFitVariant *variant);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitVariant, cleave_fit_variant_free)
