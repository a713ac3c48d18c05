/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <graphviz/cgraph.h>

/* What the module exports, as `cleave_render_module`: lays a drawing out with an engine of Graphviz
 * and renders it as "svg" or "png", under the lock of Graphviz; NULL if Graphviz cannot, or if we
 * do not let it, and then says `why`.  A format of NULL only sets attributes: "pos" of vertices and
 * edges, "width" and "height" of vertices, "lwidth" of clusters. */
typedef GBytes *(*CleaveRenderFunc) (Agraph_t *drawing,
                                     const char *engine,
                                     const char *format,
                                     char **why);
