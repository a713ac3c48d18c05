/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tables of ops, and functions that several of the tables use. */

#include "trial.h"

extern const TrialOp trial_elementwise[], trial_windows[], trial_products[], trial_reductions[],
    trial_moves[], trial_indices[], trial_quantized[], trial_signal[], trial_recurrent[];

/* Quantizes the last result if it is float32, and dequantizes it again. */
void trial_requantize (Trial *trial);
/* Broadcasts as NumPy does. Returns FALSE if the types do not broadcast. */
gboolean trial_broadcast (TrialType *type, const TrialType *with);
