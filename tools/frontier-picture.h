/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Draws the trade-off between plans (CleaveFitPlan) as SVG: arena against estimated latency, and
 * arena against added MACs, with a labeled point for each plan. */
char *cleave_frontier_picture_draw (const char *title, const GPtrArray *plans);
