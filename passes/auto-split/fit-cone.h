/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* What is worth making later, or again, is so many times as large as what it is made of, or ends so
 * what is. */
#define CLEAVE_FIT_MUCH_LARGER 3

static inline gint64
cleave_fit_count_bytes (const CleaveResult *value)
{
  return cleave_tensor_type_n_bytes (&value->type);
}

/* Inputs and constants, which no order makes later. */
static inline gboolean
cleave_fit_is_there_anyway (const CleaveNode *node)
{
  return cleave_node_is_input (node) || cleave_node_is_fixed (node);
}

gboolean cleave_fit_can_copy (const CleaveNode *node);
/* Adds the nodes (CleaveNode) that make a value of some that are much smaller than so many bytes.
 * FALSE: there are too many, or some cannot be copied. */
gboolean cleave_fit_cone_add (GPtrArray *cone, const CleaveResult *value, gint64 n_bytes);
