/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The list of all ops that a bundle can compute. */

#include "ops.h"

static const CleaveBundleOp *const ops[] = {
  &cleave_bundle_op_tflite_conv,
};

static const CleaveBundleOp *
find (const char *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (g_str_equal (ops[i]->op, op))
      return ops[i];
  return NULL;
}

const CleaveBundleOp *
cleave_bundle_op_find (const CleaveNode *node)
{
  return find (node->op->name);
}

gboolean
cleave_bundle_op_has (const char *op)
{
  return find (op) != NULL;
}
