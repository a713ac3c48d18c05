/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-dot.h>

#include <graphviz/cgraph.h>

/* Graphviz has global state: whoever calls it holds the lock, which also keeps its messages off
 * standard error. */
void cleave_graphviz_lock (void);
void cleave_graphviz_unlock (void);
/* What Graphviz said last since the lock was taken; NULL: nothing. */
const char *cleave_graphviz_get_message (void);

/* The drawing of a graph, to be closed with agclose(), under the lock.  Its io writes to a GString.
 */
Agraph_t *cleave_draw (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error);
/* The drawing as DOT text. */
GString *cleave_draw_to_text (Agraph_t *drawing);

/* Renders a drawing as "svg" or "png", by the module that is loaded for it; `path` is for messages.
 */
GBytes *cleave_render (Agraph_t *drawing, const char *format, const char *path, GError **error);
