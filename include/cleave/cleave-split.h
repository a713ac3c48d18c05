/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/* The five options, and what else to ask of chunks.  `dims` lists dimensions of result 0, parted by
 * commas: indices, negative from the end, or the letters of the layout of the op or of what it
 * reads, "H,W"; the first is outermost. */

typedef struct _CleaveSplit CleaveSplit;

CLEAVE_API CleaveSplit *
cleave_split_by_num_chunks (const char *dims, const gint64 *counts, guint n_counts);
CLEAVE_API CleaveSplit *
cleave_split_by_chunk_size (const char *dims, const gint64 *sizes, guint n_sizes);
CLEAVE_API CleaveSplit *cleave_split_by_chunk_sizes (const char *dims,
                                                     const gint64 *const *sizes,
                                                     const guint *n_sizes,
                                                     guint n_lists);
CLEAVE_API CleaveSplit *cleave_split_by_chunk_weights (const char *dims,
                                                       const double *const *weights,
                                                       const guint *n_weights,
                                                       guint n_lists);
CLEAVE_API CleaveSplit *cleave_split_by_slice_ranges (const CleaveRange *ranges, guint n_ranges);
CLEAVE_API CleaveSplit *cleave_split_by_search (const char *dims);
CLEAVE_API void cleave_split_free (CleaveSplit *split);

CLEAVE_API void cleave_split_set_small_first (CleaveSplit *split, gboolean small_first);
CLEAVE_API void cleave_split_set_alignment (CleaveSplit *split, gint64 alignment);
CLEAVE_API void
cleave_split_set_alignments (CleaveSplit *split, const gint64 *alignments, guint n_alignments);
CLEAVE_API void cleave_split_set_min_chunk (CleaveSplit *split, gint64 min_chunk);
CLEAVE_API void
cleave_split_set_min_chunks (CleaveSplit *split, const gint64 *min_chunks, guint n_min_chunks);

CLEAVE_API GArray *cleave_split_ranges (const CleaveSplit *split,
                                        const CleaveShape *shape,
                                        const char *letters,
                                        GError **error);

/* Plans */

typedef struct _CleavePlan CleavePlan;

CLEAVE_API CleaveNode *cleave_plan_get_node (const CleavePlan *plan);
CLEAVE_API guint cleave_plan_get_n_chunks (const CleavePlan *plan);
CLEAVE_API const CleaveRange *cleave_plan_get_range (const CleavePlan *plan, guint chunk);
CLEAVE_API gint64 cleave_plan_get_n_bytes (const CleavePlan *plan, guint chunk);
CLEAVE_API gint64 cleave_plan_get_macs (const CleavePlan *plan, guint chunk);

/* TRUE: the plan may be applied.  FALSE: it may not, and `why` is told what stands against it. */
typedef gboolean (*CleavePlanPredicate) (const CleavePlan *plan, gpointer data, GString *why);

/* Told how far a search is: how much work of how much that it may do. */
typedef void (*CleaveSearchFunc) (gint64 done, gint64 budget, gpointer data);

/**
 * CleaveConstraint:
 * @max_memory: bytes of the operands (weights included) and used results of each piece; 0: no
 * limit, negative: nothing
 * @max_subgraph_memory: bytes, peak of each parallel subgraph run depth first; 0: no limit
 * @max_schedule_memory: bytes, peak of the whole graph run depth first; 0: no limit
 * @max_added_macs: what the halo may add, as a part of the MACs before; 0: no limit, negative:
 * nothing
 * @max_pieces: number of pieces of a node; 0: no limit
 * @predicate: (nullable): asked last, for each node
 * @data: given to @predicate
 * @search_budget: work that the searches of one call may do together until they answer "not found":
 * 1 for a chunk planned, 8 for a node of a graph tried; 0: 500,000 and 2,000 for each node of the
 * graph
 * @watch: (nullable): told how far a search is
 * @watch_data: given to @watch
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
} CleaveConstraint;

/* Reports */

typedef enum {
  CLEAVE_NOT_SPLIT_UNSUPPORTED,
  CLEAVE_NOT_SPLIT_REFUSED,
  CLEAVE_NOT_SPLIT_CONSTRAINT,
  CLEAVE_NOT_SPLIT_ONE_PIECE,
  CLEAVE_NOT_SPLIT_OUTSIDE_USER
} CleaveNotSplit;

CLEAVE_API const char *cleave_not_split_get_name (CleaveNotSplit reason);

/* What became of a node that was split.  `pieces`, `ranges` and `piece_names` go together; the
 * pieces live until the graph is next edited or cleaned up. */
typedef struct
{
  const char *name;
  const CleaveOp *op;
  guint n_pieces;
  CleaveNode *const *pieces;
  const CleaveRange *ranges;
  const char *const *piece_names;
} CleaveSplitNode;

