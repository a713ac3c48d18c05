/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Unrolls the body of a Loop or a Scan: each iteration becomes nodes of the graph, since a
 * Cleave graph has no control flow. The caller fills in the first fields and calls init, take
 * and give, in this order. */

#include "import.h"

typedef struct CleaveOnnxIterations
{
  CleaveOnnxNode *node;
  const Onnx__GraphProto *body;
  guint n_first; /* number of the body's outputs before the states: 1 for a Loop (its condition), 0
                    for a Scan */
  guint n_states;
  /* Defines the body's inputs for an iteration. */
  gboolean (*bind) (const struct CleaveOnnxIterations *iterations,
                    gint64 iteration,
                    GError **error);
  /* Reads the body's first output, and sets `goes_on` to whether another iteration follows. NULL:
   * each iteration is followed by another one, up to the given number. */
  gboolean (*judge) (const struct CleaveOnnxIterations *iterations,
                     CleaveOnnxValue *first,
                     gboolean *goes_on,
                     GError **error);

  GPtrArray *states;  /* CleaveOnnxValue: states after the last iteration that was read */
  GPtrArray *stacked; /* per scan output a GPtrArray of CleaveOnnxValue, one per iteration */
  GArray *empty; /* CleaveTensorType of each scan output if there is no iteration; NULL: there are
                    iterations */
  gboolean *is_own; /* for each state: whether a node of the last iteration computed it */
} CleaveOnnxIterations;

void cleave_onnx_iterations_clear (CleaveOnnxIterations *iterations);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxIterations, cleave_onnx_iterations_clear)

/* Checks the body, which must have `n_inputs` inputs, and takes the node's operands from index
 * `first` on as initial states. */
gboolean cleave_onnx_iterations_init (CleaveOnnxIterations *iterations,
                                      const Onnx__NodeProto *proto,
                                      guint n_inputs,
                                      guint first,
                                      GError **error);
/* Reads `n_iterations` iterations, or fewer if `judge` ends the loop. */
gboolean
cleave_onnx_take_iterations (CleaveOnnxIterations *iterations, gint64 n_iterations, GError **error);
/* Sets the node's values: final states, then scan outputs, each concatenated along a new
 * dimension `axes[i]`, in reverse where `backwards[i]`. `axes` NULL: along dimension 0; `backwards`
 * NULL: forwards. */
gboolean cleave_onnx_give_iterations (const CleaveOnnxIterations *iterations,
                                      const gint64 *axes,
                                      const gint64 *backwards,
                                      GError **error);
