/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "json.h"
#include "model.h"

/* Prints the costs of a model for smaller extents, for `cleave info` with a range such as --shape
 * seq=1..512. For this range, cmd-info.c prints the costs with seq=512, and these functions add one
 * line for each of the extents 256, 128, 64, 32, 16 and 1. extents.h chooses the extents, and
 * bounds.c loads the model again for each extent. */

/* Prints a line for each set of extents that are smaller than the largest extents of the ranges:
 * the extents, the MACs, and the peak of the activations. Prints nothing if no option --shape has a
 * range. */
gboolean cleave_bounds_print (const char *path, const CleaveModelOptions *model, GError **error);
/* Adds the lines of cleave_bounds_print() to the JSON as a list. */
gboolean cleave_bounds_add_json (CleaveJson *json,
                                 const char *path,
                                 const CleaveModelOptions *model,
                                 GError **error);
