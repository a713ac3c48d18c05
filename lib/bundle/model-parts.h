/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The parts of the lowering of a graph:
 *
 *   builder.c  adds values and steps
 *   model.c    nodes become steps
 *   recurrent.c  recurrent nodes become steps
 *   ports.c    inputs and outputs, and the memory in which they lie
 *   states.c   states: inputs that are an output of the run before */

#include "model.h"

typedef struct
{
  CleaveBundleModel *model;
  const CleaveBundleOptions *options;
  GHashTable *values; /* maps a CleaveResult to 1 plus the index of its value */
} CleaveBundleBuilder;

/* Adds a value for a result, and returns the value's index. */
guint cleave_bundle_add_value (CleaveBundleBuilder *b, const CleaveResult *result);
/* Returns the index of the value of a result. */
guint cleave_bundle_find_value (CleaveBundleBuilder *b, const CleaveResult *result);
/* Appends a step that computes value `result`. */
void cleave_bundle_append_step (CleaveBundleBuilder *b, CleaveBundleStep *step, guint result);
/* Lists the states that the options name. */
gboolean cleave_bundle_find_states (CleaveBundleBuilder *b, GError **error);
/* Sets the value that each state has before the first run. */
void cleave_bundle_set_starts (CleaveBundleModel *model);
/* Adds the values of inputs, and the steps that read rows from the caller. */
void cleave_bundle_add_inputs (CleaveBundleBuilder *b);
/* Marks the values that are outputs, and sets the last reader of each value. */
gboolean cleave_bundle_mark_readers (CleaveBundleBuilder *b, GError **error);
/* Adds a view of value `x` that has the given image: rows, columns and channels. */
guint cleave_bundle_add_image (CleaveBundleBuilder *b,
                               const CleaveResult *result,
                               guint x,
                               const CleaveBundleImage *image);
/* Makes `value` the value of a result. */
void cleave_bundle_set_value (CleaveBundleBuilder *b, const CleaveResult *result, guint value);
/* Adds the steps of a recurrent node. */
gboolean cleave_bundle_add_recurrent (CleaveBundleBuilder *b,
                                      const CleaveNode *node,
                                      const CleaveBundleOp *op,
                                      GError **error);
