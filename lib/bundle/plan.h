/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Chooses the segments of a bundle. Segments meet at whole values only. So the peak of a plan is
 * the largest of the bytes of its segments, and its MACs are the sum. The best plans up to each
 * step then follow from the best plans up to the steps before (dynamic programming). */

#include "flow.h"

/* A plan that no other one dominates. */
typedef struct
{
  gint64 peak_bytes; /* bytes of the arena, a lower bound: the layout may need more */
  gint64 macs;
  GArray *segments; /* CleaveBundleSegment: the steps, cut into segments */
} CleaveBundlePlan;

void cleave_bundle_plan_free (gpointer plan);

/* Returns the plans of at most `max_macs` (GPtrArray of CleaveBundlePlan) in order of rising MACs
 * and falling bytes. */
GPtrArray *cleave_bundle_plan_all (const CleaveBundleModel *model, gint64 align, gint64 max_macs);
/* Returns the plan in which each step is a segment. */
CleaveBundlePlan *cleave_bundle_plan_unsplit (const CleaveBundleModel *model, gint64 align);
