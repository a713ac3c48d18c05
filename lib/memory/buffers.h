/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"
#include "../ir/pool.h"
#include "facts.h"
#include "fragments.h"
#include "memory-format.h"

/* Buffer assignment: decides where each value of a graph is stored during a run with a given order
 * of nodes, and lists the steps of that run. The runtime and the estimate of peak memory use the
 * result.
 *
 * A view shares its operand's buffer. A broadcast whose readers all read by strides also shares its
 * operand's buffer. An operand of a join (Assemble, Concat) is written straight into the join's
 * buffer. An element-wise op overwrites an operand that no later node reads. Every other value has
 * a buffer of its own.
 *
 * Example: for x -> Conv -> y -> Relu -> z, y and z share one buffer and x has another. */

#define CLEAVE_NEVER G_MAXUINT

typedef enum {
  CLEAVE_ASSIGNMENT_CONSTANT = 1 << 0,
  CLEAVE_ASSIGNMENT_INPUT = 1 << 1,
  CLEAVE_ASSIGNMENT_ALIASED =
      1 << 2, /* another value, such as the result of a Reshape, has the same bytes as this value
               * but another shape. So the strides of this value must not change */
  CLEAVE_ASSIGNMENT_MOVED = 1 << 3, /* stored in the buffer of a value that is computed later */
  CLEAVE_ASSIGNMENT_INNER_JOIN =
      1 << 4, /* a join whose operands all lie in the buffer of a later join, at the same relative
               * positions; this join copies nothing */
  CLEAVE_ASSIGNMENT_MATERIALIZED = 1 << 5, /* a view that is copied to its own buffer, so that the
                                            * buffer of its operand can be reused */
  CLEAVE_ASSIGNMENT_OVERLAID = 1 << 6, /* moved into the buffer of the result that a node computes
                                        * from this value row by row; the result may be smaller than
                                        * this value */
  CLEAVE_ASSIGNMENT_LAPPED = 1 << 7    /* this value was moved into the buffer of another value,
                                        * which is computed strip by strip. Each strip overwrites
                                        * rows of this value that were read for the last time */
} CleaveAssignmentFlags;

typedef struct
{
  CleaveResult *result;
  CleaveLocation location;
  CleaveAssignmentFlags flags;
  guint base; /* index of the value that this value is a view of; the index of this value if it is
               * no view. A view moves together with its base */
  guint last; /* for a base: last position of a node that reads the base or a view of it; n_nodes
               * for an output */
  guint deadline;    /* for a base: position of the node that overwrites the base; CLEAVE_NEVER: no
                      * node overwrites it */
  guint whole, part; /* for a value that is stored in the buffer of a join, or copied into it: index
                      * of the join's result, and index of the operand of the join */
  guint copied;      /* index of the step that copies a staged operand; CLEAVE_NEVER: none */
  guint ready;       /* index of the step that completes the value; CLEAVE_NEVER: complete before
                      * the run */
} CleaveAssignment;

typedef enum {
  CLEAVE_STEP_LOAD,    /* reads an input of the graph, or one box of it */
  CLEAVE_STEP_COMPUTE, /* runs a node */
  CLEAVE_STEP_COPY,    /* copies an operand, or one box of it, into its join */
  CLEAVE_STEP_JOIN,    /* marks that all parts of a join or of an input are complete; takes no time;
                        * the COPY and LOAD steps of the parts come right before it */
  CLEAVE_STEP_STORE    /* delivers an output of the graph */
} CleaveStepKind;

typedef struct
{
  CleaveStepKind kind;
  CleaveNode *node; /* the node of the step; NULL for STORE */
  guint index;      /* LOAD: index of the input; COPY: index of the operand; STORE: index of the
                     * output */
  guint box;        /* LOAD, COPY: index in `boxes` of the box that the step writes */
} CleaveStep;

typedef struct
{
  guint value;       /* index of the root, the value for which the buffer was made */
  gint64 n_bytes;    /* size, rounded up to a multiple of CLEAVE_BUFFER_ALIGNMENT */
  guint first, last; /* indices of the first and the last step that reads or writes the buffer */
} CleaveBuffer;

#define CLEAVE_BUFFER_ALIGNMENT 64

/* Two steps that must keep their order because of a lap. Step `after` overwrites memory that step
 * `before` reads or writes, so `after` must run later. */
typedef struct
{
  guint before, after;
} CleaveLapEdge;

/* The root and the offset, in elements, that a value had before cleave_storage_lap() moved it. */
typedef struct
{
  guint value, root;
  gint64 offset;
} CleaveLapMove;

typedef struct _CleaveOrderFacts CleaveOrderFacts; /* properties of one order of nodes
                                                    * (order-facts.h) */

