/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The rewrites of nodes before they are lowered (prepare.c). Each returns FALSE and sets the error
 * if it fails, and does nothing if a node needs no rewrite. */

#include "model.h"

/* Recurrent nodes in other directions than forward (prepare-recurrent.c). */
gboolean cleave_bundle_prepare_recurrent (CleaveGraph *graph, CleaveNode *node, GError **error);

/* Rewrite a node that no kernel can compute without a rewrite (prepare-lines.c). */
gboolean cleave_bundle_prepare_softmax (CleaveGraph *graph, CleaveNode *node, GError **error);
gboolean cleave_bundle_prepare_reduce (CleaveGraph *graph, CleaveNode *node, GError **error);
gboolean cleave_bundle_prepare_arg (CleaveGraph *graph, CleaveNode *node, GError **error);
gboolean cleave_bundle_prepare_layer_norm (CleaveGraph *graph, CleaveNode *node, GError **error);
gboolean cleave_bundle_prepare_matmul (CleaveGraph *graph, CleaveNode *node, GError **error);
gboolean cleave_bundle_prepare_repeat (CleaveGraph *graph, CleaveNode *node, GError **error);
/* Rewrites a Gemm that no kernel can compute without a rewrite (prepare-gemm.c). */
gboolean cleave_bundle_prepare_gemm (CleaveGraph *graph, CleaveNode *node, GError **error);
