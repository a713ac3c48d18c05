/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/* Which part of the whole node a piece computes, as a split's report says. */
typedef struct
{
  const CleaveNode *node;
  CleaveRange range;
} CleaveDotPiece;

typedef struct
{
  gboolean show_constants;      /* as vertices; otherwise each is a line in the node that uses it */
  gboolean no_clusters;         /* do not frame parallel subgraphs */
  const CleaveDotPiece *pieces; /* of parts of an Assemble the range is known without */
  guint n_pieces;
} CleaveDotOptions;

CLEAVE_API char *
cleave_dot_print (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error);
CLEAVE_API gboolean cleave_dot_save (const CleaveGraph *graph,
                                     const CleaveDotOptions *options,
                                     const char *path,
                                     GError **error);

G_END_DECLS
