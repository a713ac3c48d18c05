/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/pool.h"

#include "root.h"

/* The region of a split: the nodes that it reaches, the demands on each, and the pieces that each
 * becomes.  A plan, until apply.h builds it.
 *
 * The planner walks from the roots towards the inputs.  Example: two chunks of a 3x3 convolution
 * demand 5 rows each of its producer, which then has 5-row pieces that overlap (recompute), or one
 * piece of 5 rows and one of 3 (carry).
 *
 *       producer    demands: rows [0, 5) and [3, 8)
 *          |
 *       3x3 Conv    root, chunks: rows [0, 4) and [4, 8) */

typedef struct _CleaveRegionNode CleaveRegionNode;

/* A demand of a piece of a reader: a range of one of the node's results, needed for chunk `k` of a
 * root. */
typedef struct
{
  guint k; /* index of the chunk of the root */
  guint result;
  const CleaveRange *range;
  const CleaveRange *chunk; /* the range of result 0 that is computed with `range` */
  guint first, n;           /* span of `covers`: the pieces that together hold the range */
  const CleaveNode *reader; /* the first reader: an operand of one of its pieces */
  guint reader_piece, reader_operand;
  CleaveResult *value; /* the value of the range; NULL until it is built */
  guint wider; /* index of a demand that contains this one and reads the same pieces; its own index
                * if there is none */
} CleaveDemand;

/* An operand of a piece: a demand on a node of the region (`member`), or else a range of a value
 * outside the region. */
typedef struct
{
  CleaveRegionNode *member;
  guint demand;
  const CleaveRange *range;
} CleaveSource;

typedef struct
{
  guint k;
  const CleaveRange *range; /* a range of result 0 */
} CleavePiece;

/* A chunk as a strip. In a band, each strip reads pieces of strips earlier in the sequence and
 * computes only rows that they did not compute. Strips with the same `sequence` run at the same
 * time (halo policy exchange). */
typedef struct
{
  guint band, sequence; /* `sequence`: position in the order of strips */
  guint row; /* index of the row of tiles: equal for the tiles of one strip, different between
                strips */
} CleaveStrip;

/* A node that the region reaches.  Afterwards it is split, passed (a view), or whole. */
struct _CleaveRegionNode
{
  CleaveNode *node; /* NULL once it is replaced */
  const CleaveOp *op;
  guint n_results;
  const CleaveConstraint *constraint; /* constraint of the first request that reaches it */
  guint depth;                        /* distance from a root, in nodes; a root has 1 */
  const GArray *root;  /* CleaveRange: the ranges of a root, from its request; NULL: the node is no
                          root, so its readers decide */
  gboolean is_passed;  /* a view: demands on it are demands on its operand */
  gboolean is_outside; /* the node is a root, or a reader outside the region needs all of it */
  guint n_demands, n_pieces;
  CleaveDemand *demands;
  CleavePiece *pieces;
  guint *covers;
  gboolean is_split;     /* the node is cut into pieces; if not, it stays whole or is passed */
  CleaveSource *sources; /* indexed by piece and operand; for a passed view, by demand */
  CleaveResult **values; /* indexed by piece and result; NULL until built */
  CleaveResult **whole;  /* join of the pieces of each result; NULL: not needed */
  char *name;            /* name of the node, set when it is removed */
};

/* A missed remark: a node that stays whole, and the reason. */
typedef struct
{
  const CleaveNode *node; /* the address is only compared, since the node may have been removed */
  const CleaveOp *op;
  CleaveNotSplit reason;
  char *name, *message;
} CleaveMissed;

/* The largest number of nodes that a region may make. */
typedef struct
{
  gint64 max;
  gint64 work_each; /* units of the search budget for each further node; 0: no search */
} CleaveMadeLimit;

typedef struct
{
  CleaveGraph *graph;
  CleaveRecursion recursion;
  CleavePool *pool;      /* owns the region nodes and all that they point to */
  GHashTable *ranges;    /* CleaveRegionRange: each distinct range of the region, once */
  GPtrArray *order;      /* topological order of all nodes, or of those that may be in the region */
  CleaveRegionNode **at; /* region node of each graph node, by id, or NULL */
  GPtrArray *members;    /* CleaveRegionNode: the nodes that are split or passed, consumers first */
  GPtrArray *missed;     /* CleaveMissed: nodes that stay whole, consumers first */
  GString *why;          /* buffer for the reason why the current node is not split */
  GArray *strips;        /* CleaveStrip, by chunk index */
  guint n_bands;
  gboolean *wide; /* indexed by node id: its rows are computed again for the next row of tiles, not
                     carried; NULL: all rows are carried */
  gint64 macs, added_macs;
  CleaveMadeLimit limit;
  gint64 n_made;                  /* nodes that applying the region makes, estimated */
  const CleaveRegionNode *widest; /* the region node with the most pieces */
  GHashTable *stops; /* CleaveNode: joins that Slices do not read past, so that readers wait for the
                        whole value; applying the region adds its joins.  NULL: none, and Slices
                        read the pieces where they can */
} CleaveRegion;

/* A distinct range of the region, and the last piece with this range. */
typedef struct
{
  CleaveRange range; /* first member, so that a pointer to the range is a pointer to this struct */
  const CleaveRegionNode *member; /* region node of that piece */
  guint piece;                    /* index of the piece in `member->pieces` */
} CleaveRegionRange;

/* Returns the region's copy of a range; adds one if there is none. */
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

/* Plans a region without a limit on the number of nodes.  The graph is not changed.  Returns NULL
 * with the error if the graph has a cycle. */
CleaveRegion *cleave_region_plan (CleaveGraph *graph,
                                  const CleaveRoot *roots,
                                  guint n_roots,
                                  const CleaveRecursion *recursion,
                                  GError **error);
/* Plans a region like cleave_region_plan(), but fails with CLEAVE_ERROR_LIMIT if the region would
 * make more nodes than `limit` says. */
CleaveRegion *cleave_region_plan_within (CleaveGraph *graph,
                                         const CleaveRoot *roots,
                                         guint n_roots,
                                         const CleaveRecursion *recursion,
                                         CleaveMadeLimit limit,
                                         GError **error);
/* Plans a region inside the nodes of `order`, a topological order; other nodes stay whole.  Takes
 * ownership of `order`.  Cost: O(nodes of the order + ids of the graph). */
CleaveRegion *cleave_region_plan_among (CleaveGraph *graph,
                                        GPtrArray *order,
                                        const CleaveRoot *roots,
                                        guint n_roots,
                                        const CleaveRecursion *recursion);
void cleave_region_free (CleaveRegion *region);
/* Makes the plan of the pieces of a region node. Plans are not stored: the plans of all nodes would
 * be most of the memory of a region. NULL, with the reason in `why`, if a piece is not legal. */
CleavePlan *cleave_region_node_plan (const CleaveRegionNode *member, GString *why);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveRegion, cleave_region_free)
