/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Splits nodes into pieces: several nodes of the same op that compute disjoint or overlapping
 * chunks of the result, and an Assemble that joins them. The results stay bit-identical.
 *
 *   Conv [1, 8, 16, 16]   =>   Slice -> Conv [1, 8, 8, 16] --\
 *   by num chunks, H, 2        Slice -> Conv [1, 8, 8, 16] ---> Assemble [1, 8, 16, 16]
 *
 * A CleaveTiling says where to cut a node. A CleaveConstraint has the limits that the pieces must
 * meet. A CleaveSplitReport lists the nodes that were split, and the nodes that stayed whole. A
 * recursive split cuts the producers of a node as well, so that pieces form chains that need no
 * join between them. */

#include <cleave/cleave-graph.h>
#include <gio/gio.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_TILING (cleave_tiling_get_gtype ())
#define CLEAVE_TYPE_SPLIT_REPORT (cleave_split_report_get_gtype ())

/* There are five kinds of tiling: by number of chunks, by one chunk size, by a list of chunk sizes,
 * by weights, and by explicit ranges. `dims` lists dimensions of result 0, separated by commas. A
 * dimension is an index or a letter, as in "2,-1" or "H,W". A negative index counts from the end. A
 * letter is the name of a dimension in the layout of the op, such as NCHW, or in the layout of a
 * node near the op. In the order of chunks, the first dimension in the list varies slowest. */

/**
 * CleaveTiling:
 *
 * Describes how to cut the dimensions of a result into chunks.
 */
typedef struct _CleaveTiling CleaveTiling;

CLEAVE_API CleaveTiling *
cleave_tiling_by_num_chunks (const char *dims, const gint64 *counts, guint n_counts);
CLEAVE_API CleaveTiling *
cleave_tiling_by_chunk_size (const char *dims, const gint64 *sizes, guint n_sizes);
CLEAVE_API CleaveTiling *cleave_tiling_by_chunk_sizes (const char *dims,
                                                       const gint64 *const *sizes,
                                                       const guint *n_sizes,
                                                       guint n_lists);
CLEAVE_API CleaveTiling *cleave_tiling_by_chunk_weights (const char *dims,
                                                         const double *const *weights,
                                                         const guint *n_weights,
                                                         guint n_lists);
CLEAVE_API CleaveTiling *
cleave_tiling_by_chunk_sizes_along (const char *dim, const gint64 *sizes, guint n_sizes);
CLEAVE_API CleaveTiling *
cleave_tiling_by_chunk_weights_along (const char *dim, const double *weights, guint n_weights);
CLEAVE_API CleaveTiling *cleave_tiling_by_slice_ranges (const CleaveRange *ranges, guint n_ranges);
CLEAVE_API CleaveTiling *cleave_tiling_by_search (const char *dims);
CLEAVE_API GType cleave_tiling_get_gtype (void);
CLEAVE_API CleaveTiling *cleave_tiling_ref (CleaveTiling *tiling);
CLEAVE_API void cleave_tiling_unref (CleaveTiling *tiling);

CLEAVE_API void cleave_tiling_set_small_first (CleaveTiling *tiling, gboolean small_first);
CLEAVE_API void cleave_tiling_set_alignment (CleaveTiling *tiling, gint64 alignment);
CLEAVE_API void
cleave_tiling_set_alignments (CleaveTiling *tiling, const gint64 *alignments, guint n_alignments);
CLEAVE_API void cleave_tiling_set_min_chunk (CleaveTiling *tiling, gint64 min_chunk);
CLEAVE_API void
cleave_tiling_set_min_chunks (CleaveTiling *tiling, const gint64 *min_chunks, guint n_min_chunks);

CLEAVE_API GArray *cleave_tiling_get_ranges (const CleaveTiling *tiling,
                                             const CleaveShape *shape,
                                             const char *letters,
                                             GError **error);

/* The declarations below are for plans. A caller's predicate accepts or refuses each plan. */

/**
 * CleavePlan:
 *
 * The pieces that a split of a node would make. A plan is valid only during the call of the
 * predicate that receives it.
 */
typedef struct _CleavePlan CleavePlan;

CLEAVE_API CleaveNode *cleave_plan_get_node (const CleavePlan *plan);
CLEAVE_API guint cleave_plan_get_n_chunks (const CleavePlan *plan);
CLEAVE_API const CleaveRange *cleave_plan_get_range (const CleavePlan *plan, guint chunk);
CLEAVE_API gint64 cleave_plan_get_n_bytes (const CleavePlan *plan, guint chunk);
CLEAVE_API gint64 cleave_plan_get_macs (const CleavePlan *plan, guint chunk);

