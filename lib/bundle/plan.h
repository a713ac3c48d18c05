/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Chooses the segments of a bundle. After the lowering (model.h), choose.c calls
 * cleave_bundle_plan_all(), lays out the returned plans (layout.h), and chooses one of them.
 *
 * Segments exchange only whole values. So the peak of a plan is the largest number of bytes of a
 * segment, and its MACs are the sum over the segments. The best plans for the steps up to each
 * position follow from the best plans up to earlier positions (dynamic programming). */

#include "flow.h"

/* A plan that no other plan dominates: no other plan has both fewer bytes and fewer MACs. */
typedef struct
{
  gint64 peak_bytes; /* lower bound of the bytes of the arena: the layout may need more */
  gint64 macs;
  GArray *segments; /* CleaveBundleSegment: the segments, in the order of a run */
} CleaveBundlePlan;

void cleave_bundle_plan_free (gpointer plan);

/* Returns the plans (CleaveBundlePlan) with at most `max_macs` MACs, sorted by rising MACs and
 * falling bytes. */
GPtrArray *cleave_bundle_plan_all (const CleaveBundleModel *model, gint64 align, gint64 max_macs);
/* Returns the plan with the fewest bytes among the plans with at most `max_macs` MACs. If several
 * plans have these bytes, returns one with few overlays: their offsets depend on each other, so the
 * layout of many overlays may need more bytes than the peak. */
CleaveBundlePlan *
cleave_bundle_plan_few_overlays (const CleaveBundleModel *model, gint64 align, gint64 max_macs);
/* Returns the plan in which each step is a segment of its own. */
CleaveBundlePlan *cleave_bundle_plan_unsplit (const CleaveBundleModel *model, gint64 align);
