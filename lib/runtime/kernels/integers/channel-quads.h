/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "byte-product.h"

#define cleave_kernel_channel_quads CLEAVE_LEVELLED (cleave_kernel_channel_quads)

/* Convolutions of bytes with one input channel for each of the result, four taps of a row at once.
 * Compiled for VNNI, and called where the processor has it; what it does not serve is for
 * integer-depthwise.c. */
extern const CleaveKernelFamily cleave_kernel_channel_quads;
