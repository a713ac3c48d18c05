/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "byte-product.h"

#define cleave_kernel_channel_dot4 CLEAVE_LEVELLED (cleave_kernel_channel_dot4)

/* The kernel family of depthwise convolutions of bytes that adds four taps of a row with one
 * instruction. The family is compiled for AVX512-VNNI. integer-depthwise.c calls this family on
 * processors with AVX512-VNNI, and computes the depthwise convolutions that this family does not
 * serve. */
extern const CleaveKernelFamily cleave_kernel_channel_dot4;
