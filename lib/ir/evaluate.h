/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Constant folding of one node: decides whether a node can be evaluated and whether evaluation
 * saves memory, computes the values of the results, and estimates the work. The importer
 * (lib/onnx/import/fold.c) and the pass fold-constants replace a node by a Constant. A node is
 * replaced if it can be evaluated, if the Constant saves memory, and if a budget has enough work
 * left. A program evaluates fixed nodes when it is made (lib/runtime/constants.c). */

#include "op.h"

/* The work that constant folding may do in total for a graph with `n_bytes` of constants. The work
 * is 2^24 steps, a fraction of a second, plus 4 steps for each byte. cleave_evaluate_work() counts
 * steps. */
#define CLEAVE_EVALUATE_BUDGET(n_bytes) (0x1p24 + 4 * (double) (n_bytes))

/* Returns whether a node can be evaluated: each operand is a constant
 * (cleave_node_get_final_constant()), or the op reads only the types of its operands. Operand 0 of
 * a node that only slices, such as Split, may also be a default value with the state
 * CLEAVE_DEFAULT_OPEN. FALSE for Constants and Inputs. */
gboolean cleave_evaluate_can (const CleaveNode *node);
/* Returns whether replacing a call by its results saves memory. `freed` is the number of bytes of
 * the operands that no other node reads. TRUE if the results have at most `freed` bytes, if they
 * have at most 1 KiB, or if they are views. FALSE for ops that decode stored weights, such as
 * DequantizeLinear. */
gboolean cleave_evaluate_saves (const CleaveCall *call, gint64 freed);
/* Computes the results of a node for which cleave_evaluate_can() returns TRUE. Results that are
 * slices or reshapes of operand 0 share its bytes. The reference kernel computes all other results.
 * Returns an array of CleaveTensor (transfer full), or NULL and the error if there is no memory. */
GPtrArray *cleave_evaluate (const CleaveNode *node, GError **error);
/* Returns the estimated work of cleave_evaluate() in steps. Returns 0 if all results are slices or
 * reshapes of operand 0, since such results need no computation. */
double cleave_evaluate_work (const CleaveNode *node);
/* Return the results of cleave_evaluate() and cleave_evaluate_work() for a call instead of a node.
 * The attributes of the call are in normal form, and its result types are known. `operands` has
 * NULL for an absent operand, and for an operand if the op reads only its type. */
GPtrArray *
cleave_evaluate_call (const CleaveCall *call, CleaveTensor *const *operands, GError **error);
double cleave_evaluate_call_work (const CleaveCall *call, CleaveTensor *const *operands);
/* Computes a value that depends on constants alone. Returns NULL if the value depends on an input,
 * or on a default value with the state CLEAVE_DEFAULT_OPEN, or if there is no memory. */
CleaveTensor *cleave_evaluate_fixed (const CleaveResult *value);
