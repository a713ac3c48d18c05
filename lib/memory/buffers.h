/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"
#include "../ir/pool.h"
#include "facts.h"
#include "memory-format.h"

/* Buffer assignment: where each value of a graph lies when the nodes run in a given order, and the
 * steps of that run.  A view lies in its operand's buffer, and so does what is broadcast, if its
 * readers can take that.  A part lies in the buffer of its join.  An element-wise op reuses the
 * buffer of an operand that dies.  The runtime and the peak of memory both come from here. */

#define CLEAVE_NEVER G_MAXUINT

typedef enum {
  CLEAVE_ASSIGNMENT_CONSTANT = 1 << 0,
  CLEAVE_ASSIGNMENT_INPUT = 1 << 1,
  CLEAVE_ASSIGNMENT_ALIASED = 1 << 2, /* read under another shape: its strides must not change */
  CLEAVE_ASSIGNMENT_MOVED = 1 << 3, /* it lies in another value's buffer, made later than itself */
  CLEAVE_ASSIGNMENT_BOX = 1 << 4,   /* a join that is a part of a later join, as its operands are:
                                 nothing is left to do */
  CLEAVE_ASSIGNMENT_MATERIALISED =
      1 << 5, /* a copy of a view, so that the rest of its operand may go */
  CLEAVE_ASSIGNMENT_OVERLAID = 1 << 6, /* moved to where a result will lie that is made of it row
                                    by row, and reaches beyond that */
  CLEAVE_ASSIGNMENT_LAPPED = 1 << 7    /* what is made while it dies lies over it, strip by strip */
} CleaveAssignmentFlags;

typedef struct
{
  CleaveResult *result;
  CleaveLocation location;
  CleaveAssignmentFlags flags;
  guint base; /* the value that this one is a view of, or itself: where that goes, it goes */
  guint last; /* of a base: last position that uses it or one of its views; the number of nodes: an
                 output */
  guint deadline;    /* of a base: position of the node that overwrites it, or CLEAVE_NEVER */
  guint whole, part; /* if it was moved as an operand of a join, or is staged until it is copied
                        into one: the result, and which operand */
  guint copied;      /* the step that does that, or CLEAVE_NEVER */
  guint ready;       /* the step after which it is complete, or CLEAVE_NEVER: it always is */
} CleaveAssignment;

typedef enum {
  CLEAVE_STEP_LOAD,    /* an input of the graph comes in, or a part of it */
  CLEAVE_STEP_COMPUTE, /* a node runs */
  CLEAVE_STEP_COPY,    /* an operand is copied into its join */
  CLEAVE_STEP_JOIN,    /* all parts of a join or an input are there: nothing to do but to wait for
                          them, which come right before it if they are copied or loaded */
  CLEAVE_STEP_STORE    /* an output of the graph goes out */
} CleaveStepKind;

typedef struct
{
  CleaveStepKind kind;
  CleaveNode *node; /* NULL: STORE */
  guint index;      /* of the input, operand or output */
  guint box;        /* LOAD, COPY: what comes, a box of the result */
} CleaveStep;

typedef struct
{
  guint value;       /* the root */
  gint64 n_bytes;    /* rounded up to CLEAVE_BUFFER_ALIGNMENT */
  guint first, last; /* steps that touch it */
} CleaveBuffer;

#define CLEAVE_BUFFER_ALIGNMENT 64

/* A step that touches what another writes over. */
typedef struct
{
  guint before, after;
} CleaveLapEdge;

/* Where a value lay before. */
typedef struct
{
  guint value, root;
  gint64 offset;
} CleaveLapMove;

typedef struct _CleaveOrderFacts CleaveOrderFacts; /* order-facts.h */

typedef struct
{
  CleaveOrderFacts *facts;    /* which it holds, and with it what comes before `assignments` */
  CleaveGraphFacts *of_graph; /* of its making: not afterwards */
  guint n_nodes, n_values;
  CleaveNode *const *nodes;        /* in order */
  const guint *position;           /* of each node in the order, by id */
  const guint *done;               /* likewise, after which joins alone read it, or CLEAVE_NEVER */
  const guint *first_value;        /* by position; n_nodes + 1 */
  const GPtrArray *joins;          /* CleaveNode, in order */
  const CleaveMemoryOrder *orders; /* in which what is computed with each value would have it; 0:
                                      any */
  CleaveAssignment *assignments;
  CleavePool *strides;  /* of their locations, where those are not of the facts */
  const gint64 *stride; /* the last of them */
  guint rank;           /* its dimensions */
  GArray *steps;        /* CleaveStep */
  GArray *boxes;        /* CleaveRange */
  GArray *buffers;      /* CleaveBuffer */
  guint *buffer;        /* index for each value that is a root */
  GArray *lap_edges;    /* CleaveLapEdge; NULL: none */
  GArray *lap_moves;    /* CleaveLapMove: likewise */
  gint64 *live;         /* the sum of bytes of buffers in use at each step */
  gint64 *live_apart;   /* the same before laps; NULL: there are none */
  gint64 copied_bytes, peak;
  gboolean materialises;  /* views that would hold a whole value for a few rows are copies */
  const gboolean *staged; /* of each value: it has its own buffer until it is copied; NULL: none */
  const gboolean *overlaid; /* of each position: the node's result lies over an operand; NULL: none
                             */
} CleaveStorage;

