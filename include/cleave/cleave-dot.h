/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

typedef struct
{
  gboolean show_constants; /* as vertices of their own; otherwise a line in the node that uses them */
  gboolean no_clusters;    /* do not frame parallel subgraphs */
} CleaveDotOptions;

CLEAVE_API char *
cleave_dot_print (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error);
CLEAVE_API gboolean cleave_dot_save (const CleaveGraph *graph,
                                     const CleaveDotOptions *options,
                                     const char *path,
                                     GError **error);

G_END_DECLS
