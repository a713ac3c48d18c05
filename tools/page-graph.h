/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "json.h"

/* A graph as the page draws it: frames where they lie, the nodes in each where they lie in it, and
 * which read which.  `report`, unless NULL, says which nodes are pieces. */
gboolean cleave_page_add_graph (CleaveJson *json,
                                const char *name,
                                const CleaveGraph *graph,
                                const CleaveSplitReport *report,
                                const CleaveProfile *profile,
                                GError **error);