/* A node that stayed whole, and why. */
typedef struct
{
  const char *name;
  const CleaveOp *op;
  CleaveNotSplit reason;
  const char *message;
} CleaveUnsplitNode;

/* What a limit came to.  Of one that is not met, `reached` is the least that was found: asked for
 * exactly that, the same call meets it. */
typedef enum {
  CLEAVE_LIMIT_MEMORY,
  CLEAVE_LIMIT_SUBGRAPH_MEMORY,
  CLEAVE_LIMIT_SCHEDULE_MEMORY,
  CLEAVE_LIMIT_ADDED_MACS,
  CLEAVE_LIMIT_PIECES
} CleaveLimitKind;

typedef struct
{
  CleaveLimitKind kind;
  double asked, reached; /* bytes, pieces, or a part of the MACs before */
  gboolean is_met;
} CleaveSplitLimit;

CLEAVE_API const char *cleave_limit_kind_get_name (CleaveLimitKind kind);

typedef struct _CleaveSplitReport CleaveSplitReport;

CLEAVE_API void cleave_split_report_free (CleaveSplitReport *report);
CLEAVE_API guint cleave_split_report_get_n_split (const CleaveSplitReport *report);
CLEAVE_API const CleaveSplitNode *cleave_split_report_get_split (const CleaveSplitReport *report,
                                                                 guint index);
CLEAVE_API guint cleave_split_report_get_n_not_split (const CleaveSplitReport *report);
CLEAVE_API const CleaveUnsplitNode *
cleave_split_report_get_not_split (const CleaveSplitReport *report, guint index);

CLEAVE_API guint cleave_split_report_get_n_limits (const CleaveSplitReport *report);
CLEAVE_API const CleaveSplitLimit *cleave_split_report_get_limit (const CleaveSplitReport *report,
                                                                  guint index);

/* Before and after, of the whole graph; nodes as `cleave_graph_count_operators()` and bytes as
 * `cleave_graph_get_peak_bytes()` count them. */
typedef struct
{
  guint nodes_before, nodes_after;
  gint64 macs_before, macs_after;
  gint64 peak_bytes_before, peak_bytes_after;
  guint n_parallel_subgraphs;
  gint64 parallel_macs;              /* after: those of the nodes in parallel subgraphs */
  gint64 search_work, search_budget; /* done, and allowed; 0: nothing was searched for */
  gboolean search_gave_up;           /* what was not found was not found within the budget */
} CleaveSplitTotals;

CLEAVE_API const CleaveSplitTotals *
cleave_split_report_get_totals (const CleaveSplitReport *report);

/* Split one, many, recursively */

/* What two chunks need: both compute it; or strips of a band follow each other, and later ones have
 * it from earlier ones; or that, and bands begin and end in pairs where they meet, and share it. */
typedef enum { CLEAVE_HALO_RECOMPUTE, CLEAVE_HALO_CARRY, CLEAVE_HALO_EXCHANGE } CleaveHalo;

typedef struct
{
  CleaveNode *node;
  const CleaveSplit *split;           /* NULL: as the constraint allows */
  const CleaveConstraint *constraint; /* may be NULL if the split is no search */
} CleaveSplitRequest;

typedef struct
{
  guint depth; /* 1: the node alone */
  CleaveHalo halo;
  guint strips_per_band; /* chunks that follow each other; 0: all in one band */
  gboolean single_use;   /* stop at a value with users outside */
} CleaveRecursion;

CLEAVE_API CleaveSplitReport *cleave_split_node (CleaveNode *node,
                                                 const CleaveSplit *split,
                                                 const CleaveConstraint *constraint,
                                                 GError **error);
CLEAVE_API CleaveSplitReport *cleave_split_nodes (CleaveGraph *graph,
                                                  const CleaveSplitRequest *requests,
                                                  guint n_requests,
                                                  GError **error);
CLEAVE_API CleaveSplitReport *cleave_split_all_nodes (CleaveGraph *graph,
                                                      const CleaveSplit *split,
                                                      const CleaveConstraint *constraint,
                                                      GError **error);
CLEAVE_API CleaveSplitReport *cleave_split_node_recursively (CleaveNode *node,
                                                             const CleaveSplit *split,
                                                             const CleaveConstraint *constraint,
                                                             const CleaveRecursion *recursion,
                                                             GError **error);
CLEAVE_API CleaveSplitReport *cleave_split_nodes_recursively (CleaveGraph *graph,
                                                              const CleaveSplitRequest *requests,
                                                              guint n_requests,
                                                              const CleaveRecursion *recursion,
                                                              GError **error);

/* Split for threads */

CLEAVE_API CleaveSplitReport *
cleave_split_for_threads (CleaveGraph *graph, guint n_threads, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSplit, cleave_split_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSplitReport, cleave_split_report_free)

G_END_DECLS
