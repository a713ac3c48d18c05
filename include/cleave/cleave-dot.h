/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/**
 * CleaveDotPiece:
 * @node: the piece
 * @range: its part of the result of the whole node
 *
 * The part of the whole node that a piece computes, as the report of a split says.
 */
typedef struct
{
  const CleaveNode *node;
  CleaveRange range;
} CleaveDotPiece;

/**
 * CleaveDotOptions:
 * @show_constants: draw constants as vertices; otherwise each is a line in the node that reads it
 * @no_clusters: do not frame parallel subgraphs
 * @pieces: (array length=n_pieces) (nullable): the ranges of pieces; those of the parts of an
 * Assemble are known without
 * @n_pieces: number of @pieces
 *
 * What a drawing shows.
 */
typedef struct
{
  gboolean show_constants;
  gboolean no_clusters;
  const CleaveDotPiece *pieces;
  guint n_pieces;
} CleaveDotOptions;

CLEAVE_API char *
cleave_dot_print (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error);
CLEAVE_API GBytes *cleave_dot_render (const CleaveGraph *graph,
                                      const CleaveDotOptions *options,
                                      const char *format,
                                      GError **error);
CLEAVE_API gboolean cleave_dot_save (const CleaveGraph *graph,
                                     const CleaveDotOptions *options,
                                     const char *path,
                                     GError **error);

G_END_DECLS