/* `order` has every node of the graph. */
CleaveStorage *cleave_storage_new (const CleaveGraph *graph, const GPtrArray *order);
/* The same, but that nothing is tried to bring the peak down where it is more than so many bytes.
 */
CleaveStorage *cleave_storage_new_within (const CleaveGraph *graph,
                                          CleaveGraphFacts *facts,
                                          const GPtrArray *order,
                                          gint64 hopeless);
/* For an order that was made of another one: what is materialised there is so here. */
CleaveStorage *cleave_storage_new_like (const CleaveGraph *graph,
                                        CleaveGraphFacts *facts,
                                        const GPtrArray *order,
                                        const CleaveStorage *like);
/* As another of the same order, but that no part waits in the memory of a much larger whole,
 * whatever the peak; NULL: none does. */
CleaveStorage *cleave_storage_new_staged (const CleaveGraph *graph,
                                          const GPtrArray *order,
                                          const CleaveStorage *like);
void cleave_storage_free (CleaveStorage *storage);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveStorage, cleave_storage_free)

/* The largest sum of bytes of buffers that are in use at once, if the steps run one after the
 * other. */
static inline gint64
cleave_storage_get_peak (const CleaveStorage *storage)
{
  return storage->peak;
}

/* The sum of bytes of buffers while each node runs, in the order; 0 for nodes that have no step. */
gint64 *cleave_storage_get_live (const CleaveStorage *storage);

static inline guint
cleave_storage_position (const CleaveStorage *storage, const CleaveNode *node)
{
  return storage->position[node->id];
}

/* The first of a node's results. */
static inline guint
cleave_storage_first_value (const CleaveStorage *storage, const CleaveNode *node)
{
  return storage->first_value[cleave_storage_position (storage, node)];
}

static inline CleaveAssignment *
cleave_storage_assignment (const CleaveStorage *storage, const CleaveResult *result)
{
  return &storage->assignments[cleave_storage_first_value (storage, result->node) + result->index];
}

/* What each operand of a join is of it, while the storage is made. */
static inline const CleaveJoinFacts *
cleave_storage_join_facts (const CleaveStorage *storage, const CleaveNode *join)
{
  return cleave_graph_facts_of_join (storage->of_graph, join);
}

/* Whether a value has so small a part of the buffer it lies in that the rest had better not be
 * there for it alone. */
static inline gboolean
cleave_storage_is_small_part (const CleaveStorage *storage, const CleaveAssignment *assignment)
{
  const CleaveAssignment *root = &storage->assignments[assignment->location.root];

  return cleave_tensor_type_n_bytes (&root->result->type) >
         2 * cleave_tensor_type_n_bytes (&assignment->result->type);
}

/* Calls `visit` for each value that a step reads, and for the result of each that it writes. */
typedef void (*CleaveStepVisit) (const CleaveAssignment *assignment,
                                 gboolean writes,
                                 gpointer data);
void cleave_storage_visit (const CleaveStorage *storage,
                           const CleaveGraph *graph,
                           const CleaveStep *step,
                           CleaveStepVisit visit,
                           gpointer data);

/* deferred-copies.c: notes in `staged`, which is made if it is NULL, which parts occupy the memory
 * of a much larger whole when memory is at its peak; FALSE: none that is not noted yet. */
gboolean cleave_storage_find_staged (const CleaveStorage *storage, gboolean **staged);
/* Likewise, wherever they do so for long. */
gboolean cleave_storage_find_waiting (const CleaveStorage *storage, gboolean **staged);
/* Likewise which parts lie in windows that have others of them in common. */
gboolean cleave_storage_find_windows (const CleaveStorage *storage, gboolean **staged);

/* No more parts can bring the peak below this: as if what those of `staged` lie in that are not in
 * `before`, or NULL, were not there. */
gint64 cleave_storage_bound_staged (const CleaveStorage *storage,
                                    const gboolean *before,
                                    const gboolean *staged);

/* overlays.c: notes in `overlaid`, likewise, which nodes could lay their result over an operand
 * while memory is at its peak; FALSE, too, if it stays there at some step. */
gboolean cleave_storage_find_overlays (const CleaveStorage *storage, gboolean **overlaid);
/* Lays it there, if nothing stands against it. */
void cleave_storage_overlay (CleaveStorage *storage, const CleaveNode *node);
/* Whether a node's result lies over an operand. */
gboolean cleave_storage_is_overlaid (const CleaveStorage *storage, const CleaveNode *node);

/* laps.c: lets what is made strip by strip lie over what dies meanwhile, where most memory is in
 * use.  Once: nothing may be asked for that depends on buffers before. */
void cleave_storage_lap (CleaveStorage *storage, const CleaveGraph *graph);
/* Takes it back. */
void cleave_storage_unlap (CleaveStorage *storage, const CleaveGraph *graph);

static inline gboolean
cleave_storage_is_lapped (const CleaveStorage *storage)
{
  return storage->lap_edges != NULL;
}

/* steps.c: fills steps, boxes, buffers and the peak, once the assignments are settled. */
void cleave_storage_add_steps (CleaveStorage *storage, const CleaveGraph *graph);
/* The buffers and the peak again, once values have moved. */
void cleave_storage_measure (CleaveStorage *storage, const CleaveGraph *graph);
