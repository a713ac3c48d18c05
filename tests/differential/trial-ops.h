/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tables of ops, and what several of their makers need. */

#include "trial.h"

extern const TrialOp trial_elementwise[], trial_windows[], trial_products[], trial_reductions[],
    trial_moves[], trial_indices[], trial_quantized[], trial_signal[], trial_recurrent[];

/* Quantises what was made last, if that is float32, and dequantises it again. */
void trial_requantize (Trial *trial);
/* Numpy's rule.  FALSE: they do not broadcast. */
gboolean trial_broadcast (TrialType *type, const TrialType *with);
