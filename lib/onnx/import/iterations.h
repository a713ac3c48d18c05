/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Unrolls the body of a Loop or a Scan: each iteration becomes nodes of the graph, since a Cleave
 * graph has no control flow. loop.c and scan.c set the fields `node`, `body`, `n_first`, `bind` and
 * `judge` of a CleaveOnnxIterations. Both files then call cleave_onnx_iterations_init(),
 * cleave_onnx_take_iterations() and cleave_onnx_give_iterations(), in this order. */

#include "import.h"

typedef struct CleaveOnnxIterations
{
  CleaveOnnxNode *node;
  const Onnx__GraphProto *body;
  guint n_first; /* number of the body's outputs that come before the states: 1 for a Loop (its
                  * condition), 0 for a Scan */
  guint n_states;
  /* Defines the inputs of the body for iteration `iteration`. */
  gboolean (*bind) (const struct CleaveOnnxIterations *iterations,
                    gint64 iteration,
                    GError **error);
  /* Reads `first`, the body's first output, and sets `goes_on` to whether another iteration
   * follows. The field `judge` is NULL if the loop has no condition: it ends after the given number
   * of iterations. */
  gboolean (*judge) (const struct CleaveOnnxIterations *iterations,
                     CleaveOnnxValue *first,
                     gboolean *goes_on,
                     GError **error);

  GPtrArray *states;  /* CleaveOnnxValue: the states after the last iteration that was read */
  GPtrArray *stacked; /* GPtrArray of CleaveOnnxValue for each scan output: its value in each
                       * iteration */
  GArray *empty;      /* CleaveTensorType of each scan output for a loop without iterations;
                       * NULL: there are iterations */
  gboolean *is_own; /* indexed by state: whether a node of the last iteration computed the state */
} CleaveOnnxIterations;

void cleave_onnx_iterations_clear (CleaveOnnxIterations *iterations);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxIterations, cleave_onnx_iterations_clear)

/* Checks the body, which must have `n_inputs` inputs. The node's operands from index `first` on
 * become the initial states. */
gboolean cleave_onnx_iterations_init (CleaveOnnxIterations *iterations,
                                      const Onnx__NodeProto *proto,
                                      guint n_inputs,
                                      guint first,
                                      GError **error);
/* Reads `n_iterations` iterations, or fewer if `judge` ends the loop. */
gboolean
cleave_onnx_take_iterations (CleaveOnnxIterations *iterations, gint64 n_iterations, GError **error);
/* Sets the node's results: the final states, then the scan outputs. The values of scan output i
 * from all iterations are concatenated along a new dimension `axes[i]`, last iteration first if
 * `backwards[i]`. If `axes` is NULL, each new dimension is dimension 0; if `backwards` is NULL, the
 * first iteration comes first. */
gboolean cleave_onnx_give_iterations (const CleaveOnnxIterations *iterations,
                                      const gint64 *axes,
                                      const gint64 *backwards,
                                      GError **error);
