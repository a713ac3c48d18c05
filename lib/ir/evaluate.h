/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* Whether all operands of the node are constants (or it has none) and it is not a Constant or Input itself. */
gboolean cleave_evaluate_can (const CleaveNode *node);
/* Values of the results of such a node.  Of a VIEW op they share the operand's bytes; else the reference kernel makes
 * them.  (transfer full) array of CleaveTensor; NULL and the error if one does not fit. */
GPtrArray *cleave_evaluate (const CleaveNode *node, GError **error);
