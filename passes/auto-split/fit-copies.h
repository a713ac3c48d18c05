/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Large values that some readers get a copy of, made again:
 *
 * - what is made of little by no work, as by an Expand, so that it is there only where it is read;
 * - what a global pooling needs whole and others do not, with the nodes that make it of less:
 *
 *                   ┌─ Pool ─ s                  a ─┬─ Conv' ─ Pool ─ s
 *         a ─ Conv ─┤         │          =>         │                 │
 *                   └─ Mul ───┘                     └─ Conv ── Mul ───┘
 *
 *   for the pooling in chunks of channels, and for the others in strips. */

/* A node that was made twice, and those that read the second; by names.  Without a copy, one that
 * runs elsewhere: see fit-moves.h. */
typedef struct
{
  char *node, *copy;
  char **readers;
  gboolean is_early; /* as soon as it can; else right before it is read */
} CleaveFitCopy;

/* None. */
GPtrArray *cleave_fit_copies_new (void);
/* Makes copies that add at most so many MACs, of values that are at least so large, and puts them
 * in order, with what moves besides: values of at least `min_moved` bytes; 0: none.  Returns what
 * was done (CleaveFitCopy), in order. */
GPtrArray *
cleave_fit_copies_make (CleaveGraph *graph, gint64 min_bytes, double max_macs, gint64 min_moved);
/* MACs of these nodes (CleaveNode). */
double cleave_fit_copies_count_macs (const GPtrArray *cone);
/* Makes copies of nodes that make a value, for these readers of it (CleaveNode), and appends them.
 * Puts the nodes in order: readers first. */
void cleave_fit_copies_add_cone (GPtrArray *copies,
                                 CleaveGraph *graph,
                                 const GPtrArray *first,
                                 GPtrArray *cone,
                                 const guint *position);
/* Makes the same copies of another graph.  Returns its nodes in the order that they had
 * (CleaveNode, unowned).  NULL: it has other nodes, and is unchanged. */
GPtrArray *cleave_fit_copies_apply (const GPtrArray *copies, CleaveGraph *graph, GError **error);
/* Takes them back, as if nothing had been done. */
void cleave_fit_copies_undo (const GPtrArray *copies, CleaveGraph *graph, const GPtrArray *before);
