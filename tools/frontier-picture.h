/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The picture of `cleave fit --frontier --plot FILE.svg`: two diagrams with a point for each plan.
 * After the search, cmd-fit.c calls cleave_frontier_picture_draw(), and writes the SVG.
 * frontier-picture.c places the points and labels. */

#include <cleave/cleave.h>

/* Returns a drawing of the trade-off between plans (CleaveFitPlan) as SVG: arena against estimated
 * latency, and arena against added MACs, with a labeled point for each plan. */
char *cleave_frontier_picture_draw (const char *title, const GPtrArray *plans);
