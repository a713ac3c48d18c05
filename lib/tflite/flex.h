/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads numbers from the options of a custom operator. The options are a map in the format
 * FlexBuffers. Every offset is checked before it is followed. convert-detections.c calls
 * cleave_flex_get_number().
 *
 *   keys        the names of all entries
 *   map         [offset of keys] [width of keys] [size] [value 0] [value 1] … [type 0] [type 1] …
 *   last bytes  [offset of value 0 of the map] [type of the root] [width of the root]
 *
 * Numbers are little-endian and need not be aligned. An offset counts backward: it is the position
 * of the offset minus the position of its target. */

#include "flat.h"

/* Sets `value` to the number with the key `key`. If the map lacks the key, or if its value is null,
 * leaves `value` unchanged. */
gboolean cleave_flex_get_number (const CleaveFlatVector *bytes,
                                 const char *key,
                                 double *value,
                                 GError **error);
