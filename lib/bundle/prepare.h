/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The rewrites of nodes before they are lowered (prepare.c). Each returns FALSE and sets the error
 * if it fails, and does nothing if a node needs no rewrite. */

#include "model.h"

/* Recurrent nodes in other directions than forward (prepare-recurrent.c). */
gboolean cleave_bundle_prepare_recurrent (CleaveGraph *graph, CleaveNode *node, GError **error);
