/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/pool.h"

#include "root.h"

typedef struct _CleaveRegionNode CleaveRegionNode;

/* What someone in the region asks of a node: a range of one of its results, for the sake of one
 * chunk of a node where the region begins. */
typedef struct
{
  guint k; /* that chunk */
  guint result;
  const CleaveRange *range;
  const CleaveRange *chunk; /* of result 0 that comes with it */
  guint first, n;           /* of `covers`: the pieces that together have it */
  const CleaveNode *reader; /* who asks first: operand of a piece */
  guint reader_piece, reader_operand;
  CleaveResult *value; /* once it is built */
  guint wider;         /* the demand on the same pieces that has all of this, or itself */
} CleaveDemand;

/* What a piece reads: a demand on a node of the region, or else a range of a value that stays as it
 * is. */
typedef struct
{
  CleaveRegionNode *member;
  guint demand;
  const CleaveRange *range;
} CleaveSource;

typedef struct
{
  guint k;
  const CleaveRange *range; /* of result 0 */
} CleavePiece;

/* A chunk as a strip.  Those of a band use each other's pieces: each strip makes what none of an
 * earlier one in the sequence has made. */
typedef struct
{
  guint band, sequence; /* when its turn comes, in all bands alike */
  guint row;            /* the tiles of one strip have one, which no other has */
} CleaveStrip;

/* A node that a region reaches. */
struct _CleaveRegionNode
{
  CleaveNode *node; /* NULL once it is replaced */
  const CleaveOp *op;
  guint n_results;
  const CleaveConstraint *constraint; /* of the first request that reaches it */
  guint depth;                        /* 1: the region begins here */
  const GArray *root;  /* CleaveRange: what it is cut into, whatever others need; NULL: the region
                           only reaches it */
  gboolean is_passed;  /* a view: what is needed of it is needed of its operand */
  gboolean is_outside; /* something reads it whole */
  guint n_demands, n_pieces;
  CleaveDemand *demands;
  CleavePiece *pieces;
  guint *covers;
  gboolean is_split;     /* into its pieces; else it stays whole, or is passed */
  CleaveSource *sources; /* of each operand of each piece; if passed, of each demand */
  CleaveResult **values; /* n_results of each piece, once built */
  CleaveResult **whole;  /* each result put together, once built; NULL: that is not wanted */
  char *name;            /* that the node had; set when it is gone */
};

/* A node that stays whole, and why: a missed remark. */
typedef struct
{
  const CleaveNode *node; /* by its address alone: it may be gone */
  const CleaveOp *op;
  CleaveNotSplit reason;
  char *name, *message;
} CleaveMissed;

/* How many nodes a region may make. */
typedef struct
{
  gint64 max;
  gint64 work_each; /* units of a search's budget that allow one more; 0: there is no search */
} CleaveMadeLimit;

typedef struct
{
  CleaveGraph *graph;
  CleaveRecursion recursion;
  CleavePool *pool;      /* holds its nodes, and all that they hold */
  GHashTable *ranges;    /* CleaveRegionRange: each that something in the region asks for, once */
  GPtrArray *order;      /* all nodes, or all that may be in it */
  CleaveRegionNode **at; /* of each node of the graph, by its id, or NULL */
  GPtrArray *members;    /* those that are split or passed, last first */
  GPtrArray *missed;     /* CleaveMissed, likewise */
  GString *why;          /* what stands against the split of the node at hand */
  GArray *strips;        /* CleaveStrip: of each chunk */
  guint n_bands;
  gboolean *wide; /* of each node, by its id: strips keep nothing of its result for the next row of
                     tiles; NULL: of none */
  gint64 macs, added_macs;
  CleaveMadeLimit limit;
  gint64 n_made;                  /* nodes that it makes as it is applied */
  const CleaveRegionNode *widest; /* of its nodes, the one that becomes most pieces */
  GHashTable *stops; /* CleaveNode: values that nothing reads past, so that what others make of them
                        comes after all of it; what is put together is added.  NULL: none are kept,
                        and readers read pieces where they can */
} CleaveRegion;

/* A range of the region's own. */
typedef struct
{
  CleaveRange range;              /* first, so that a range can be cast back */
  const CleaveRegionNode *member; /* that was last cut into it, */
  guint piece;                    /* and the piece */
} CleaveRegionRange;

/* The region's own range that equals this one. */
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

/* Plans a region that may make any number of nodes; changes nothing.  NULL if the graph has a
 * cycle. */
CleaveRegion *cleave_region_plan (CleaveGraph *graph,
                                  const CleaveRoot *roots,
                                  guint n_roots,
                                  const CleaveRecursion *recursion,
                                  GError **error);
/* Plans a region that makes a limited number of nodes; fails with CLEAVE_ERROR_LIMIT if it would
 * make more. */
CleaveRegion *cleave_region_plan_within (CleaveGraph *graph,
                                         const CleaveRoot *roots,
                                         guint n_roots,
                                         const CleaveRecursion *recursion,
                                         CleaveMadeLimit limit,
                                         GError **error);
/* Plans a region inside some nodes, which are in an order, each after those that it reads.  Others
 * stay whole.  Takes the order.  Cost: O(nodes of the order + ids of the graph). */
CleaveRegion *cleave_region_plan_among (CleaveGraph *graph,
                                        GPtrArray *order,
                                        const CleaveRoot *roots,
                                        guint n_roots,
                                        const CleaveRecursion *recursion);
void cleave_region_free (CleaveRegion *region);
/* The plan of a node's pieces.  It is made where it is needed: those of all nodes would be most of
 * what a region takes. */
CleavePlan *cleave_region_node_plan (const CleaveRegionNode *member, GString *why);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveRegion, cleave_region_free)
