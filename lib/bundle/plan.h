/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Chooses the segments of a bundle. Segments meet at whole values only. So the peak of a plan is
 * the largest number of bytes of a segment, and its MACs are the sum over the segments. The best
 * plans up to each step follow from the best plans up to earlier steps (dynamic programming). */

#include "flow.h"

/* A plan that no other plan dominates. */
typedef struct
{
  gint64 peak_bytes; /* bytes of the arena, as a lower bound: the layout may need more */
  gint64 macs;
  GArray *segments; /* CleaveBundleSegment: the steps, cut into segments */
} CleaveBundlePlan;

void cleave_bundle_plan_free (gpointer plan);

/* Returns the plans (CleaveBundlePlan) with at most `max_macs` MACs, in order of rising MACs and
 * falling bytes. */
GPtrArray *cleave_bundle_plan_all (const CleaveBundleModel *model, gint64 align, gint64 max_macs);
/* Returns the plan in which each step is a segment. */
CleaveBundlePlan *cleave_bundle_plan_unsplit (const CleaveBundleModel *model, gint64 align);
