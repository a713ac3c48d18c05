/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* Runs quantized groups (../memory/quantized-group.h): by one integer kernel if there is one
 * (quantized-whole.h), else tile by tile. */

/* The kernel family of quantized groups. It serves every
 * instance. */
extern const CleaveKernelFamily cleave_kernel_quantized_tiles;
/* Returns whether the tiles are rows of the result in ascending order, each written only after
 * everything it depends on has been read. */
gboolean cleave_quantized_tiles_are_rows (gconstpointer state);
