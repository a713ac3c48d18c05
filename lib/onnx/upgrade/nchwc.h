/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "upgrades.h"

/* Reads ops of com.microsoft.nchwc, which ONNX Runtime writes for the CPU that it optimizes for.
 * Their values have channels in blocks:
 *
 *     value [N, C, H, W], block b:   in memory [N, C / b, H, W, b], C a multiple of b
 *
 * Channels that fill up the last block are padding: no output depends on them. The graph gets the
 * plain form, without padding. */

/* The block size and the padding of a graph in the file. */
struct CleaveOnnxBlocked
{
  gint64 block;       /* number of channels in a block: 8 or 16 */
  GHashTable *n_read; /* maps the name of a blocked value to the number of its channels that are not
                         padding (gint64) */
};

/* Returns whether an op computes each element of its result from one element of each operand, so
 * that ONNX Runtime leaves it between blocked values. */
gboolean cleave_onnx_keeps_blocks (const char *op);
/* Returns the number of channels of a blocked value that are not padding; G_MAXINT64 if none is. */
gint64 cleave_onnx_n_read (const CleaveOnnxBlocked *blocked, const char *name);

/* The form of the weights of a blocked convolution. */
typedef struct
{
  gint64 block;
  gboolean has_blocked_inputs; /* operand channels are in blocks as well */
  gint64 n_outputs, n_inputs, n_taps;
} CleaveOnnxFilter;

/* Returns the index of an element in blocked weights: result channel o, operand channel i, tap
 * `tap`. */
static inline gint64
cleave_onnx_filter_index (const CleaveOnnxFilter *f, gint64 o, gint64 i, gint64 tap)
{
  gint64 b = f->block, row = o / b * f->n_inputs;

  if (!f->has_blocked_inputs)
    return ((row + i) * f->n_taps + tap) * b + o % b;
  return ((row / b + i / b) * f->n_taps + tap) * b * b + i % b * b + o % b;
}
