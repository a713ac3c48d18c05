/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* The cost model: estimates the time of a run in nanoseconds of one thread. The schedule search,
 * segment cutting and splitting for threads compare candidates by these estimates, so ratios matter
 * more than absolute values. Example: 1 million float multiply-adds take 22,000 ns; starting a step
 * takes 100 ns.
 *
 * The constants are fitted to the measured steps of the models in bench/results at level v3. Every
 * level uses the same constants, so that a split does not depend on the processor. */

/* Nanoseconds to start a step. */
#define CLEAVE_COST_OF_STEP 100
/* Nanoseconds until a thread learns that another thread has finished a step. */
#define CLEAVE_COST_OF_HANDOVER 300

double cleave_cost_of_macs (double macs);
/* Returns the cost of multiply-adds of steps that compute strips. These steps are slower than steps
 * that compute whole values: a strip has few rows, and halo rows leave some lanes of the vectors
 * empty. */
double cleave_cost_of_macs_in_strips (double macs);
/* Returns the cost of a graph that is, or may be, cut into strips. The cost counts multiply-adds,
 * starts of steps, and weights that leave the caches between two strips. */
double cleave_cost_in_strips (const CleaveGraph *graph);
/* Returns the cost of bytes that a step reads or writes. The first 512 KiB are assumed to be in the
 * caches, and all other bytes in memory. */
double cleave_cost_of_bytes (double n_bytes);
/* Returns the cost of `n_bytes`. The first 512 KiB are read at `near_per_ns` bytes per ns, and all
 * other bytes at `far_per_ns` bytes per ns. */
double cleave_cost_of_bytes_at (double n_bytes, double near_per_ns, double far_per_ns);
/* Returns the cost of bytes that are not in the thread's caches. */
double cleave_cost_of_far_bytes (double n_bytes);
/* Returns the cost of bytes that the previous step left in registers or in the nearest cache. */
double cleave_cost_of_hot_bytes (double n_bytes);
/* Returns the cost of copying `n_bytes` in many copies of a few rows each. */
double cleave_cost_of_rows (double n_bytes);
/* Returns the cost of a node's work besides multiply-adds and memory traffic. Only nodes that are
 * not element-wise have such work: a Softmax, or a group that dequantizes and quantizes. Returns 0
 * for all other nodes. The cost depends on the number of elements and not on their type: a Softmax
 * of 8-bit values takes 0.6 ns per element, as long as a Softmax of floats. */
double cleave_cost_of_elements (const CleaveNode *node);
/* Returns the cost of a step that computes the node. */
double cleave_cost_of_node (const CleaveNode *node);
/* Returns whether a node multiplies 8-bit values. This is so if operand 0 is 8-bit, or if operands
 * 0 and 1 are dequantized from 8 bits and operand 1 is constant. A group whose weights are not
 * constant multiplies floats, so the function returns FALSE. */
gboolean cleave_cost_is_in_bytes (const CleaveNode *node);
gboolean cleave_cost_is_by_winograd (const CleaveNode *node);
/* Returns the cost of rereading the weights in each step of a sequence (LSTM, GRU); 0 for other
 * nodes. */
double cleave_cost_of_idle_macs (const CleaveNode *node);
/* Returns the cost of rereading all weights of the node. Each piece except the first adds this
 * cost. */
double cleave_cost_of_weights_again (const CleaveNode *node);
/* Returns the part of the node's cost that a split divides among the pieces: the cost of its
 * multiply-adds. For a node without multiply-adds, the cost of the elements of its result or of its
 * largest operand. */
double cleave_cost_of_shared (const CleaveNode *node);

/* The functions below (piece-cost.c) estimate one step on one thread, whole or piece, more
 * precisely than the functions above. `fit` compares plans with each other and with the unsplit
 * graph by these estimates. */

/* Returns the fixed cost of one more piece of a node: the cost to start the step of the piece and
 * to copy carried rows. */
double cleave_cost_of_one_more_piece (const CleaveNode *node);
/* Returns the cost of one piece. Weights in `read` (a set of CleaveResult) were read by an earlier
 * piece and cost less; adds the other weights to `read`. Each piece packs operand 1 of a product
 * again if the operand is not constant. */
double cleave_cost_of_piece (const CleaveNode *node, GHashTable *read);
/* Returns the cost of a node that runs fused with the step before it. */
double cleave_cost_along (const CleaveNode *node);
double cleave_cost_of_copy (double n_bytes);
/* Returns the dimension of result 0 that selects the weights of a product, such as the output
 * channels; -1 if the node has no multiply-adds. */
gint cleave_cost_find_channels (const CleaveNode *node);
/* Returns the cost that a cut of the channels adds to a product, summed over all pieces. `made` is
 * the range that one piece computes. The cost has two reasons: the last vector of each piece is not
 * full, and each piece copies its operand into Winograd tiles again. Returns 0 if `made` has all
 * channels. */
double cleave_cost_of_channels (const CleaveNode *node, const CleaveRange *made);
