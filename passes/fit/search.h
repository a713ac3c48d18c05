/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "measurement.h"
#include "rewrite.h"

#include <cleave/cleave-fit.h>

/* The search for plans. The limits that the caller sets do not change which plans are measured: a
 * limit only selects from the measured plans. Therefore, each budget that a frontier lists is
 * accepted, the smallest budget that a refusal names is accepted, and a looser limit never gives a
 * worse plan.
 *
 *     graph ── variants ── steps ── segment candidates ──┬── cheapest path ── measured plan ──┐
 *            (variants.h) (steps.h)   (candidates.h)     └────── corrected estimates ─────────┘ */

/* The search measures a plan only if the plan's estimate is at least this fraction below the least
 * memory measured so far. The search measures a variant only if the variant's estimate is at least
 * this fraction below the least estimate of earlier variants with at most as many MACs. */
#define CLEAVE_FIT_MIN_GAIN 0.01

/* number of limits on added MACs under which the search looks for the least memory (search.c) */
#define CLEAVE_FIT_N_LIMITS 4

/* first estimate of the nodes that a split adds for each piece: the piece, and a Slice or a join */
#define CLEAVE_FIT_NODES_PER_PIECE 2

typedef struct
{
  const CleaveFitOptions *options; /* options of the caller; `n_threads` is at least 1 */
  gint64 unsplit_macs;             /* multiply-accumulates (MACs) of the unsplit graph */
  /* the least bytes that were measured so far, for all variants, under each limit on added MACs */
  gint64 least[CLEAVE_FIT_N_LIMITS];
  guint n_measured; /* number of plans measured so far, by this search and the search before it */
} CleaveFitSearch;

/* A variant of the graph, and the plans that were measured for it. */
typedef struct
{
  CleaveGraph *before; /* the rewritten graph, before its nodes were reordered */
  CleaveGraph *graph;  /* the rewritten graph, with its nodes in the order of the steps */
  CleaveFitRewrite rewrite;
  CleaveFitSteps steps;
  CleaveFitCandidates candidates;
  gboolean has_all_strips; /* TRUE: `candidates` has all candidates without tiles; FALSE: only the
                              candidates below a limit of bytes */
  gint64 least;            /* least estimated bytes of a plan without tiles */
  gint64 tile_bytes;       /* a segment with tiles is a candidate only if it needs fewer bytes */
  /* nodes that a split adds for each piece: [0] without tiles, [1] with tiles; the largest number
   * of the measured plans, and at least CLEAVE_FIT_NODES_PER_PIECE */
  double nodes_per_piece[2];
  GPtrArray *measurements; /* CleaveFitMeasurement: measured plans for this variant */
} CleaveFitVariant;

/* Estimates the least memory of a variant that is split into strips, without tiles. Leaves out
 * segments that need `max_bytes` bytes or more while they run. An estimate of at least `max_bytes`
 * may therefore be too high: a plan with a segment that was left out may need less memory.
 * `max_bytes` 0: no limit. The graph, the rewrite and the steps of the variant must be set. Returns
 * FALSE and sets the error if the search was cancelled. */
gboolean cleave_fit_variant_prepare (CleaveFitVariant *variant,
                                     const CleaveFitSearch *search,
                                     gint64 max_bytes,
                                     GError **error);
/* Looks for tiles in addition to strips, and measures plans: the plans with the least memory for
 * several limits on MACs, and some plans between these and the unsplit graph. */
void cleave_fit_variant_measure (CleaveFitVariant *variant, CleaveFitSearch *search);
void cleave_fit_variant_free (CleaveFitVariant *variant);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitVariant, cleave_fit_variant_free)
