/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "json.h"
#include "model.h"

/* Costs of a model with smaller extents, for `cleave info` with a range such as --shape seq=1..512.
 */

/* Prints, for each smaller part of the ranges, the extents, the MACs and the peak of the
 * activations. Does nothing if there is no range. */
gboolean cleave_bounds_print (const char *path, const CleaveModelOptions *model, GError **error);
/* Adds the lines of cleave_bounds_print() to JSON, as a list. */
gboolean cleave_bounds_add_json (CleaveJson *json,
                                 const char *path,
                                 const CleaveModelOptions *model,
                                 GError **error);
