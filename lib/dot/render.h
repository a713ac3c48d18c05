/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <graphviz/cgraph.h>

/* The function that the module exports as `cleave_render_module`. Lays a drawing out with an engine
 * of Graphviz and renders it as "svg" or "png". The caller holds the lock of Graphviz. Returns NULL
 * if Graphviz fails, or, with the reason in `why`, if the picture is too large. With a format of
 * NULL, the function only sets attributes: "pos" of vertices and edges, "width" and "height" of
 * vertices, "lwidth" of clusters. */
typedef GBytes *(*CleaveRenderFunc) (Agraph_t *drawing,
                                     const char *engine,
                                     const char *format,
                                     char **why);
