/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Lays out the graphs of the page of `cleave report`. page.c calls this function for the model and
 * for the split graph, and inserts the JSON into the page. report/page.js draws the graph from the
 * JSON. */

#include "json.h"

/* Adds a graph to JSON: the layout of frames, the layout of the nodes in each frame, and the edges.
 * `report` names the pieces; NULL: there are none. `profile` has the times of steps; NULL: no
 * times. */
gboolean cleave_page_add_graph (CleaveJson *json,
                                const char *name,
                                const CleaveGraph *graph,
                                const CleaveSplitReport *report,
                                const CleaveProfile *profile,
                                GError **error);