/**
 * CleavePlanPredicate:
 * @plan: a plan
 * @data: (closure): the data of the constraint
 * @why: if the plan is refused, the predicate appends the reason here
 *
 * Decides whether a plan may be applied.
 *
 * Returns: whether the plan may be applied
 */
typedef gboolean (*CleavePlanPredicate) (const CleavePlan *plan, gpointer data, GString *why);

/**
 * CleaveSearchFunc:
 * @done: the work that the search has done so far
 * @budget: the work after which the search gives up
 * @data: (closure): the `watch_data` of the constraint
 *
 * Reports the progress of a search.
 */
typedef void (*CleaveSearchFunc) (gint64 done, gint64 budget, gpointer data);

/**
 * CLEAVE_NOTHING_ADDED: (value -1.0)
 *
 * The value of `max_added_macs` and of `max_added_latency` that allows no increase. Any negative
 * number also allows no increase; 0 means no limit.
 */
#define CLEAVE_NOTHING_ADDED (-1.0)

/**
 * CleaveConstraint:
 * @max_memory: largest sum of the bytes of operands (including weights) and used results of a
 * piece; 0: no limit, negative: no piece is small enough
 * @max_subgraph_memory: largest peak, in bytes, of a parallel subgraph that runs depth first; 0: no
 * limit
 * @max_schedule_memory: largest peak, in bytes, of the whole graph if it runs depth first; 0: no
 * limit
 * @max_added_macs: MACs that halos may add, as a fraction of the MACs before the split: 0.1 is 10
 * %; 0: no limit, %CLEAVE_NOTHING_ADDED: no added MACs
 * @max_pieces: largest number of pieces of a node; 0: no limit
 * @predicate: (nullable): judges the plan of each node, after all limits
 * @data: passed to @predicate
 * @search_budget: work after which the searches of one call together give up with "not found". A
 * planned chunk costs 1 unit, and a measured node of a split graph costs 8 units. 0: 500,000 units
 * plus 2,000 units for each node of the graph
 * @watch: (nullable): called with the progress of a search
 * @watch_data: passed to @watch
 * @cancellable: (nullable): ends a search with %G_IO_ERROR_CANCELLED
 *
 * The limits that a split must meet. A struct of zeros means no limits.
 */
typedef struct
{
  gint64 max_memory;
  gint64 max_subgraph_memory;
  gint64 max_schedule_memory;
  double max_added_macs;
  guint max_pieces;
  CleavePlanPredicate predicate;
  gpointer data;
  gint64 search_budget;
  CleaveSearchFunc watch;
  gpointer watch_data;
  GCancellable *cancellable;
} CleaveConstraint;

/* The declarations below are for reports of a split. */

/**
 * CleaveNotSplit:
 * @CLEAVE_NOT_SPLIT_UNSUPPORTED: the op cannot be split
 * @CLEAVE_NOT_SPLIT_REFUSED: the op cannot compute one of the chunks alone
 * @CLEAVE_NOT_SPLIT_CONSTRAINT: no split meets the constraint
 * @CLEAVE_NOT_SPLIT_ONE_PIECE: the split has only one chunk
 * @CLEAVE_NOT_SPLIT_OUTSIDE_USER: the field `single_use` of the recursion was set, and a node
 * outside the region reads the value
 *
 * The reason why a node was not split.
 */
typedef enum {
  CLEAVE_NOT_SPLIT_UNSUPPORTED,
  CLEAVE_NOT_SPLIT_REFUSED,
  CLEAVE_NOT_SPLIT_CONSTRAINT,
  CLEAVE_NOT_SPLIT_ONE_PIECE,
  CLEAVE_NOT_SPLIT_OUTSIDE_USER,
} CleaveNotSplit;

CLEAVE_API const char *cleave_not_split_get_name (CleaveNotSplit reason);

/**
 * CleaveSplitNode:
 * @name: the name of the node
 * @op: the op of the node
 * @n_pieces: number of pieces
 * @pieces: (array length=n_pieces): the pieces, which the report keeps alive
 * @ranges: (array length=n_pieces): the range of result 0 of the node that each piece computes
 * @piece_names: (array length=n_pieces): the names of the pieces
 *
 * A node that was split. Entry i of @pieces, @ranges and @piece_names describes piece i.
 */
typedef struct
{
  const char *name;
  const CleaveOp *op;
  guint n_pieces;
  CleaveNode *const *pieces;
  const CleaveRange *ranges;
  const char *const *piece_names;
} CleaveSplitNode;

