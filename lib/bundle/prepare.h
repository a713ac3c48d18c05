/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The rewrites of nodes before lowering. cleave_bundle_prepare() (prepare.c) calls them for each
 * node of the graph that a bundle cannot compute. Each rewrite returns FALSE and sets the error on
 * failure, and does nothing if a node needs no rewrite. Example: a Softmax along dimension 1 of [2,
 * 3, 4] becomes Transpose, Reshape to [8, 3], Softmax, Reshape, Transpose. */

#include "model.h"

/* Rewrites recurrent nodes that run backward or in both directions to forward nodes
 * (prepare-recurrent.c). */
gboolean cleave_bundle_prepare_recurrent (CleaveGraph *graph, CleaveNode *node, GError **error);

/* The next functions rewrite nodes that no kernel can compute, so that they work along the last
 * dimension or on matrices. */
gboolean cleave_bundle_prepare_softmax (CleaveGraph *graph, CleaveNode *node, GError **error);
gboolean cleave_bundle_prepare_reduce (CleaveGraph *graph, CleaveNode *node, GError **error);
gboolean cleave_bundle_prepare_arg (CleaveGraph *graph, CleaveNode *node, GError **error);
gboolean cleave_bundle_prepare_layer_norm (CleaveGraph *graph, CleaveNode *node, GError **error);
gboolean cleave_bundle_prepare_matmul (CleaveGraph *graph, CleaveNode *node, GError **error);
gboolean cleave_bundle_prepare_repeat (CleaveGraph *graph, CleaveNode *node, GError **error);
/* Rewrites a Gemm that no kernel can compute (prepare-gemm.c). */
gboolean cleave_bundle_prepare_gemm (CleaveGraph *graph, CleaveNode *node, GError **error);
/* Rewrites all ops of uint8 that gain from a rewrite to int8 (prepare-unsigned.c). */
gboolean cleave_bundle_prepare_unsigned (CleaveGraph *graph, GError **error);
