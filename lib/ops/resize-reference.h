/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The reference kernel of Resize, which resize.c puts into the record. resize-taps.h finds the
 * elements that the kernel reads. */

#include "../ir/op.h"
#include "../ir/view.h"

/* Computes a Resize: result 0 from operand 0. */
void cleave_resize_compute (const CleaveCall *call,
                            const CleaveView *operands,
                            const CleaveView *results);
