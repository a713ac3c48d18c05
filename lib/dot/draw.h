/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-dot.h>

#include <graphviz/cgraph.h>

/* Draws graphs with Graphviz. The public functions (dot.c) make a drawing in three steps:
 *
 *   1. pieces.h finds the part of the whole that each piece computes; frames.h groups the nodes;
 *   2. draw.c or overview.c builds a drawing (`Agraph_t`), with labels from label.h;
 *   3. cleave_draw_to_text() writes DOT, or cleave_render() (render.c) makes a picture.
 *
 * libcleave itself needs only Graphviz's libcgraph. The code that needs libgvc is in a module
 * (render-module.c), which is loaded with the first picture. */

/* Takes or releases the lock of Graphviz, whose state is global. Every call of Graphviz needs the
 * lock. While a thread holds the lock, messages of Graphviz are collected instead of printed to
 * standard error. */
void cleave_graphviz_lock (void);
void cleave_graphviz_unlock (void);
/* Returns the messages of Graphviz since the lock was taken, or NULL if there are none. */
const char *cleave_graphviz_get_message (void);

/* Returns an empty drawing that writes its text to a GString. The caller must hold the lock of
 * Graphviz (cleave_graphviz_lock()), and frees the drawing with agclose(). */
Agraph_t *cleave_draw_new (void);
/* Sets the default attributes of the drawing. The more vertices there are, the fewer iterations the
 * layout makes. */
void cleave_draw_set_style (Agraph_t *root, guint n_vertices);
/* Limits the time of the layout. Graphviz then makes at most `effort` iterations of its network
 * simplex method for each vertex, searches less for few crossings, and draws edges as polylines. If
 * `effort` is 0, changes nothing. */
void cleave_draw_set_effort (Agraph_t *root, double effort);
/* Sets an attribute of a vertex, edge or subgraph to plain text, or to an HTML-like label. */
void cleave_draw_set (gpointer object, const char *attribute, const char *value);
void cleave_draw_set_html (gpointer object, const char *attribute, const char *value);

/* Shows the name of the graph above the drawing. */
void cleave_draw_set_title (Agraph_t *root, const CleaveGraph *graph);

/* Returns a name that no node of the graph has: `base`, followed by as many primes (') as
 * needed. */
char *cleave_draw_dup_free_name (const CleaveGraph *graph, const char *base);
/* Adds a vertex with the given name and returns it. If DOT or SVG cannot write this name, the
 * vertex gets a similar name. */
Agnode_t *cleave_draw_add_vertex (Agraph_t *root, const CleaveGraph *graph, const char *name);

/* Builds the drawing of a graph: cleave_draw() with a vertex for each node, cleave_draw_overview()
 * with a box for each frame. Returns NULL on error. */
Agraph_t *cleave_draw (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error);
Agraph_t *
cleave_draw_overview (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error);
/* Returns the drawing as DOT text. */
GString *cleave_draw_to_text (Agraph_t *drawing);

/* Renders a drawing as "svg" or "png" with the module of render.h; `path` is only for messages. If
 * `format` is NULL, only lays the drawing out: sets the attribute "pos" of vertices and edges and
 * returns empty bytes. Returns NULL on error. */
GBytes *cleave_render (Agraph_t *drawing, const char *format, const char *path, GError **error);
