/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* What a run is thought to take, in nanoseconds of one thread: the one model by which schedules are
 * searched, segments cut and nodes split for threads.  It need not be right, but alike for all of
 * them.  The figures are fitted to what the steps of the models in docs/benchmarks.md take at level
 * v3; they are the same at every level, so that a split is. */

/* To begin a step. */
#define CLEAVE_COST_OF_STEP 100
/* To hear that another thread is done. */
#define CLEAVE_COST_OF_HANDOVER 300

double cleave_cost_of_macs (double macs);
/* Of those of strips, whose rows are few and whose halos lie across vectors. */
double cleave_cost_of_macs_in_strips (double macs);
/* A graph that is cut into strips, or that may be: sums, weights that the caches do not hold from
 * one strip to the next, and steps. */
double cleave_cost_in_strips (const CleaveGraph *graph);
/* Of bytes that a step reads or writes: the caches hold the first of them. */
double cleave_cost_of_bytes (double n_bytes);
double cleave_cost_of_bytes_at (double n_bytes, double near_per_ns, double far_per_ns);
/* Of bytes that the caches of the thread do not have. */
double cleave_cost_of_far_bytes (double n_bytes);
/* Of bytes that the step before has in registers or in the nearest cache. */
double cleave_cost_of_hot_bytes (double n_bytes);
/* Of many copies of a few rows each. */
double cleave_cost_of_rows (double n_bytes);
/* What a node that goes not element by element computes besides its products, wherever its values
 * are: a Softmax, or what is made floats and bytes again.  Bytes are read faster than floats, and
 * not computed with faster: a Softmax of bytes takes 0.6 ns for an element. */
double cleave_cost_of_elements (const CleaveNode *node);
/* A step that computes the node. */
double cleave_cost_of_node (const CleaveNode *node);
/* Whether it multiplies bytes, or floats that are bytes as they are stored; the latter are made
 * floats where neither operand is constant. */
gboolean cleave_cost_is_in_bytes (const CleaveNode *node);
gboolean cleave_cost_is_by_winograd (const CleaveNode *node);
/* What a sequence adds where each of its steps reads the weights. */
double cleave_cost_of_idle_macs (const CleaveNode *node);
/* What each piece but the first adds to read all weights of the node. */
double cleave_cost_of_weights_again (const CleaveNode *node);
/* The part of it that pieces of the node share: sums, or where there are none, elements of its
 * result or of what it takes together. */
double cleave_cost_of_shared (const CleaveNode *node);

/* What one thread is thought to take for steps that may be pieces, more closely: by this, plans are
 * compared with each other and with the graph as it is. */

/* Before it computes anything. */
double cleave_cost_to_begin (const CleaveNode *node);
/* Weights among `read` (CleaveResult) have been read before, and others are noted there; what a
 * product packs is read for each piece. */
double cleave_cost_of_piece (const CleaveNode *node, GHashTable *read);
/* Of a node that goes on with what the step before it makes. */
double cleave_cost_along (const CleaveNode *node);
double cleave_cost_of_copy (double n_bytes);
/* Returns the dimension of result 0 along which the weights of a product differ, or -1 if the node
 * has no multiply-accumulates. */
gint cleave_cost_find_channels (const CleaveNode *node);
/* What a product adds where pieces such as `made` have some of its channels: vectors that are not
 * full, and what each piece makes of all that it reads. */
double cleave_cost_of_channels (const CleaveNode *node, const CleaveRange *made);
