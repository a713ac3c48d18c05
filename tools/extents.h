/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Dimensions that --shape gives as a range, such as seq=1..512. model.c loads a model with the
 * largest extent, 512. bounds.c loads the model again for smaller extents: 256, 128, 64, 32, 16 and
 * 1. */

/* A range of --shape, such as 1..512, is replaced by one of this many extents: the largest extent,
 * 1/2, 1/4, 1/8, 1/16 and 1/32 of the largest extent, and the smallest extent. If a fraction is
 * smaller than the smallest extent, the smallest extent replaces the fraction. */
#define CLEAVE_N_EXTENTS 7

/* Returns the texts of --shape with one extent in place of each range. `index` selects the extent:
 * 0 selects the largest extent of the range, 1 half of it, 2 a quarter, and CLEAVE_N_EXTENTS - 1
 * the smallest extent. Sets `n_changed` to the number of ranges whose extent differs from the
 * extent for the previous index, `index` - 1. If `index` is 0, sets `n_changed` to 0. Returns NULL
 * and sets the error if a range has a wrong format. `texts` NULL: no texts. */
char **cleave_extents_resolve (char *const *texts, guint index, guint *n_changed, GError **error);
