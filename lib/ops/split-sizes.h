/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Computes the sizes of a Split from the arguments of a framework's call. The constructors of
 * cleave-frameworks.h (frameworks*.c) check a call's own rules, then call one of these functions.
 * Error messages give the expected and the found value, under the framework's names.
 *
 *   extent 5 in pieces of size 2 -> sizes 2, 2, 1 */

#include "move.h"

/* Checks that a shape has a dimension and no negative extent. */
gboolean cleave_split_check_shape (const CleaveShape *shape, GError **error);
/* Checks the shape, and converts an axis to 0 … rank - 1; negative values count from the end. */
gboolean cleave_split_find_axis (const CleaveShape *shape, gint64 *axis, GError **error);
gboolean cleave_split_check_least (const char *name, gint64 value, gint64 least, GError **error);

/* The functions below return attributes of a Split, or NULL on error. The axis must be 0 … rank
 * - 1. */

/* Splits into pieces of the given sizes, which must add up to the extent. */
CleaveSplitAttrs *cleave_split_make (const CleaveShape *shape,
                                     const char *what,
                                     gint64 axis,
                                     const gint64 *sizes,
                                     guint n,
                                     GError **error);
/* Splits into n pieces of `size`; the last piece may be smaller. */
CleaveSplitAttrs *cleave_split_make_sized (
    const CleaveShape *shape, gint64 axis, gint64 n, gint64 size, GError **error);
/* Splits into `count` equal pieces. */
CleaveSplitAttrs *cleave_split_make_equal (
    const CleaveShape *shape, gint64 axis, const char *name, gint64 count, GError **error);
/* Splits into as many pieces of `size` as needed; the last piece may be smaller. */
CleaveSplitAttrs *
cleave_split_make_of_size (const CleaveShape *shape, gint64 axis, gint64 size, GError **error);
/* Splits into pieces of the given sizes. One size may be -1: the remainder of the extent. */
CleaveSplitAttrs *cleave_split_make_with_rest (const CleaveShape *shape,
                                               const char *what,
                                               gint64 axis,
                                               const gint64 *given,
                                               guint n,
                                               GError **error);

/* If `attrs` is NULL, which means that an error is set, prefixes the message of the error with
 * `call`. `call` names an op of another framework, such as "XLA Slice". Returns `attrs`. */
gpointer cleave_split_name_call (const char *call, gpointer attrs, GError **error);