/**
 * CleaveUnsplitNode:
 * @name: the name of the node
 * @op: the op of the node
 * @reason: why the node was not split
 * @message: the reason as a sentence, with names and numbers
 *
 * A node that was not split.
 */
typedef struct
{
  const char *name;
  const CleaveOp *op;
  CleaveNotSplit reason;
  const char *message;
} CleaveUnsplitNode;

/**
 * CleaveLimitKind:
 * @CLEAVE_LIMIT_MEMORY: bytes of the operands and results of a piece
 * @CLEAVE_LIMIT_SUBGRAPH_MEMORY: peak bytes of a parallel subgraph
 * @CLEAVE_LIMIT_SCHEDULE_MEMORY: peak bytes of the whole graph
 * @CLEAVE_LIMIT_ADDED_MACS: multiply-accumulates that halos add
 * @CLEAVE_LIMIT_PIECES: number of pieces of a node
 *
 * The quantity that a limit of a constraint bounds.
 */
typedef enum {
  CLEAVE_LIMIT_MEMORY,
  CLEAVE_LIMIT_SUBGRAPH_MEMORY,
  CLEAVE_LIMIT_SCHEDULE_MEMORY,
  CLEAVE_LIMIT_ADDED_MACS,
  CLEAVE_LIMIT_PIECES,
} CleaveLimitKind;

/**
 * CleaveSplitLimit:
 * @kind: the quantity that is bounded
 * @asked: the limit: bytes, pieces, or a fraction of the MACs before the split
 * @reached: the value after the split; if the limit is not met, the smallest value that was found.
 * With this value as the limit, the same call succeeds, unless the split needs too many pieces
 * @is_met: whether the limit is met
 *
 * A limit of a constraint, and the value that the split reached.
 */
typedef struct
{
  CleaveLimitKind kind;
  double asked, reached;
  gboolean is_met;
} CleaveSplitLimit;

CLEAVE_API const char *cleave_limit_kind_get_name (CleaveLimitKind kind);

/**
 * CleaveSplitReport:
 *
 * The result of a split: the nodes that were split, the nodes that were not split with the reasons,
 * the limits, and totals of the graph.
 */
typedef struct _CleaveSplitReport CleaveSplitReport;

CLEAVE_API GType cleave_split_report_get_gtype (void);
CLEAVE_API CleaveSplitReport *cleave_split_report_ref (CleaveSplitReport *report);
CLEAVE_API void cleave_split_report_unref (CleaveSplitReport *report);
CLEAVE_API guint cleave_split_report_get_n_split (const CleaveSplitReport *report);
CLEAVE_API const CleaveSplitNode *cleave_split_report_get_split (const CleaveSplitReport *report,
                                                                 guint index);
CLEAVE_API const CleaveRange *
cleave_split_report_get_range (const CleaveSplitReport *report, guint index, guint piece);
CLEAVE_API guint cleave_split_report_get_n_not_split (const CleaveSplitReport *report);
CLEAVE_API const CleaveUnsplitNode *
cleave_split_report_get_not_split (const CleaveSplitReport *report, guint index);

CLEAVE_API guint cleave_split_report_get_n_limits (const CleaveSplitReport *report);
CLEAVE_API const CleaveSplitLimit *cleave_split_report_get_limit (const CleaveSplitReport *report,
                                                                  guint index);

/**
 * CleaveSplitTotals:
 * @nodes_before: nodes before the split
 * @nodes_after: nodes after the split
 * @macs_before: multiply-accumulates before the split
 * @macs_after: multiply-accumulates after the split
 * @peak_bytes_before: peak bytes before the split
 * @peak_bytes_after: peak bytes after the split
 * @n_parallel_subgraphs: number of parallel subgraphs after the split
 * @parallel_macs: multiply-accumulates of the nodes in parallel subgraphs
 * @search_work: work that the search did
 * @search_budget: work after which the search gives up; 0 if there was no search
 * @search_gave_up: whether the search used up @search_budget before it ended
 *
 * Totals of the whole graph before and after a split. [method@Cleave.Graph.count_operators] counts
 * the nodes, and [method@Cleave.Graph.get_peak_bytes] computes the peaks.
 */
typedef struct
{
  guint nodes_before, nodes_after;
  gint64 macs_before, macs_after;
  gint64 peak_bytes_before, peak_bytes_after;
  guint n_parallel_subgraphs;
  gint64 parallel_macs;
  gint64 search_work, search_budget;
  gboolean search_gave_up;
} CleaveSplitTotals;

CLEAVE_API const CleaveSplitTotals *
cleave_split_report_get_totals (const CleaveSplitReport *report);

