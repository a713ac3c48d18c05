/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* Runs a group of nodes between quantised values, tile by tile.  It serves every such kernel
 * instance. */
extern const CleaveKernelFamily cleave_kernel_quantized_tiles;
