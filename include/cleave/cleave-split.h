/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>
#include <gio/gio.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_TILING (cleave_tiling_get_gtype ())
#define CLEAVE_TYPE_SPLIT_REPORT (cleave_split_report_get_gtype ())

/* The five kinds of tiling, and what else to ask of chunks.  `dims` lists dimensions of result 0,
 * parted by commas: indices, negative from the end, or the letters of the layout of the op or of
 * what it reads, "H,W"; the first is outermost. */

/**
 * CleaveTiling:
 *
 * How to cut the dimensions of a result into chunks.
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

/* Plans */

/**
 * CleavePlan:
 *
 * The pieces that a split of a node would make.  It lives as long as the call of the predicate that
 * is given it.
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
 * @why: takes the reason against the plan
 *
 * Judges a plan.
 *
 * Returns: whether the plan may be applied
 */
typedef gboolean (*CleavePlanPredicate) (const CleavePlan *plan, gpointer data, GString *why);

/**
 * CleaveSearchFunc:
 * @done: the work that the search did
 * @budget: the work that it is allowed
 * @data: (closure): the data of the constraint
 *
 * Reports the progress of a search.
 */
typedef void (*CleaveSearchFunc) (gint64 done, gint64 budget, gpointer data);

/**
 * CLEAVE_NOTHING_ADDED: (value -1.0)
 *
 * The value of `max_added_macs` and of `max_added_latency` that allows nothing to be added.  Any
 * negative number means the same; 0 is no limit.
 */
#define CLEAVE_NOTHING_ADDED (-1.0)

/**
 * CleaveConstraint:
 * @max_memory: bytes of the operands (weights included) and used results of each piece; 0: no
 * limit, negative: nothing
 * @max_subgraph_memory: bytes, peak of each parallel subgraph run depth first; 0: no limit
 * @max_schedule_memory: bytes, peak of the whole graph run depth first; 0: no limit
 * @max_added_macs: MACs that the halo may add, as a fraction of the MACs before: 0.1 is 10 %; 0: no
 * limit, %CLEAVE_NOTHING_ADDED: none
 * @max_pieces: number of pieces of a node; 0: no limit
 * @predicate: (nullable): asked last, for each node
 * @data: given to @predicate
 * @search_budget: work that the searches of one call may do together until they answer "not found":
 * 1 for a chunk planned, 8 for a node of a graph tried; 0: 500,000 and 2,000 for each node of the
 * graph
 * @watch: (nullable): told how far a search is
 * @watch_data: given to @watch
 * @cancellable: (nullable): ends a search with %G_IO_ERROR_CANCELLED
 *
 * What a split must meet.  Zero is no constraint.
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

/* Reports */

/**
 * CleaveNotSplit:
 * @CLEAVE_NOT_SPLIT_UNSUPPORTED: the op cannot be split
 * @CLEAVE_NOT_SPLIT_REFUSED: the op refuses a chunk
 * @CLEAVE_NOT_SPLIT_CONSTRAINT: no split meets the constraint
 * @CLEAVE_NOT_SPLIT_ONE_PIECE: the split has one chunk
 * @CLEAVE_NOT_SPLIT_OUTSIDE_USER: a node outside the region reads the value
 *
 * Why a node was not split.
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
 * @op: its op
 * @n_pieces: number of pieces
 * @pieces: (array length=n_pieces): the pieces, which the report holds
 * @ranges: (array length=n_pieces): their parts of result 0 of the node
 * @piece_names: (array length=n_pieces): their names
 *
 * A node that was split.  @pieces, @ranges and @piece_names go together.
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
 * @op: its op
 * @reason: why it was not split
 * @message: the same in words
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
 * @CLEAVE_LIMIT_ADDED_MACS: multiply-accumulates that the halo adds
 * @CLEAVE_LIMIT_PIECES: number of pieces of a node
 *
 * What a limit of a constraint bounds.
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
 * @kind: what is bounded
 * @asked: the limit: bytes, pieces, or a fraction of the MACs before
 * @reached: what was reached; if the limit is not met, the least that was found, which the same
 * call meets
 * @is_met: whether the limit is met
 *
 * A limit of a constraint, and what the split reached.
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
 * What a call split, what it did not split and why, and totals.
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
 * @nodes_before: nodes before
 * @nodes_after: nodes after
 * @macs_before: multiply-accumulates before
 * @macs_after: multiply-accumulates after
 * @peak_bytes_before: peak bytes before
 * @peak_bytes_after: peak bytes after
 * @n_parallel_subgraphs: number of parallel subgraphs after
 * @parallel_macs: multiply-accumulates of the nodes in parallel subgraphs after
 * @search_work: work that the search did
 * @search_budget: work that it was allowed; 0 if nothing was searched for
 * @search_gave_up: whether the budget ran out before the search ended
 *
 * Totals of the whole graph before and after a split.  [method@Cleave.Graph.count_operators] counts
 * the nodes, [method@Cleave.Graph.get_peak_bytes] the bytes.
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

/* Split one, many, recursively */

/**
 * CleaveHalo:
 * @CLEAVE_HALO_RECOMPUTE: each chunk computes the overlap, so that chunks are independent
 * @CLEAVE_HALO_CARRY: strips of a band follow each other, and later strips read the overlap of
 * earlier ones
 * @CLEAVE_HALO_EXCHANGE: as carry; besides, two bands that meet share the overlap between them
 * @CLEAVE_HALO_CARRY_NARROW: as carry, but of results that are much larger than what they are made
 * of, strips compute the overlap again, and only tiles of one strip read that of earlier ones
 *
 * How chunks share the overlap of the operand ranges that they read.
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
 * @tiling: (nullable): the tiling; %NULL to search for one that meets the constraint
 * @constraint: (nullable): the constraint; %NULL if @tiling is no search
 *
 * One of the nodes to split.
 */
typedef struct
{
  CleaveNode *node;
  const CleaveTiling *tiling;
  const CleaveConstraint *constraint;
} CleaveSplitRequest;

/**
 * CleaveRecursion:
 * @depth: number of nodes in a chain; 1 for the node alone
 * @halo: the halo policy
 * @strips_per_band: chunks that follow each other; 0 for all of them
 * @single_use: stop at a value that nodes outside the region read
 *
 * How far a split extends towards the producers.
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

/* From text */

CLEAVE_API gboolean cleave_split_parse (GHashTable *options,
                                        const char *prefix,
                                        CleaveTiling **tiling,
                                        CleaveConstraint *constraint,
                                        GError **error);
CLEAVE_API gboolean cleave_recursion_parse (GHashTable *options,
                                            const char *prefix,
                                            CleaveRecursion *recursion,
                                            GError **error);

/* Split for threads */

CLEAVE_API CleaveSplitReport *
cleave_split_for_threads (CleaveGraph *graph, guint n_threads, GError **error);
CLEAVE_API gboolean cleave_split_to_run (CleaveGraph *graph, guint *n_threads, GError **error);
CLEAVE_API CleaveSplitReport *
cleave_split_for_ranks (CleaveGraph *graph, const CleaveNetwork *network, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveTiling, cleave_tiling_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSplitReport, cleave_split_report_unref)

G_END_DECLS