/* Split one node, several nodes, or a node and its producers. */

/**
 * CleaveHalo:
 * @CLEAVE_HALO_RECOMPUTE: each chunk computes the overlap itself, so that chunks are independent
 * @CLEAVE_HALO_CARRY: the strips of a band run one after the other, and each strip reads the
 * overlap that earlier strips computed
 * @CLEAVE_HALO_EXCHANGE: as %CLEAVE_HALO_CARRY; in addition, neighboring bands run towards or away
 * from each other. Each of the two bands computes half of the overlap between the bands
 * @CLEAVE_HALO_CARRY_NARROW: as %CLEAVE_HALO_CARRY, except for results with at least 1.5 times the
 * elements of their operands. Strips recompute the overlap of these results; only tiles of the same
 * strip read the overlap from earlier tiles
 *
 * How chunks share the overlap (halo) of the operand ranges that they read.
 */
typedef enum {
  CLEAVE_HALO_RECOMPUTE,
  CLEAVE_HALO_CARRY,
  CLEAVE_HALO_EXCHANGE,
  CLEAVE_HALO_CARRY_NARROW,
} CleaveHalo;

/**
 * CleaveSplitRequest:
 * @node: the node
 * @tiling: (nullable): the tiling; %NULL to search for a tiling that meets the constraint
 * @constraint: (nullable): the constraint; %NULL: no constraint, which is an error if @tiling is
 * %NULL
 *
 * A node to split, and its tiling.
 */
typedef struct
{
  CleaveNode *node;
  const CleaveTiling *tiling;
  const CleaveConstraint *constraint;
} CleaveSplitRequest;

/**
 * CleaveRecursion:
 * @depth: largest number of nodes in a chain from a split node to a producer; 1 for the node alone
 * @halo: the halo policy
 * @strips_per_band: number of chunks of a band, which run one after the other; 0 for all chunks
 * @single_use: do not split a producer if nodes outside the region read its value
 *
 * The extent of a recursive split from a node to its producers.
 */
typedef struct
{
  guint depth;
  CleaveHalo halo;
  guint strips_per_band;
  gboolean single_use;
} CleaveRecursion;

CLEAVE_API GType cleave_constraint_get_gtype (void);
CLEAVE_API GType cleave_recursion_get_gtype (void);
CLEAVE_API CleaveSplitReport *cleave_split_node (CleaveNode *node,
                                                 const CleaveTiling *tiling,
                                                 const CleaveConstraint *constraint,
                                                 GError **error);
CLEAVE_API CleaveSplitReport *cleave_split_nodes (CleaveGraph *graph,
                                                  const CleaveSplitRequest *requests,
                                                  guint n_requests,
                                                  GError **error);
CLEAVE_API CleaveSplitReport *cleave_split_all_nodes (CleaveGraph *graph,
                                                      const CleaveTiling *tiling,
                                                      const CleaveConstraint *constraint,
                                                      GError **error);
CLEAVE_API CleaveSplitReport *cleave_split_node_recursively (CleaveNode *node,
                                                             const CleaveTiling *tiling,
                                                             const CleaveConstraint *constraint,
                                                             const CleaveRecursion *recursion,
                                                             GError **error);
CLEAVE_API CleaveSplitReport *cleave_split_nodes_recursively (CleaveGraph *graph,
                                                              const CleaveSplitRequest *requests,
                                                              guint n_requests,
                                                              const CleaveRecursion *recursion,
                                                              GError **error);
CLEAVE_API CleaveSplitReport *cleave_split_nodes_by_name (CleaveGraph *graph,
                                                          const char *const *names,
                                                          const CleaveTiling *tiling,
                                                          const CleaveConstraint *constraint,
                                                          const CleaveRecursion *recursion,
                                                          GError **error);

/* Parse the options of a split, from a command line or a pipeline. */

CLEAVE_API gboolean cleave_split_parse (GHashTable *options,
                                        const char *prefix,
                                        CleaveTiling **tiling,
                                        CleaveConstraint *constraint,
                                        GError **error);
CLEAVE_API gboolean cleave_recursion_parse (GHashTable *options,
                                            const char *prefix,
                                            CleaveRecursion *recursion,
                                            GError **error);

/* Split a whole graph for a number of threads. */

CLEAVE_API CleaveSplitReport *
cleave_split_for_threads (CleaveGraph *graph, guint n_threads, GError **error);
CLEAVE_API gboolean cleave_split_to_run (CleaveGraph *graph, guint *n_threads, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveTiling, cleave_tiling_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSplitReport, cleave_split_report_unref)

G_END_DECLS
