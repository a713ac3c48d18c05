/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The list of all ops, which meson.build generates, and lookup by name. */

#include "../ir/op.h"

/* clang-format off */
#define X(word) extern const CleaveOp cleave_op_##word;
#include "op-list.h"
#undef X

static const CleaveOp *const ops[] = {
#define X(word) &cleave_op_##word,
#include "op-list.h"
#undef X
};
/* clang-format on */

/**
 * cleave_op_list:
 * @n_ops: (out): number of ops
 *
 * Lists all ops that the library knows, in a fixed order.
 *
 * Returns: (transfer none) (array length=n_ops): the ops
 *
 * Since: 0.1
 */
const CleaveOp *const *
cleave_op_list (guint *n_ops)
{
  g_return_val_if_fail (n_ops != NULL, NULL);
  *n_ops = G_N_ELEMENTS (ops);
  return ops;
}

static gpointer
make_index (gpointer data)
{
  GHashTable *index = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    g_hash_table_insert (index, (gpointer) ops[i]->name, (gpointer) ops[i]);
  return index;
}

/**
 * cleave_op_lookup:
 * @name: the name of the op in ONNX, such as `Conv`
 *
 * Finds an op by its name, in constant time.
 *
 * Returns: (transfer none) (nullable): the op, or %NULL if there is none
 *
 * Since: 0.1
 */
const CleaveOp *
cleave_op_lookup (const char *name)
{
  g_return_val_if_fail (name != NULL, NULL);

  static GOnce once = G_ONCE_INIT;

  return g_hash_table_lookup (g_once (&once, make_index, NULL), name);
}
