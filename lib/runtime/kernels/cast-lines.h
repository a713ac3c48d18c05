/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "level.h"

/* Converts elements from one type to another, by the rules of Cast. convert.c finds the conversion
 * in `prepare` and runs it on each line. Conversions to floats round once. Floats become integers
 * by truncation, and saturate. Integers become smaller integers by keeping the low bits. */

/* Converts `n` contiguous elements of x, and stores the results at y. y and x may be the same
 * address. */
typedef void (*CleaveCastLine) (gconstpointer x, gpointer y, gint64 n);

/* Returns the conversion from one element type to another. Returns NULL if a type is float64, or if
 * a conversion through float32 would round twice. */
CleaveCastLine CLEAVE_LEVELLED (cleave_cast_line_find) (CleaveElement from, CleaveElement to);

/* Converts `n` strided elements with `line`. `x_step` and `y_step` are the distances of adjacent
 * elements, in elements; `x_size` and `y_size` are the bytes of one element. */
void CLEAVE_LEVELLED (cleave_cast_line_run) (CleaveCastLine line,
                                             gconstpointer x,
                                             gint64 x_step,
                                             gint64 x_size,
                                             gpointer y,
                                             gint64 y_step,
                                             gint64 y_size,
                                             gint64 n);
