/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/op.h"

/* Computes the shape of the value that was pooled to x. Indices count the elements of that value.
 * The output_shape of a MaxUnpool may be larger. */
void
cleave_max_unpool_shape (const CleaveMaxUnpoolAttrs *a, const CleaveShape *x, CleaveShape *pooled);
