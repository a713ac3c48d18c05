/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "level.h"

/* Elements of one type as elements of another, as Cast has it: rounded once to floats, towards zero
 * from floats to integers, which keep within what they hold; of integers the low bits. */

/* `n` elements side by side; y may be x. */
typedef void (*CleaveCastLine) (gconstpointer x, gpointer y, gint64 n);

/* NULL: by way of what is served this would be rounded twice, or it is of float64. */
CleaveCastLine CLEAVE_LEVELLED (cleave_cast_line_find) (CleaveElement from, CleaveElement to);

/* The same of elements that lie `x_step` and `y_step` apart. */
void CLEAVE_LEVELLED (cleave_cast_line_run) (CleaveCastLine line,
                                             gconstpointer x,
                                             gint64 x_step,
                                             gint64 x_size,
                                             gpointer y,
                                             gint64 y_step,
                                             gint64 y_size,
                                             gint64 n);
