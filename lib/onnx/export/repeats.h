/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export.h"

/* Runs of nodes of a file that repeat: turns of nodes that do the same, each with the next rows. */

#define CLEAVE_NO_VALUE G_MAXUINT

/* In which order nodes of a file are looked at: right before what reads them first, from the
 * outputs up; or as they stand, but for what takes values apart and puts them together.  In the
 * first, what else strips give stands where that is read, behind all strips; in the second, strips
 * follow each other only where the graph's nodes do. */
typedef enum { CLEAVE_ONNX_AS_READ, CLEAVE_ONNX_AS_THEY_STAND } CleaveOnnxOrder;

/* The nodes of a file, each after what it reads, and what they read. */
typedef struct
{
  CleaveOnnxExport *export;
  Onnx__NodeProto **nodes;
  guint n_nodes;
  GHashTable *ids;             /* of each name, its value plus 1 */
  GPtrArray *names;            /* of each value */
  GPtrArray *constants;        /* Onnx__TensorProto of each value, NULL: it is none */
  GArray *makers;              /* guint: of each value the node; CLEAVE_NO_VALUE: none */
  guint *first_input, *inputs; /* of each node, values; CLEAVE_NO_VALUE: absent */
  guint *first_use, *uses;     /* of each value, the nodes that read it */
  CleaveTensorType *types;     /* of each value; element 0 and rank 0 where it is not known */
  gboolean *is_known;
  guint *kinds; /* equal for nodes that do the same, rows apart */
} CleaveOnnxList;

/* What an operand of a turn is. */
typedef struct
{
  gboolean is_made; /* by this turn or one before; else it is what all turns read */
  guint node;       /* position in the turn */
  guint result;
  guint lag; /* turns before; 0: the same turn */
} CleaveOnnxRelation;

/* A result of a turn that later turns read. */
typedef struct
{
  guint node, result, lag; /* lag: how many turns later at most */
  guint first[8];          /* of each lag from 1, the value that the first turn reads */
} CleaveOnnxState;

#define CLEAVE_ONNX_MAX_LAG 8

/* A result of all turns that a Concat after them puts together. */
typedef struct
{
  guint node, result;
  guint reader; /* the Concat */
  guint input;  /* where in it the first turn's is */
} CleaveOnnxStack;

typedef struct
{
  guint begin, period, n_turns;
  GArray *states; /* CleaveOnnxState */
  GArray *stacks; /* CleaveOnnxStack */
} CleaveOnnxRepeat;

void cleave_onnx_repeat_free (CleaveOnnxRepeat *repeat);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxRepeat, cleave_onnx_repeat_free)

/* FALSE: a node has graphs within it. */
gboolean
cleave_onnx_list_init (CleaveOnnxList *list, CleaveOnnxExport *export, CleaveOnnxOrder order);
void cleave_onnx_list_clear (CleaveOnnxList *list);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxList, cleave_onnx_list_clear)

/* Begins of a Slice's range, if constants say them; NULL: it is no such node. */
const gint64 *cleave_onnx_list_begins (const CleaveOnnxList *list, guint node, guint *n);
CleaveOnnxRelation cleave_onnx_list_relate (const CleaveOnnxList *list,
                                            const CleaveOnnxRepeat *repeat,
                                            guint node,
                                            guint input);
static inline guint
cleave_onnx_list_n_inputs (const CleaveOnnxList *list, guint node)
{
  return list->first_input[node + 1] - list->first_input[node];
}
static inline guint
cleave_onnx_list_input (const CleaveOnnxList *list, guint node, guint input)
{
  return list->inputs[list->first_input[node] + input];
}
guint cleave_onnx_list_value (const CleaveOnnxList *list, const char *name);

/* The node behind the last turn. */
guint cleave_onnx_repeat_end (const CleaveOnnxRepeat *repeat);
/* Whether the nodes are turns; fills in what they carry. */
gboolean cleave_onnx_check_turns (const CleaveOnnxList *list, CleaveOnnxRepeat *repeat);
/* Whether others read no more of turns than a loop can give; fills in what they stack. */
gboolean cleave_onnx_check_readers (const CleaveOnnxList *list, CleaveOnnxRepeat *repeat);
/* CleaveOnnxRepeat, in order, none of them overlapping. */
GPtrArray *cleave_onnx_find_repeats (const CleaveOnnxList *list);

/* Writes the Loop that stands for all turns, and what puts together what they give. */
void cleave_onnx_write_loop (CleaveOnnxExport *export,
                             const CleaveOnnxList *list,
                             const CleaveOnnxRepeat *repeat);
