/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <graphviz/cgraph.h>

/* The interface between render.c, in libcleave, and render-module.c, in a module that needs
 * Graphviz's libgvc. The module exports a function of this type as `cleave_render_module`.
 *
 * The function lays a drawing out with an engine of Graphviz and renders it as "svg" or "png". The
 * caller holds the lock of Graphviz. The function returns NULL if Graphviz fails. If the picture is
 * too large, the function returns NULL and sets `why` to the reason. If `format` is NULL, the
 * function only sets attributes: "pos" of vertices and edges, "width" and "height" of vertices,
 * "lwidth" of clusters. */
typedef GBytes *(*CleaveRenderFunc) (Agraph_t *drawing,
                                     const char *engine,
                                     const char *format,
                                     char **why);
