/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Layers that call CMSIS-NN, ARM's library of kernels for Cortex-M (`--kernels cmsis-nn`). Such a
 * layer is flat: one call of a function of CMSIS-NN computes a whole image. */

#include "layer.h"

/* Describes the layer that computes a node by a call of CMSIS-NN. Returns FALSE if CMSIS-NN has no
 * function that computes the same bits, or if the operands, the result and the context buffer have
 * more than `max_bytes` together. In both cases, the layer stays without a kernel. Sets
 * `call_bytes` of the layer if there is a function. If `max_bytes` is negative, does nothing and
 * returns FALSE. */
gboolean
cleave_bundle_describe_cmsis (const CleaveNode *node, gint64 max_bytes, CleaveBundleLayer *layer);
