/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "row.h"

/* Moves nodes between adjacent parts of a row (row.h), if fewer bytes then pass between the parts
 * and each part still needs at most `limit` bytes. row-bytes.c calls this function after it has
 * chosen the cuts. `ends` has the positions where parts begin and end. Changes the order of the
 * nodes: afterwards, only the fields `nodes` and `place` of the row are valid. */
void cleave_row_refine (CleaveRow *row, GArray *ends, gint64 limit);
