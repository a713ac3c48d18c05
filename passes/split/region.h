/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/pool.h"

#include "root.h"

/* The region of a split: the nodes that the split reaches, the demands on each node, and its
 * pieces. First, roots.h finds the ranges of the roots. A region is a plan until apply.h builds its
 * pieces.
 *
 * The planner walks from the roots towards the inputs. Example: two chunks of a 3x3 convolution
 * each demand 5 rows of the producer's result. The producer then has two pieces of 5 rows that
 * overlap (recompute), or one piece of 5 rows and one piece of 3 rows (carry).
 *
 *       producer    demands: rows [0, 5) and [3, 8)
 *          |
 *       3x3 Conv    root, chunks: rows [0, 4) and [4, 8) */

typedef struct _CleaveRegionNode CleaveRegionNode;

/* A demand on a region node: a piece of another node reads the range `range` of result number
 * `result` of the region node. Chunk number `k` of a root depends on this piece. */
typedef struct
{
  /* index of the root's chunk that depends on the demand; also the index of this chunk's strip in
   * `strips` */
  guint k;
  guint result;
  const CleaveRange *range;
  /* range of result 0 that a piece must compute so that it also computes `range` */
  const CleaveRange *chunk;
  /* covers[first] to covers[first + n - 1] of the region node are the covering pieces, which
   * together contain the range */
  guint first, n;
  /* node that made the demand first. Operand number `reader_operand` of its piece number
   * `reader_piece` reads the range */
  const CleaveNode *reader;
  guint reader_piece, reader_operand;
  /* the value that piece `reader_piece` will read; NULL until this value is built */
  CleaveResult *value;
  /* index of another demand on the region node that contains this demand and has the same covering
   * pieces; index of this demand if there is none */
  guint wider;
} CleaveDemand;

/* The source of a piece's operand: demand number `demand` on the region node `member`; if `member`
 * is NULL, the range `range` of a value outside the region. */
typedef struct
{
  CleaveRegionNode *member;
  guint demand;
  const CleaveRange *range;
} CleaveSource;

typedef struct
{
  guint k;
  const CleaveRange *range; /* range of result 0 that the piece computes */
} CleavePiece;

/* A strip: a chunk of the roots, and the order in which it runs. The strips of one band run in the
 * order of `sequence`. A strip may read pieces of earlier strips of its band, and then computes
 * only rows that these strips do not compute. With the halo policy exchange, several strips may
 * have the same `sequence`, and run at the same time. */
typedef struct
{
  guint band, sequence; /* band of the strip, and its place in the order of strips */
  /* with one band: index of the row of tiles in which the chunk lies; with several bands: index of
   * the chunk */
  guint row;
} CleaveStrip;

/* A node that the region reaches. When the plan is complete, the node is split into pieces, or
 * stays whole, or is a view without pieces (`is_passed`). Each demand on a view without pieces
 * becomes a demand on the operand of the view. */
struct _CleaveRegionNode
{
  CleaveNode *node; /* the node; NULL after it is replaced */
  const CleaveOp *op;
  guint n_results;
  /* constraint of the root from which the planner first reached the node */
  const CleaveConstraint *constraint;
  guint depth; /* number of nodes from a root to the node, both included */
  /* CleaveRange: the ranges into which the user or a search cuts this node, a root; NULL: the node
   * is not a root, so the demands of its readers decide its pieces */
  const GArray *root;
  gboolean is_passed;  /* the node is a view and gets no pieces */
  gboolean is_outside; /* the node is a root, or a reader outside the region needs all of it */
  guint n_demands, n_pieces;
  CleaveDemand *demands;
  CleavePiece *pieces;
  guint *covers;
  /* the node is cut into pieces; FALSE: the node stays whole, or is a view without pieces
   * (`is_passed`) */
  gboolean is_split;
  /* source of each operand of each piece, indexed by piece and operand. For a view with
   * `is_passed`: source of each demand, indexed by demand */
  CleaveSource *sources;
  /* indexed by piece and result: value of the piece's result; NULL until built */
  CleaveResult **values;
  CleaveResult **whole; /* indexed by result: join of the pieces; NULL: not needed */
  char *name;           /* name of the node, set when the node is removed */
};

