/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* A forwarder makes parts of values, each part once. A part may lie behind Slices, Splits, Concats
 * and Assembles, which only move elements. The forwarder then reads the part from the node that
 * computes the elements. Parts of a constant become constants that share the bytes of the whole
 * constant. split/build.h gets the operands of pieces from a forwarder. forward-slices.c uses a
 * forwarder to replace Slices by earlier values.
 *
 * Example: an Assemble joins the values x and y. If a range has exactly the elements of x, the
 * forwarder returns x. If a range has elements of x and of y, the forwarder adds a smaller Assemble
 * of a Slice of x and a Slice of y.
 *
 * The forwarder remembers nodes by address. While a forwarder exists, other code must not remove a
 * node that the forwarder has visited. */
typedef struct _CleaveForwarder CleaveForwarder;

CleaveForwarder *cleave_forwarder_new (CleaveGraph *graph);
void cleave_forwarder_free (CleaveForwarder *forwarder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveForwarder, cleave_forwarder_free)

/* Lets the forwarder stop at `node`, a view or a join. Without this call, the forwarder reads a
 * part of the node's result from the operands of the node. After this call, the forwarder reads the
 * part from the result. */
void cleave_forwarder_stop_at (CleaveForwarder *forwarder, CleaveNode *node);
/* Does the same as cleave_forwarder_stop_at() for each node in the set `nodes` (CleaveNode). The
 * caller owns the set and may change it. */
void cleave_forwarder_stop_among (CleaveForwarder *forwarder, GHashTable *nodes);
/* Returns a result that has the elements of `value` in `range`: a result that exists, or the result
 * of a new node with the name `name`. */
CleaveResult *cleave_forwarder_get (CleaveForwarder *forwarder,
                                    CleaveResult *value,
                                    const CleaveRange *range,
                                    const char *name);
/* Returns whether the forwarder would read a range of `value` from an earlier value, past the view
 * or join that computes `value`. */
gboolean cleave_forwarder_reads_back (CleaveForwarder *forwarder,
                                      CleaveResult *value,
                                      const CleaveRange *range);
/* Returns a value with the elements of `result`, the result of a Slice or a Split. Goes back from
 * `result` towards the inputs, past as many views and joins as possible, and makes the value from
 * the earliest value with these elements. Returns `result` if the earliest value is the operand of
 * the Slice or Split. */
CleaveResult *cleave_forwarder_forward (CleaveForwarder *forwarder, CleaveResult *result);
/* Returns whether the last call of cleave_forwarder_get() or cleave_forwarder_forward() added the
 * node of this result. */
gboolean cleave_forwarder_made (const CleaveForwarder *forwarder, const CleaveResult *result);

/* Returns the Slices (CleaveNode) that the forwarder made and later replaced. No node reads
 * them. */
const GPtrArray *cleave_forwarder_get_spent (const CleaveForwarder *forwarder);