typedef struct
{
  CleaveOrderFacts *facts;    /* the order of the nodes and data about this order (a counted
                               * reference). The arrays `nodes`, `position`, `done`, `first_value`,
                               * `joins` and `orders` below belong to `facts` */
  CleaveGraphFacts *of_graph; /* facts of the graph; borrowed, and valid only until the function
                               * that makes this storage returns */
  guint n_nodes, n_values;
  CleaveNode *const *nodes; /* nodes in the order in which they run */
  const guint *position;    /* indexed by node id: position in `nodes` */
  const guint *done; /* indexed by node id: position after which all remaining readers of the result
                      * are views that only joins read; CLEAVE_NEVER: no such position. NULL: no
                      * node has such a position */
  /* indexed by position: index of the node's first result among all values; n_nodes + 1 entries */
  const guint *first_value;
  const GPtrArray *joins;          /* CleaveNode: all joins, in the order in which they run */
  const CleaveMemoryOrder *orders; /* indexed by value: preferred memory order; 0: any */
  CleaveAssignment *assignments;
  CleavePool *strides;  /* strides of all locations that `facts` does not hold */
  const gint64 *stride; /* strides of the location that was added last; the next location shares
                         * this array if its strides are equal */
  guint rank;           /* number of dimensions of `stride` */
  GArray *steps;        /* CleaveStep: loads, nodes, copies and stores, in the order of a run */
  GArray *boxes;        /* CleaveRange: the boxes that LOAD and COPY steps write */
  GArray *buffers;      /* CleaveBuffer: memory of one value, or of values that alias */
  guint *buffer; /* indexed by value: index in `buffers` of the buffer that was made for the value;
                  * CLEAVE_NEVER: no buffer was made for the value, or no step uses the buffer */
  GArray *lap_edges; /* CleaveLapEdge: pairs of steps that must keep their order because of laps;
                      * NULL: there are no laps */
  GArray *lap_moves; /* CleaveLapMove: values that laps moved; NULL: there are no laps */
  GArray *members;   /* CleaveLapMember: the members of all buffers with laps; NULL: there are no
                      * laps */
  guint *member; /* indexed by value: index of the member in `members`; CLEAVE_NEVER: none. NULL:
                  * there are no laps */
  GArray *fragments; /* CleaveFragment: the fragments of all buffers with laps, sorted by buffer;
                      * NULL: there are no laps */
  gint64 *live;      /* indexed by step: bytes of all buffers in use */
  gint64 *live_before_laps; /* indexed by step: bytes in use before laps were made; NULL: there are
                             * no laps */
  gint64 copied_bytes, peak;
  gboolean materializes;    /* whether views are copied (materialized.h) if their operands can then
                             * be freed earlier */
  const gboolean *staged;   /* indexed by value: whether the value is staged: stored outside of its
                             * join until it is copied; NULL: no value is staged */
  const gboolean *overlaid; /* indexed by position: whether the result overlays an operand; NULL: no
                             * result overlays an operand */
} CleaveStorage;

/* Assigns buffers for `order`, which has every node of the graph. Materializes views, stages parts
 * and overlays results if that lowers the peak. */
CleaveStorage *cleave_storage_new (const CleaveGraph *graph, const GPtrArray *order);
/* Assigns buffers as cleave_storage_new() does. The first assignment has no copied and no staged
 * values. If its peak is above `cutoff` bytes, returns the first assignment and does not try to
 * lower the peak. */
CleaveStorage *cleave_storage_new_within (const CleaveGraph *graph,
                                          CleaveGraphFacts *facts,
                                          const GPtrArray *order,
                                          gint64 cutoff);
/* Assigns buffers for an order that was derived from the order of the storage `like`. Copies views
 * to save memory only if `like` does so. */
CleaveStorage *cleave_storage_new_like (const CleaveGraph *graph,
                                        CleaveGraphFacts *facts,
                                        const GPtrArray *order,
                                        const CleaveStorage *like);
/* Assigns buffers for `order`, the order of the storage `like`. Stages each operand that keeps the
 * buffer of a much larger join in use for a long time in `like`, even if staging raises the peak.
 * Returns NULL if `like` has no such operand. */
CleaveStorage *cleave_storage_new_staged (const CleaveGraph *graph,
                                          const GPtrArray *order,
                                          const CleaveStorage *like);
void cleave_storage_free (CleaveStorage *storage);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveStorage, cleave_storage_free)

/* Returns the peak in bytes: the largest sum of buffers in use at once if the steps run one after
 * the other. */
static inline gint64
cleave_storage_get_peak (const CleaveStorage *storage)
{
  return storage->peak;
}

/* Returns an array indexed by position: bytes of all buffers in use while the node runs; 0 for
 * nodes without a step. The caller frees the array. */
gint64 *cleave_storage_get_live (const CleaveStorage *storage);

