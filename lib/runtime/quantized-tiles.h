/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* Runs quantized groups (../memory/quantized-group.h). lower.c uses this family for each step that
 * is a quantized group. A group runs as one integer kernel if quantized-whole.h finds a kernel for
 * it, else tile by tile. */

/* The kernel family of all quantized groups. */
extern const CleaveKernelFamily cleave_kernel_quantized_tiles;
/* Returns whether the tiles are rows of the result in ascending order. The group then writes each
 * row only after it has read all rows of its operands that this row needs. */
gboolean cleave_quantized_tiles_are_rows (gconstpointer state);
