/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tables of ops, such as trial_windows of ops-windows.c, and functions that several of the
 * tables use. trial-grow.c picks an entry of a table for each node of a random graph. */

#include "trial.h"

extern const TrialOp trial_elementwise[], trial_windows[], trial_samples[], trial_products[],
    trial_reductions[], trial_moves[], trial_shapes[], trial_indices[], trial_quantized[],
    trial_signal[], trial_recurrent[];

/* If the last result is float32, adds nodes that quantize and dequantize the last result. */
void trial_requantize (Trial *trial);
/* Broadcasts `type` with the type `with`, as NumPy does. Returns FALSE if the types do not
 * broadcast. */
gboolean trial_broadcast (TrialType *type, const TrialType *with);
