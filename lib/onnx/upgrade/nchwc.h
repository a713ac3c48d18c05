/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "upgrades.h"

/* Reads the ops of com.microsoft.nchwc. ONNX Runtime writes these ops when it optimizes a model for
 * a CPU. The channels of the values of these ops are in blocks:
 *
 *     value [N, C, H, W], block b:   in memory [N, C / b, H, W, b], C a multiple of b
 *
 * The channels that fill the last block are padding: no output depends on them. The graph gets the
 * standard op on values without blocks and without padding. nchwc-scan.c finds the block size and
 * the padding before nodes are read; nchwc.c then reads the nodes. */

/* The block size of a file, and the padding of its values. */
struct CleaveOnnxBlocked
{
  gint64 block;       /* number of channels in a block: 8 or 16 */
  GHashTable *n_read; /* maps the name of a value in blocks to its number of channels (gint64)
                       * without padding */
};

/* Returns whether an op is element-wise, such as Add, or a Concat. If the operands of such an op
 * have their channels in blocks, ONNX Runtime lets the result have its channels in blocks, too. */
gboolean cleave_onnx_keeps_blocks (const char *op);
/* Returns the number of channels of a value that are not padding; G_MAXINT64 if the value is not in
 * blocks. */
gint64 cleave_onnx_n_read (const CleaveOnnxBlocked *blocked, const char *name);

/* The form of the weights of a convolution on values in blocks. */
typedef struct
{
  gint64 block;
  gboolean has_blocked_inputs; /* whether the channels of the convolution's operand are in blocks;
                                * the channels of its result always are */
  gint64 n_outputs, n_inputs, n_taps;
} CleaveOnnxFilter;

/* Returns the index of a weight in the tensor of weights. The weight belongs to result channel `o`,
 * operand channel `i` and tap `tap` of the window. */
static inline gint64
cleave_onnx_filter_index (const CleaveOnnxFilter *f, gint64 o, gint64 i, gint64 tap)
{
  gint64 b = f->block, row = o / b * f->n_inputs;

  if (!f->has_blocked_inputs)
    return ((row + i) * f->n_taps + tap) * b + o % b;
  return ((row / b + i / b) * f->n_taps + tap) * b * b + i % b * b + o % b;
}
