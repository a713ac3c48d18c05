/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The parts of the lowering of a graph to a CleaveBundleModel (model.h). cleave_bundle_model_new()
 * in model.c calls them:
 *
 *   builder.c    adds values and steps
 *   model.c      turns nodes into steps
 *   recurrent.c  turns recurrent nodes into steps
 *   ports.c      adds inputs and outputs, and sets the memory in which they lie
 *   order.c      orders the nodes
 *   states.c     pairs states: inputs whose value is an output of the previous run */

#include "model.h"

typedef struct
{
  CleaveBundleModel *model;
  const CleaveBundleOptions *options;
  GHashTable *values;    /* maps a CleaveResult to 1 plus the index of its value */
  gint64 max_call_bytes; /* a layer calls CMSIS-NN only if the operands, the result and the context
                            buffer of the call have at most this many bytes; negative: no layer
                            calls CMSIS-NN */
  gboolean by_memory;    /* the order of the nodes, as in cleave_bundle_order_nodes() */
} CleaveBundleBuilder;

/* Returns the nodes of a graph in a topological order. `by_memory` FALSE: the order in which the
 * nodes were built; TRUE: the order with the lowest peak if each value is whole. Returns NULL and
 * sets the error if the graph has a cycle. */
GPtrArray *cleave_bundle_order_nodes (const CleaveGraph *graph, gboolean by_memory, GError **error);

/* Adds a value for a result, and returns the value's index. */
guint cleave_bundle_add_value (CleaveBundleBuilder *b, const CleaveResult *result);
/* Returns the index of the value of a result. */
guint cleave_bundle_find_value (CleaveBundleBuilder *b, const CleaveResult *result);
/* Appends a step that computes value `result`. */
void cleave_bundle_append_step (CleaveBundleBuilder *b, CleaveBundleStep *step, guint result);
/* Adds a context buffer for `step`, whose layer calls CMSIS-NN: a value that the call may
 * overwrite. Appends another step that computes nothing and has this value as its result. The
 * buffer becomes the last operand of `step`. */
void
cleave_bundle_add_context (CleaveBundleBuilder *b, const CleaveNode *node, CleaveBundleStep *step);
/* Lists the states that the options name. */
gboolean cleave_bundle_find_states (CleaveBundleBuilder *b, GError **error);
/* Sets the value that each state has before the first run. */
void cleave_bundle_set_starts (CleaveBundleModel *model);
/* Adds a value for each input. If an input is supplied row by row (CLEAVE_BUNDLE_ROWS), also adds
 * the step that reads its rows. */
void cleave_bundle_add_inputs (CleaveBundleBuilder *b);
/* Marks the values that are outputs. Sets `last_reader` of each value. */
gboolean cleave_bundle_mark_readers (CleaveBundleBuilder *b, GError **error);
/* Adds a view of value `x` with the given image (rows, columns and channels), and returns its
 * index. */
guint cleave_bundle_add_image (CleaveBundleBuilder *b,
                               const CleaveResult *result,
                               guint x,
                               const CleaveBundleImage *image);
/* Makes `value` the value of a result of the graph, in place of an earlier value. */
void cleave_bundle_set_value (CleaveBundleBuilder *b, const CleaveResult *result, guint value);
/* Adds the steps of a recurrent node. */
gboolean cleave_bundle_add_recurrent (CleaveBundleBuilder *b,
                                      const CleaveNode *node,
                                      const CleaveBundleOp *op,
                                      GError **error);
