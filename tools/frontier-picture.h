/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* The arenas of plans (CleaveFitPlan) against the time that a run is thought to take, and against
 * the MACs that are added, as SVG: a labelled point for each plan. */
char *cleave_frontier_picture_draw (const char *title, const GPtrArray *plans);
