/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Dimensions that --shape gives as a range, such as seq=1..512. model.c loads a model with the
 * largest extent, 512. bounds.c loads the model again for smaller extents: 256, 128, 64, 32, 16 and
 * 1. */

/* A range of --shape, such as 1..512, is replaced by one of this many extents: the largest extent,
 * 1/2, 1/4, 1/8, 1/16 and 1/32 of the largest extent, and the smallest extent. */
#define CLEAVE_N_EXTENTS 7

/* Returns the texts of --shape with one extent in place of each range. `index` 0 selects the
 * largest extent, 1 selects half of the largest extent, 2 a quarter, and the last index the
 * smallest extent. Sets `n_changed` to the number of ranges whose extents for `index` and `index` -
 * 1 differ. Returns NULL and sets the error if a range is broken. `texts` NULL: no texts. */
char **cleave_extents_resolve (char *const *texts, guint index, guint *n_changed, GError **error);
