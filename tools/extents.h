/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Dimensions that --shape gives as a range, such as seq=1..512. model.c loads a model with the
 * largest extent, 512. bounds.c loads the model again for smaller extents: 256, 128, 64, 32, 16 and
 * 1. */

/* Number of extents of a range: the largest extent, 1/2 to 1/32 of the largest, and the
 * smallest. */
#define CLEAVE_N_EXTENTS 7

/* Returns the texts of --shape with one extent in place of each range. `part` 0 selects the largest
 * extent, `part` 1 half of it, `part` 2 a quarter, and the last `part` the smallest extent. Sets
 * `n_changed` to the number of ranges whose extent differs between `part` and `part` - 1. Returns
 * NULL and an error if a range is broken. `texts` NULL: no texts. */
char **cleave_extents_resolve (char *const *texts, guint part, guint *n_changed, GError **error);
