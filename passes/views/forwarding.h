/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* A forwarder makes parts of values, each part once. The forwarder reads a part from the node that
 * computes it: past Slices, Splits, Concats and Assembles. Parts of a constant become constants
 * that share its bytes. split/build.h gets the operands of pieces from a forwarder, and
 * forward-slices.c replaces Slices with a forwarder.
 *
 * Examples: the range of an Assemble that covers one operand is that operand. A range across two
 * operands is a smaller Assemble of two Slices.
 *
 * The forwarder remembers nodes by address. While a forwarder exists, other code must not remove a
 * node that the forwarder has visited. */
typedef struct _CleaveForwarder CleaveForwarder;

CleaveForwarder *cleave_forwarder_new (CleaveGraph *graph);
void cleave_forwarder_free (CleaveForwarder *forwarder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveForwarder, cleave_forwarder_free)

/* Makes the forwarder read values of this node from the node itself, even if it is a view or a
 * join. */
void cleave_forwarder_stop_at (CleaveForwarder *forwarder, CleaveNode *node);
/* Makes the forwarder read values of these nodes (a set of CleaveNode) from the nodes themselves.
 * The caller owns the set and may change it. */
void cleave_forwarder_stop_among (CleaveForwarder *forwarder, GHashTable *nodes);
/* Returns the value of a range of `value`. If a node must be added, its name is `name`. */
CleaveResult *cleave_forwarder_get (CleaveForwarder *forwarder,
                                    CleaveResult *value,
                                    const CleaveRange *range,
                                    const char *name);
/* Returns whether the forwarder would read a range of `value` from an earlier value, past the view
 * or join that computes `value`. */
gboolean cleave_forwarder_reads_back (CleaveForwarder *forwarder,
                                      CleaveResult *value,
                                      const CleaveRange *range);
/* `result` is the result of a Slice or a Split. Returns a value with the same elements that is made
 * from an earlier value, past as many views and joins as possible. Returns `result` if its operand
 * is no view or join that can be passed. */
CleaveResult *cleave_forwarder_forward (CleaveForwarder *forwarder, CleaveResult *result);
/* Returns whether the last call of cleave_forwarder_get() or cleave_forwarder_forward() added the
 * node of this result. */
gboolean cleave_forwarder_made (const CleaveForwarder *forwarder, const CleaveResult *result);

/* Returns the Slices (CleaveNode) that the forwarder made and later replaced. No node reads
 * them. */
const GPtrArray *cleave_forwarder_get_spent (const CleaveForwarder *forwarder);
