/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* Runs a group of nodes between quantised values, tile by tile.  It serves every such kernel
 * instance. */
extern const CleaveKernelFamily cleave_kernel_quantized_tiles;
/* Whether the tiles are rows of the result, the first ones first, and each is written only once it
 * has read all that it reads. */
gboolean cleave_quantized_tiles_are_rows (gconstpointer state);
