/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The shape that the indices of a MaxUnpool refer to. The record (max-unpool.c) infers the shape of
 * the result from it, and the exporter (lib/onnx/export/indices.c) converts the indices of a piece.
 */

#include "../ir/op.h"

/* Sets `pooled` to the smallest shape of a value that a MaxPool pools to shape `x`. The indices of
 * a MaxUnpool count the elements of a value of this shape. The output_shape of a MaxUnpool may be
 * larger. */
void
cleave_max_unpool_shape (const CleaveMaxUnpoolAttrs *a, const CleaveShape *x, CleaveShape *pooled);
