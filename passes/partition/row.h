/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/memory/buffers.h"

/* A row: the nodes of a graph in the order in which they run, and the cost of a cut between two
 * nodes. A partition into parts that follow each other cuts the row at a few positions. row-cuts.h
 * chooses the positions, and row-refine.h then moves nodes between neighboring parts.
 *
 *     position   0      1      2      3         Position 2 lies between Relu and Pool. A cut there
 *                | Conv | Relu | Pool |         costs the bytes of the Relu's result.
 *
 * Inputs and constants are not in the order: every part may read them. */

typedef struct
{
  const CleaveGraph *graph;
  GPtrArray *order;       /* CleaveNode: all nodes of the graph, in the order in which they run */
  CleaveStorage *storage; /* buffers of the values, if the nodes run in `order` */
  GPtrArray *nodes; /* CleaveNode: the nodes that belong to parts, in the order in which they run */
  guint *place;     /* indexed by node id: index in `nodes`; CLEAVE_NEVER: not in `nodes` */
  gint64 *crossing; /* indexed by position: bytes of the values that a node before the position
                       computes and a node after the position reads */
  /* indexed by buffer: indices of the first and the last node that use the buffer */
  guint *first, *last;
} CleaveRow;

/* Makes the row of a graph. Returns NULL and sets the error if the graph has a cycle. */
CleaveRow *cleave_row_new (const CleaveGraph *graph, GError **error);
void cleave_row_free (CleaveRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveRow, cleave_row_free)

/* Returns the positions (guint) at which the row may be cut, including 0 and the number of nodes.
 * If the row has more than `n_most` + 1 positions, returns the cheapest position of each of
 * `n_most` equal intervals. */
GArray *cleave_row_list_positions (const CleaveRow *row, guint n_most);

/* Estimates the memory of parts of a row, one part after the other. The caller begins a part at a
 * position, and adds the nodes of the part one by one. The estimate of a part is the bytes of its
 * weights, and the peak of the buffers that its nodes use. */
typedef struct
{
  const CleaveRow *row;
  /* position where the current part begins */
  guint begin;
  /* number of the current part: cleave_row_meter_begin() increases this number */
  guint run;
  /* bytes of the weights, and peak of the buffers in bytes, for the nodes added to the current
   * part */
  gint64 weight_bytes, peak;
  gint64 live; /* bytes of the buffers in use after the node that was added last */
  /* indexed by buffer: number (`run`) of the last part in which the buffer was counted, and of the
   * last part in which the buffer was freed */
  guint *buffer_seen, *buffer_done;
  /* indexed by node id: number (`run`) of the last part in which the constant was counted */
  guint *fixed_seen;
  GPtrArray *stack;
} CleaveRowMeter;

void cleave_row_meter_init (CleaveRowMeter *meter, const CleaveRow *row);
void cleave_row_meter_clear (CleaveRowMeter *meter);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveRowMeter, cleave_row_meter_clear)
void cleave_row_meter_begin (CleaveRowMeter *meter, guint position);
/* Adds node `index` of the row to the part; the node must follow the node that was added last.
 * Returns the estimated bytes of the part so far. */
gint64 cleave_row_meter_add (CleaveRowMeter *meter, guint index);
