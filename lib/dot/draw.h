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

/* An empty drawing, to be closed with agclose(), under the lock.  Its io writes to a GString. */
Agraph_t *cleave_draw_new (void);
/* How it looks; the more vertices, the less hard its layout tries. */
void cleave_draw_set_style (Agraph_t *root, guint n_vertices);
/* How hard, 0 being as hard as Graphviz does by itself. */
void cleave_draw_set_effort (Agraph_t *root, double effort);
/* An attribute of a vertex, edge or subgraph: text, or an HTML-like label. */
void cleave_draw_set (gpointer object, const char *attribute, const char *value);
void cleave_draw_set_html (gpointer object, const char *attribute, const char *value);

/* The name of the graph, above the drawing. */
void cleave_draw_set_title (Agraph_t *root, const CleaveGraph *graph);

/* A name that no node has: the base, with as many primes as it takes. */
char *cleave_draw_dup_free_name (const CleaveGraph *graph, const char *base);
/* The vertex of this name.  cgraph remembers of each string whether it is HTML, so that it writes
 * it as such; when it reads a name that begins with '%', it takes another. */
Agnode_t *cleave_draw_add_vertex (Agraph_t *root, const CleaveGraph *graph, const char *name);

/* The drawing of a graph; and one with a box for each of its frames. */
Agraph_t *cleave_draw (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error);
Agraph_t *
cleave_draw_overview (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error);
/* The drawing as DOT text. */
GString *cleave_draw_to_text (Agraph_t *drawing);

/* Renders a drawing as "svg" or "png", by the module that is loaded for it; `path` is for messages.
 * With a format of NULL, nothing but the attribute "pos" of its vertices and edges is made. */
GBytes *cleave_render (Agraph_t *drawing, const char *format, const char *path, GError **error);
