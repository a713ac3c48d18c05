/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/memory/buffers.h"

/* The nodes of a graph in the order in which they run, and the cost of cutting between them. A
 * partition into parts in a row cuts this order at a few positions.
 *
 *     position   0      1      2      3         Position 2 lies between Relu and Pool. A cut there
 *                | Conv | Relu | Pool |         costs the bytes of the Relu's result.
 *
 * Inputs and constants are not in the order: every part may read them. */

typedef struct
{
  const CleaveGraph *graph;
  GPtrArray *order;       /* all nodes of the graph */
  CleaveStorage *storage; /* the buffers of values in that order */
  GPtrArray *nodes;       /* CleaveNode: nodes that belong to parts, in that order */
  guint *place;           /* indexed by node id: index in `nodes`, or CLEAVE_NEVER */
  gint64 *crossing; /* indexed by position: bytes of values that a node before it computes and a
                       node after it reads */
  guint *first,
      *last; /* indexed by buffer: index of the first node that touches it and the last one */
} CleaveRow;

/* Returns NULL and an error on a cycle. */
CleaveRow *cleave_row_new (const CleaveGraph *graph, GError **error);
void cleave_row_free (CleaveRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveRow, cleave_row_free)

/* Returns the positions at which cuts are considered (guint, the ends included). These are all
 * positions or, if there are more than `n_most` + 1, the cheapest one of each of `n_most` equal
 * intervals. */
GArray *cleave_row_list_positions (const CleaveRow *row, guint n_most);

/* Estimates, node by node, the memory of a part that begins at a position: its weights, and the
 * peak of the buffers that its nodes touch. */
typedef struct
{
  const CleaveRow *row;
  guint begin, run;                 /* position, and number of the part that is measured */
  gint64 weight_bytes, peak;        /* bytes of weights, and peak, of the nodes so far */
  gint64 live;                      /* bytes of the buffers in use after the last node */
  guint *buffer_seen, *buffer_done; /* indexed by buffer: the last runs that counted and freed it */
  guint *fixed_seen;                /* indexed by node id: the last run that counted it */
  GPtrArray *stack;
} CleaveRowMeter;

void cleave_row_meter_init (CleaveRowMeter *meter, const CleaveRow *row);
void cleave_row_meter_clear (CleaveRowMeter *meter);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveRowMeter, cleave_row_meter_clear)
void cleave_row_meter_begin (CleaveRowMeter *meter, guint position);
/* Adds the next node of the row, `index`, to the part. Returns the bytes of the part. */
gint64 cleave_row_meter_add (CleaveRowMeter *meter, guint index);
