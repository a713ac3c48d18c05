/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The logistic function and tanh of 16-bit integers, with the bits of TensorFlow Lite's reference
 * kernels. The kernels of TfliteLogistic, TfliteTanh and TfliteLstm call these functions.
 *
 * x * multiplier / 2^shift is the operand in units of 1 / 12288: with a multiplier of 3 and a shift
 * of 0, x is in units of 2^-12. The result is in units of 2^-15. */

#include <glib.h>

gint16 cleave_fixed_logistic_16 (gint16 x, gint32 multiplier, gint shift);
gint16 cleave_fixed_tanh_16 (gint16 x, gint32 multiplier, gint shift);
