/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Drawings of graphs, as DOT text or rendered by Graphviz. The command draws the graph before and
 * after a split this way. An overview draws one box for each frame: a group of nodes, such as a
 * strip or a parallel subgraph. A viewer with its own renderer can use the frames (CleaveFrames)
 * and the layout of boxes (CleaveDotLayout). */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_FRAMES (cleave_frames_get_gtype ())
#define CLEAVE_TYPE_DOT_LAYOUT (cleave_dot_layout_get_gtype ())

/**
 * CleaveDotPiece:
 * @node: the piece
 * @range: the range of the whole node's result that the piece computes
 * @whole: the shape of the whole node's result; rank 0 if it is unknown
 *
 * The range that a piece computes. The report of a split contains these ranges.
 */
typedef struct
{
  const CleaveNode *node;
  CleaveRange range;
  CleaveShape whole;
} CleaveDotPiece;

/**
 * CleaveDotOptions:
 * @show_constants: draw constants as vertices; if %FALSE, a constant is a line in the node that
 * reads it
 * @no_clusters: do not frame parallel subgraphs and strips
 * @pieces: (array length=n_pieces) (nullable): the ranges of pieces. Operands of an Assemble need
 * not be listed, since the Assemble has their ranges
 * @n_pieces: number of @pieces
 * @overview: draw one box for each frame, with the frames that [ctor@Cleave.Frames.new] finds
 * @around: (nullable): draw only the nodes near this node; %NULL draws all nodes
 * @distance: largest number of edges between @around and a node that is drawn; 0 stands for 3
 * @ranks: (array length=n_ranks) (nullable): the rank of each node, or -1, in the order of
 * [method@Cleave.Graph.get_first_node] and [method@Cleave.Node.get_next]. With ranks, the drawing
 * frames ranks instead of subgraphs and strips, and draws messages as dashed arrows
 * @n_ranks: number of @ranks: the number of nodes, or 0
 * @rank_word: (nullable): the word in the titles of the frames of @ranks, such as `part`. With a
 * word, outputs are in no frame. %NULL stands for `rank`, and outputs are in the frame of rank 0
 *
 * Options of a drawing.
 */
typedef struct
{
  gboolean show_constants;
  gboolean no_clusters;
  const CleaveDotPiece *pieces;
  guint n_pieces;
  gboolean overview;
  const CleaveNode *around;
  guint distance;
  const int *ranks;
  guint n_ranks;
  const char *rank_word;
} CleaveDotOptions;

CLEAVE_API char *cleave_dot_range_to_string (const CleaveNode *node,
                                             const CleaveRange *range,
                                             const CleaveShape *whole);
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

/* Frames: groups of nodes. An overview draws each frame as one box. */

/**
 * CleaveFrameKind:
 * @CLEAVE_FRAME_SUBGRAPH: the nodes are a parallel subgraph
 * @CLEAVE_FRAME_STRIP: the nodes compute one strip of a band
 * @CLEAVE_FRAME_RUN: other nodes, which run one after the other
 *
 * The kinds of frames.
 */
typedef enum { CLEAVE_FRAME_SUBGRAPH, CLEAVE_FRAME_STRIP, CLEAVE_FRAME_RUN } CleaveFrameKind;

/**
 * CleaveFrames:
 *
 * Groups of the nodes of a graph, for drawings. The groups are valid until the graph changes.
 */
typedef struct _CleaveFrames CleaveFrames;

CLEAVE_API GType cleave_frames_get_gtype (void);
CLEAVE_API CleaveFrames *cleave_frames_new (const CleaveGraph *graph, GError **error);
CLEAVE_API CleaveFrames *cleave_frames_ref (CleaveFrames *frames);
CLEAVE_API void cleave_frames_unref (CleaveFrames *frames);
CLEAVE_API guint cleave_frames_get_n_frames (const CleaveFrames *frames);
CLEAVE_API CleaveFrameKind cleave_frames_get_kind (const CleaveFrames *frames, guint index);
CLEAVE_API const char *cleave_frames_get_title (const CleaveFrames *frames, guint index);
CLEAVE_API guint cleave_frames_find (const CleaveFrames *frames, const CleaveNode *node);

/* The declarations below lay out the boxes of an overview, for viewers with their own renderer. */

/**
 * CleaveDotLayout:
 *
 * The positions of boxes, and the routes of the edges between them.
 */
typedef struct _CleaveDotLayout CleaveDotLayout;

CLEAVE_API GType cleave_dot_layout_get_gtype (void);
CLEAVE_API CleaveDotLayout *cleave_dot_layout_new (
    const double *sizes, guint n_sizes, const guint *edges, guint n_edges, GError **error);
CLEAVE_API CleaveDotLayout *cleave_dot_layout_ref (CleaveDotLayout *layout);
CLEAVE_API void cleave_dot_layout_unref (CleaveDotLayout *layout);
CLEAVE_API guint cleave_dot_layout_get_n_boxes (const CleaveDotLayout *layout);
CLEAVE_API double cleave_dot_layout_get_x (const CleaveDotLayout *layout, guint box);
CLEAVE_API double cleave_dot_layout_get_y (const CleaveDotLayout *layout, guint box);
CLEAVE_API const double *
cleave_dot_layout_get_route (const CleaveDotLayout *layout, guint edge, guint *n_numbers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFrames, cleave_frames_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveDotLayout, cleave_dot_layout_unref)

G_END_DECLS
