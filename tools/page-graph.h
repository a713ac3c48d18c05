/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "json.h"

/* Adds a graph for the page to JSON: the layout of frames, the layout of the nodes in each frame,
 * and the edges. `report`, unless NULL, names the pieces. `profile`, unless NULL, has the times of
 * steps. */
gboolean cleave_page_add_graph (CleaveJson *json,
                                const char *name,
                                const CleaveGraph *graph,
                                const CleaveSplitReport *report,
                                const CleaveProfile *profile,
                                GError **error);
