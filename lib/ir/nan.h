/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The bits of NaNs. The sum of two NaNs is one of the two NaNs, and the processor and the compiler
 * choose which one. So the sign of the sum may differ from run to run. For this reason, Cleave
 * promises that pieces equal the whole bit for bit, except for the bits of NaNs.
 * cleave_tensor_equal() and cleave_tensor_dup_canonical(), which checksums of outputs need, use
 * these functions. */

#include <cleave/cleave-types.h>

/* Replaces each NaN among n elements by the quiet NaN with a positive sign and no payload. */
void cleave_nans_settle (CleaveElement element, gpointer data, gint64 n);
/* Returns whether two arrays of n elements have the same bits. Any NaN counts as equal to any other
 * NaN. */
gboolean cleave_nans_equal (CleaveElement element, gconstpointer a, gconstpointer b, gint64 n);
