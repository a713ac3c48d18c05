/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* Runs quantized groups (../memory/quantized-group.h): with one integer kernel if there is one
 * (quantized-whole.h), else tile by tile. */

/* The kernel family of quantized groups. It serves every instance. */
extern const CleaveKernelFamily cleave_kernel_quantized_tiles;
/* Returns whether the tiles are rows of the result in ascending order, and each row is written only
 * after all reads of the group's operands for that row. */
gboolean cleave_quantized_tiles_are_rows (gconstpointer state);