static inline guint
cleave_storage_position (const CleaveStorage *storage, const CleaveNode *node)
{
  return storage->position[node->id];
}

/* Returns the index of a node's first result among all values. */
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

/* Returns the ranges of a join's result that the operands fill. Reads `storage->of_graph`, which is
 * valid only while a function makes `storage`; so only such a function may call this function. */
static inline const CleaveJoinFacts *
cleave_storage_join_facts (const CleaveStorage *storage, const CleaveNode *join)
{
  return cleave_graph_facts_of_join (storage->of_graph, join);
}

/* Returns whether a value fills less than half of its buffer. Keeping the buffer for this value
 * alone would waste memory. */
static inline gboolean
cleave_storage_is_small_part (const CleaveStorage *storage, const CleaveAssignment *assignment)
{
  const CleaveAssignment *root = &storage->assignments[assignment->location.root];

  return cleave_tensor_type_n_bytes (&root->result->type) >
         2 * cleave_tensor_type_n_bytes (&assignment->result->type);
}

/* Callback of cleave_storage_visit(), called for each value that a step reads and for each result
 * that the step writes. */
typedef void (*CleaveStepVisit) (const CleaveAssignment *assignment,
                                 gboolean writes,
                                 gpointer data);
void cleave_storage_visit (const CleaveStorage *storage,
                           const CleaveGraph *graph,
                           const CleaveStep *step,
                           CleaveStepVisit visit,
                           gpointer data);

/* Marks in `staged` the operands that occupy the buffer of a much larger join while memory use is
 * near its peak (deferred-copies.c). Allocates `staged` if it is NULL. Returns FALSE if the
 * function marks no further operand, or if staging would save less than 5 % of the peak. */
gboolean cleave_storage_find_staged (const CleaveStorage *storage, gboolean **staged);
/* Works as cleave_storage_find_staged() does, but examines all steps, not only the steps near the
 * peak. */
gboolean cleave_storage_find_waiting (const CleaveStorage *storage, gboolean **staged);
/* Marks in `staged` the operands that several joins share. Such joins are, for example, overlapping
 * windows of an image. Returns FALSE if the function marks no further operand. */
gboolean cleave_storage_find_windows (const CleaveStorage *storage, gboolean **staged);

/* Returns a lower bound, in bytes, for the peak if the operands in `staged` were staged. `before`
 * has the operands that `storage` stages now; NULL: none. The bound is the peak of `storage`
 * without the buffers of the operands that are in `staged` and not in `before`. */
gint64 cleave_storage_bound_staged (const CleaveStorage *storage,
                                    const gboolean *before,
                                    const gboolean *staged);

/* Finds the steps at which memory use equals the peak. Marks their nodes in `overlaid`, if the
 * results can overlay an operand (overlays.c). Allocates `overlaid` if it is NULL. Returns FALSE if
 * one of these steps has no result that can overlay an operand. */
gboolean cleave_storage_find_overlays (const CleaveStorage *storage, gboolean **overlaid);
/* Moves one operand of a node into the buffer of the node's result, if the result can overlay the
 * operand. */
void cleave_storage_overlay (CleaveStorage *storage, const CleaveNode *node);
/* Returns whether a node's result overlays an operand. */
gboolean cleave_storage_is_overlaid (const CleaveStorage *storage, const CleaveNode *node);

/* Lets a value that is computed strip by strip share memory with a value that dies meanwhile. Makes
 * such laps only where memory use is high (laps.c). Makes the array `buffers` again, so call this
 * function before other code uses that array. Between two calls, call cleave_storage_unlap(). */
void cleave_storage_lap (CleaveStorage *storage, const CleaveGraph *graph);
/* Moves the values back to the buffers that they had before cleave_storage_lap(), and makes the
 * array `buffers` again. */
void cleave_storage_unlap (CleaveStorage *storage, const CleaveGraph *graph);

static inline gboolean
cleave_storage_is_lapped (const CleaveStorage *storage)
{
  return storage->lap_edges != NULL;
}

/* Returns the index in `fragments` after the fragments of a buffer. `begin`: the index after the
 * fragments of all buffers before it. Returns `begin` if the buffer has no fragments. */
static inline guint
cleave_storage_end_fragments (const CleaveStorage *storage, guint begin, guint buffer)
{
  while (storage->fragments != NULL && begin < storage->fragments->len &&
         g_array_index (storage->fragments, CleaveFragment, begin).buffer == buffer)
    begin++;
  return begin;
}

/* Fills the arrays of steps, boxes and buffers, and the peak, from the final assignments
 * (steps.c, live-bytes.c). */
void cleave_storage_add_steps (CleaveStorage *storage, const CleaveGraph *graph);
/* Recomputes the buffers, their fragments, and the peak after values have moved. */
void cleave_storage_measure (CleaveStorage *storage, const CleaveGraph *graph);
