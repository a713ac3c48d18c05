/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

#define CLEAVE_FIT_NONE G_MAXUINT

/* What an operand needs of a value, as the maps of its node say. */
typedef struct
{
  guint value; /* CLEAVE_FIT_NONE: none that is made while the graph runs */
  CleaveDimMap map[CLEAVE_MAX_RANK];
} CleaveFitOperand;

/* A node of the graph as it is. */
typedef struct
{
  CleaveNode *node;
  guint step;
  guint first_operand, n_operands;
  guint first_value, n_values;
  gint64 macs;
  double again;  /* nanoseconds: to read its weights once more */
  double begin;  /* nanoseconds: of each piece, before it computes anything */
  gint channels; /* the dimension of result 0 along which weights differ; -1: there are no MACs */
  gboolean is_view; /* each result is a part of its operand: what is needed of it is needed there */
  gboolean can_split;
  gboolean is_wide;  /* as cleave_find_wide() has it */
  gboolean is_again; /* done again where strips overlap, whatever the halo: bytes become floats */
} CleaveFitNode;

typedef struct
{
  const CleaveResult *result;
  guint node;
  guint buffer;        /* CLEAVE_FIT_NONE: it is never there whole */
  gboolean is_part;    /* of what the buffer holds */
  gint last_read;      /* the last step that reads it and does not join it, or -1 */
  gint64 element_size; /* bytes */
  gint rows; /* the dimension that lies outermost in memory, or -1: it does not lie dense */
  gint64 row_bytes;
} CleaveFitValue;

/* Memory that one or several values lie in, and the steps from which to which; -1: it is there when
 * a run begins; the number of steps: when it ends.  Where a node overwrites what it reads, a buffer
 * ends and another begins in its place. */
typedef struct
{
  gint first, last;
  gint64 n_bytes;
  guint after; /* the buffer that takes its place, or CLEAVE_FIT_NONE */
} CleaveFitBuffer;

/* A graph as a program runs it: one step after the other, each one or several of its nodes. */
typedef struct
{
  guint n_steps;
  guint *first_node;   /* of each step; n_steps + 1 */
  gint64 *live;        /* of each step: bytes that are alive */
  GArray *nodes;       /* CleaveFitNode, in order */
  GArray *operands;    /* CleaveFitOperand */
  GArray *values;      /* CleaveFitValue */
  GArray *buffers;     /* CleaveFitBuffer, by the step where they begin */
  guint *first_buffer; /* that begins at a step or later; n_steps + 1 */
  guint *axes;         /* the axis of each dimension, CLEAVE_MAX_RANK for each value: fit-axes.h */
  gboolean *has_halo;  /* of each axis: neighboring pieces read the same elements somewhere */
  gint64 macs;
} CleaveFitSteps;

/* FALSE: the graph has a cycle. */
gboolean cleave_fit_steps_init (CleaveFitSteps *steps, const CleaveGraph *graph, GError **error);
/* As if no part of a join waited in the memory of the whole.  Where strips take the place of the
 * join, none does; where it stays, more is thought to be alive than is, at the join, and less
 * before it.  FALSE: none waits there for long. */
gboolean cleave_fit_steps_init_staged (CleaveFitSteps *steps, const CleaveGraph *graph);
/* In the order in which the nodes stand, which is one that they can run in. */
void cleave_fit_steps_init_as_listed (CleaveFitSteps *steps, const CleaveGraph *graph);
void cleave_fit_steps_clear (CleaveFitSteps *steps);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFitSteps, cleave_fit_steps_clear)

static inline const CleaveFitNode *
cleave_fit_node (const CleaveFitSteps *steps, guint node)
{
  return &g_array_index (steps->nodes, CleaveFitNode, node);
}

static inline const CleaveFitValue *
cleave_fit_value (const CleaveFitSteps *steps, guint value)
{
  return &g_array_index (steps->values, CleaveFitValue, value);
}

static inline const CleaveFitBuffer *
cleave_fit_buffer (const CleaveFitSteps *steps, guint buffer)
{
  return &g_array_index (steps->buffers, CleaveFitBuffer, buffer);
}
