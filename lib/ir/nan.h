/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The bits of NaNs. The sum of two NaNs is one of the two, and its sign may differ; the processor
 * and the compiler choose. So Cleave promises that pieces equal the whole bit for bit, except for
 * the bits of NaNs. */

#include <cleave/cleave-types.h>

/* Replaces each NaN among n elements by the quiet NaN with a positive sign and no payload. */
void cleave_nans_settle (CleaveElement element, gpointer data, gint64 n);
/* Returns whether n elements have the same bits; any NaN equals any other. */
gboolean cleave_nans_equal (CleaveElement element, gconstpointer a, gconstpointer b, gint64 n);
