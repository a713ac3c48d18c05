/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Resolves sequences during the import. A value of the graph is a tensor, so the import keeps a
 * sequence as a list of tensors. The import runs each op of sequences itself, and adds nodes only
 * for tensors:
 *
 *     SplitToSequence (x, [2, 3]) -> s      Split (x, [2, 3]) -> s0, s1
 *     SequenceAt (s, 1) -> y            =>  y is s1
 *     ConcatFromSequence (s) -> z           Concat (s0, s1) -> z */

#include "sequences.h"
#include "node.h"

#include <string.h>

gboolean
cleave_onnx_finish_sequence (CleaveOnnxNode *node, GPtrArray *items)
{
  CleaveOnnxValue *value = cleave_onnx_value_new (node->import, NULL);

  for (guint i = 0; i < items->len; i++)
    ((CleaveOnnxValue *) items->pdata[i])->is_kept = TRUE;
  value->items = items;
  return cleave_onnx_finish (node, value);
}

GPtrArray *
cleave_onnx_get_items (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, 0);

  if (value != NULL && value->items != NULL && value->optional == CLEAVE_ONNX_NOT_OPTIONAL)
    return value->items;
  return cleave_onnx_node_fail_null (node, error, "its first operand must be a sequence");
}

gboolean
cleave_onnx_check_tensor (const CleaveOnnxNode *node, guint index, GError **error)
{
  const CleaveOnnxValue *value = cleave_onnx_node_operand (node, index);

  if (value != NULL && value->items == NULL)
    return TRUE;
  return cleave_onnx_node_fail (node, error, "operand %u must be a tensor", index);
}

/* Fails if an operand is a sequence or an optional value. Does not check the states of a Loop (the
 * operands from index 2 on), which may be sequences. */
gboolean
cleave_onnx_check_tensors (const CleaveOnnxNode *node, GError **error)
{
  const guint n = strcmp (node->op, "Loop") == 0 ? 2 : node->operands->len;

  for (guint i = 0; i < MIN (n, node->operands->len); i++)
    {
      const CleaveOnnxValue *value = node->operands->pdata[i];

      if (value != NULL && value->items != NULL)
        return cleave_onnx_node_fail (
            node, error, "operand %u is %s, which only ops of sequences can read", i,
            value->optional == CLEAVE_ONNX_NOT_OPTIONAL ? "a sequence" : "an optional value");
    }
  return TRUE;
}

/* Sets `position` to the value of operand `operand`, a position in a list of `n` tensors. A
 * negative value counts from the end of the list. `last`: 0, or 1 if the position may also be n,
 * the end of the list. Fails if the position is out of range. */
static gboolean
read_position (
    CleaveOnnxNode *node, guint operand, guint n, guint last, guint *position, GError **error)
{
  g_autoptr (CleaveOnnxAttr) numbers = NULL;
  gint64 number;

  if (!cleave_onnx_check_tensor (node, operand, error))
    return FALSE;
  numbers = cleave_onnx_node_read_numbers (node, operand, "position", error);
  if (numbers == NULL)
    return FALSE;
  if (numbers->ints->len != 1)
    return cleave_onnx_node_fail (node, error, "its position must be one integer");
  number = g_array_index (numbers->ints, gint64, 0);
  if (number < -(gint64) n || number >= (gint64) n + last)
    return cleave_onnx_node_fail (
        node, error, "position %" G_GINT64_FORMAT " lies outside of a sequence of %u tensors",
        number, n);
  *position = (guint) (number < 0 ? number + (gint64) n : number);
  return TRUE;
}

/* The functions below read ops that make or change a list of tensors. */

static gboolean
read_empty (CleaveOnnxNode *node, GError **error)
{
  return cleave_onnx_finish_sequence (
      node, g_ptr_array_new ()); /* ignore the element type: an empty list has no tensors */
}

static gboolean
read_construct (CleaveOnnxNode *node, GError **error)
{
  GPtrArray *items;

  for (guint i = 0; i < node->operands->len; i++)
    if (!cleave_onnx_check_tensor (node, i, error))
      return FALSE;
  items = g_ptr_array_new ();
  for (guint i = 0; i < node->operands->len; i++)
    g_ptr_array_add (items, node->operands->pdata[i]);
  return cleave_onnx_finish_sequence (node, items);
}

GPtrArray *
cleave_onnx_copy_items (const GPtrArray *items)
{
  GPtrArray *copy = g_ptr_array_new ();

  for (guint i = 0; i < items->len; i++)
    g_ptr_array_add (copy, items->pdata[i]);
  return copy;
}

static gboolean
read_insert (CleaveOnnxNode *node, GError **error)
{
  const GPtrArray *items = cleave_onnx_get_items (node, error);
  guint position = items == NULL ? 0 : items->len;
  GPtrArray *list;

  if (items == NULL || !cleave_onnx_check_tensor (node, 1, error) ||
      (cleave_onnx_node_operand (node, 2) != NULL &&
       !read_position (node, 2, items->len, 1, &position, error)) ||
      !cleave_onnx_unroll (node, items->len, error))
    return FALSE;
  list = cleave_onnx_copy_items (items);
  g_ptr_array_insert (list, (gint) position, cleave_onnx_node_operand (node, 1));
  return cleave_onnx_finish_sequence (node, list);
}

