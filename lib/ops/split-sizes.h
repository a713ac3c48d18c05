/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "move.h"

/* What the ways to write a split have in common.  Where one fails, the error says what was expected
 * and what came, under the name that the framework has for it. */

/* A dimension, negative from the end, as 0 to rank - 1. */
gboolean cleave_split_find_axis (const CleaveShape *shape, gint64 *axis, GError **error);
gboolean cleave_split_check_least (const char *name, gint64 value, gint64 least, GError **error);

/* Attributes for an axis that is right already; NULL on error.  Sizes as they are given: */
CleaveSplitAttrs *cleave_split_make (const CleaveShape *shape,
                                     const char *what,
                                     gint64 axis,
                                     const gint64 *sizes,
                                     guint n,
                                     GError **error);
/* n pieces of `size`, where what is left for the last may be less; */
CleaveSplitAttrs *cleave_split_make_sized (
    const CleaveShape *shape, gint64 axis, gint64 n, gint64 size, GError **error);
/* `count` equal pieces; */
CleaveSplitAttrs *cleave_split_make_equal (
    const CleaveShape *shape, gint64 axis, const char *name, gint64 count, GError **error);
/* pieces of one size, the last smaller where it does not divide; */
CleaveSplitAttrs *
cleave_split_make_of_size (const CleaveShape *shape, gint64 axis, gint64 size, GError **error);
/* sizes of which one may be -1: what is left. */
CleaveSplitAttrs *cleave_split_make_with_rest (const CleaveShape *shape,
                                               const char *what,
                                               gint64 axis,
                                               const gint64 *given,
                                               guint n,
                                               GError **error);

/* Says whose call it was, if there are no attributes; returns them. */
gpointer cleave_split_name_call (const char *call, gpointer attrs, GError **error);