/* A missed remark: a node that stays whole, and the reason. */
typedef struct
{
  const CleaveNode *node; /* the node, which may have been removed: the address is only compared */
  const CleaveOp *op;
  CleaveNotSplit reason;
  char *name, *message;
} CleaveMissed;

/* Limit on the number of nodes that a region may make. */
typedef struct
{
  gint64 max;
  /* units of work (work.h) that each node of the split graph takes from the search budget; 0: no
   * search */
  gint64 work_each;
} CleaveMadeLimit;

typedef struct
{
  CleaveGraph *graph;
  CleaveRecursion recursion;
  CleavePool *pool;   /* owner of the region nodes and of everything that they point to */
  GHashTable *ranges; /* CleaveRegionRange: each different range of the region, once */
  GPtrArray *order;   /* CleaveNode: topological order of all nodes, or of the nodes that the region
                         may contain */
  CleaveRegionNode **at; /* indexed by node id of the graph: region node; NULL: not reached */
  /* CleaveRegionNode: the nodes that are split, and the views that get no pieces (`is_passed`);
   * consumers first */
  GPtrArray *members;
  GPtrArray *missed; /* CleaveMissed: nodes that stay whole, consumers first */
  GString *why;      /* working memory: the reason why the current node is not split */
  GArray *strips;    /* CleaveStrip, indexed by chunk of the roots */
  guint n_bands;
  gboolean *wide; /* indexed by node id: rows of the node's result are recomputed for the next row
                     of tiles, not carried; NULL: all rows are carried */
  gint64 macs, added_macs;
  CleaveMadeLimit limit;
  gint64 n_made; /* estimated number of nodes that cleave_region_apply() will add to the graph */
  const CleaveRegionNode *widest; /* the region node with the most pieces */
  /* CleaveNode: joins of pieces whose readers must wait for the whole value, so Slices read the
   * join and not the pieces. cleave_region_apply() adds the joins of this region to the set. NULL:
   * Slices read the pieces where they can */
  GHashTable *stops;
} CleaveRegion;

/* A range that the region owns, and the last piece with this range. */
typedef struct
{
  CleaveRange range; /* first member, so that a pointer to the range is a pointer to this struct */
  const CleaveRegionNode *member; /* region node of the last piece with this range */
  guint piece;                    /* index of the last piece in `member->pieces` */
} CleaveRegionRange;

/* Returns the region's copy of a range. Adds a copy if there is none. */
static inline const CleaveRange *
cleave_region_get_range (CleaveRegion *region, const CleaveRange *range)
{
  CleaveRegionRange *own = g_hash_table_lookup (region->ranges, range);

  if (own == NULL)
    {
      own = cleave_pool_alloc (region->pool, sizeof *own);
      own->range = *range;
      g_hash_table_add (region->ranges, own);
    }
  return &own->range;
}

/* Plans a region without a limit on the number of nodes. Does not change the graph. Returns NULL
 * and sets the error if the graph has a cycle. */
CleaveRegion *cleave_region_plan (CleaveGraph *graph,
                                  const CleaveRoot *roots,
                                  guint n_roots,
                                  const CleaveRecursion *recursion,
                                  GError **error);
/* Plans a region as cleave_region_plan() does. Returns NULL and sets CLEAVE_ERROR_LIMIT if the
 * region would make more nodes than `limit` allows. */
CleaveRegion *cleave_region_plan_within (CleaveGraph *graph,
                                         const CleaveRoot *roots,
                                         guint n_roots,
                                         const CleaveRecursion *recursion,
                                         CleaveMadeLimit limit,
                                         GError **error);
/* Returns the plan of a region within the nodes of `order`, a topological order (CleaveNode); other
 * nodes stay whole. Takes ownership of `order`. Takes O(nodes of the order + node ids of the graph)
 * time. */
CleaveRegion *cleave_region_plan_among (CleaveGraph *graph,
                                        GPtrArray *order,
                                        const CleaveRoot *roots,
                                        guint n_roots,
                                        const CleaveRecursion *recursion);
void cleave_region_free (CleaveRegion *region);
/* Returns the plan of the pieces of a region node. Plans are not stored, since the plans of all
 * nodes would be most of a region's memory. Returns NULL, with the reason in `why`, if a piece is
 * not legal. */
CleavePlan *cleave_region_node_plan (const CleaveRegionNode *member, GString *why);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveRegion, cleave_region_free)