static gboolean
read_erase (CleaveOnnxNode *node, GError **error)
{
  const GPtrArray *items = cleave_onnx_get_items (node, error);
  guint position = items == NULL ? 0 : items->len - 1;
  GPtrArray *list;

  if (items == NULL || !cleave_onnx_unroll (node, items->len, error))
    return FALSE;
  if (items->len == 0)
    return cleave_onnx_node_fail (node, error, "its sequence is empty");
  if (cleave_onnx_node_operand (node, 1) != NULL &&
      !read_position (node, 1, items->len, 0, &position, error))
    return FALSE;
  list = cleave_onnx_copy_items (items);
  g_ptr_array_remove_index (list, position);
  return cleave_onnx_finish_sequence (node, list);
}

static gboolean
read_length (CleaveOnnxNode *node, GError **error)
{
  const GPtrArray *items = cleave_onnx_get_items (node, error);
  gint64 n = items == NULL ? 0 : items->len;

  return items != NULL &&
         cleave_onnx_finish (node, cleave_onnx_constant (node, &CLEAVE_SCALAR (CLEAVE_INT64), &n));
}

/* The functions below read ops that take tensors from a list or join the tensors. */

/* Reads SequenceAt. The tensor in the list gets the name of the result. If the tensor already has a
 * name, adds an Identity, whose result gets the name. */
static gboolean
read_at (CleaveOnnxNode *node, GError **error)
{
  GPtrArray *items = cleave_onnx_get_items (node, error);
  CleaveOnnxValue *item;
  guint position;

  if (items == NULL || !read_position (node, 1, items->len, 0, &position, error))
    return FALSE;
  item = g_ptr_array_index (items, position);
  if (item->name == NULL && item->constant == NULL)
    {
      item->name = cleave_pool_strdup (node->import->pool, node->name);
      return cleave_onnx_finish (node, item);
    }
  return cleave_onnx_finish (node, cleave_onnx_pass_on (node, item, error));
}

/* Adds a dimension of extent 1 at `axis` to each tensor. Returns the list of the results. */
static GPtrArray *
unsqueeze (CleaveOnnxNode *node, const GPtrArray *items, gint64 axis, GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new ();

  for (guint i = 0; i < items->len; i++)
    {
      g_autofree char *suffix = g_strdup_printf (".%u", i);
      CleaveShape shape = *cleave_onnx_value_shape (items->pdata[i]);
      gint64 d = axis < 0 ? axis + shape.rank + 1 : axis;

      if (d < 0 || d > (gint64) shape.rank || shape.rank == CLEAVE_MAX_RANK)
        return cleave_onnx_node_fail_null (
            node, error, "axis %" G_GINT64_FORMAT " is not one of %u", axis, shape.rank + 1);
      for (guint e = shape.rank++; e > (guint) d; e--)
        shape.dim[e] = shape.dim[e - 1];
      shape.dim[d] = 1;
      g_ptr_array_add (list,
                       cleave_onnx_node_reshape (node, items->pdata[i], &shape, suffix, error));
      if (list->pdata[i] == NULL)
        return NULL;
    }
  return g_steal_pointer (&list);
}

static gboolean
read_concat (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) axis = cleave_onnx_node_take (node, "axis");
  gboolean is_new = cleave_onnx_node_take_int (node, "new_axis", 0) != 0;
  const GPtrArray *items = cleave_onnx_get_items (node, error);
  g_autoptr (GPtrArray) list = NULL;
  gint64 d;

  if (items == NULL || !cleave_onnx_node_check_no_attrs (node, error))
    return FALSE;
  if (axis == NULL || axis->ints->len != 1)
    return cleave_onnx_node_fail (node, error, "it needs one axis");
  if (items->len == 0)
    return cleave_onnx_node_fail (node, error, "its sequence is empty");
  d = g_array_index (axis->ints, gint64, 0);
  list = is_new ? unsqueeze (node, items, d, error) : cleave_onnx_copy_items (items);
  return list != NULL &&
         cleave_onnx_finish (node, cleave_onnx_step (node, "Concat", "",
                                                     (CleaveOnnxValue **) list->pdata, list->len,
                                                     cleave_onnx_attr_new_int ("axis", d), error));
}

static const struct
{
  const char *op;
  gboolean (*read) (CleaveOnnxNode *node, GError **error);
} ops[] = {
  { "Optional", cleave_onnx_read_optional },
  { "OptionalGetElement", cleave_onnx_read_optional_element },
  { "OptionalHasElement", cleave_onnx_read_optional_has },
  { "ConcatFromSequence", read_concat },
  { "SequenceAt", read_at },
  { "SequenceConstruct", read_construct },
  { "SequenceEmpty", read_empty },
  { "SequenceErase", read_erase },
  { "SequenceInsert", read_insert },
  { "SequenceLength", read_length },
  { "SplitToSequence", cleave_onnx_read_split_to_sequence },
};

gboolean
cleave_onnx_is_sequence_op (const char *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (strcmp (ops[i].op, op) == 0)
      return TRUE;
  return strcmp (op, "SequenceMap") == 0; /* SequenceMap is not in the table, since the function
                                           * that reads it has one more parameter: the body of the
                                           * node */
}

gboolean
cleave_onnx_read_sequence (CleaveOnnxNode *node, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (strcmp (ops[i].op, node->op) == 0)
      return ops[i].read (node, error);
  return cleave_onnx_node_fail_op (node, error);
}
