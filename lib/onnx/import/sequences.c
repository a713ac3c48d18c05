/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Resolves sequences. In the graph, values are tensors. During the import, a sequence is a list of
 * tensors, so that each op of sequences is done at once:
 *
 *     SplitToSequence (x, [2, 3]) -> s      Split (x, [2, 3]) -> s0, s1
 *     SequenceAt (s, 1) -> y            =>  y is s1
 *     ConcatFromSequence (s) -> z           Concat (s0, s1) -> z */

#include "import.h"

#include <string.h>

/* Makes the node's value a sequence; takes the list. */
static gboolean
finish (CleaveOnnxNode *node, GPtrArray *items)
{
  CleaveOnnxValue *value = cleave_onnx_value_new (node->import, NULL);

  for (guint i = 0; i < items->len; i++)
    ((CleaveOnnxValue *) items->pdata[i])->is_kept = TRUE;
  value->items = items;
  return cleave_onnx_finish (node, value);
}

/* Returns the sequence that an operand is, or NULL and an error. */
static GPtrArray *
get_items (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, 0);

  if (value != NULL && value->items != NULL)
    return value->items;
  return cleave_onnx_node_fail_null (node, error, "its first operand must be a sequence");
}

/* Returns whether an operand is a tensor. */
static gboolean
check_tensor (const CleaveOnnxNode *node, guint index, GError **error)
{
  const CleaveOnnxValue *value = cleave_onnx_node_operand (node, index);

  if (value != NULL && value->items == NULL)
    return TRUE;
  return cleave_onnx_node_fail (node, error, "operand %u must be a tensor", index);
}

/* The states of a Loop, operands from index 2 on, may be sequences. */
gboolean
cleave_onnx_check_tensors (const CleaveOnnxNode *node, GError **error)
{
  const guint n = strcmp (node->op, "Loop") == 0 ? 2 : node->operands->len;

  for (guint i = 0; i < MIN (n, node->operands->len); i++)
    {
      const CleaveOnnxValue *value = node->operands->pdata[i];

      if (value != NULL && value->items != NULL)
        return cleave_onnx_node_fail (
            node, error, "operand %u is a sequence, which only ops of sequences can read", i);
    }
  return TRUE;
}

/* Reads the position that an operand gives in a list of `n` tensors. Negative positions count from
 * the end. Position `n` is allowed if `last` is 1, not if it is 0. */
static gboolean
read_position (
    CleaveOnnxNode *node, guint operand, guint n, guint last, guint *position, GError **error)
{
  g_autoptr (CleaveOnnxAttr) numbers = NULL;
  gint64 number;

  if (!check_tensor (node, operand, error))
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

/* SplitToSequence */

/* Returns the sizes (gint64) of the tensors: the sizes in the operand, or equal sizes and a
 * remainder, or 1 for each. */
static GArray *
read_sizes (CleaveOnnxNode *node, gint64 extent, GError **error)
{
  CleaveOnnxValue *split = cleave_onnx_node_operand (node, 1);
  g_autoptr (CleaveOnnxAttr) numbers = NULL;
  GArray *sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 size = 1;

  if (split != NULL)
    {
      numbers = check_tensor (node, 1, error)
                    ? cleave_onnx_node_read_numbers (node, 1, "split", error)
                    : NULL;
      if (numbers == NULL || numbers->ints->len != numbers->floats->len)
        {
          g_array_unref (sizes);
          return cleave_onnx_node_fail_null (node, error, "split must be integers");
        }
      if (cleave_onnx_value_shape (split)->rank > 0)
        {
          g_array_append_vals (sizes, numbers->ints->data, numbers->ints->len);
          return sizes;
        }
      size = g_array_index (numbers->ints, gint64, 0);
    }
  if (size <= 0 || !cleave_onnx_unroll (node, (gsize) (extent / size), error))
    {
      g_array_unref (sizes);
      return cleave_onnx_node_fail_null (node, error, "split must be more than 0");
    }
  for (gint64 at = 0; at < extent; at += size)
    {
      gint64 n = MIN (size, extent - at);

      g_array_append_val (sizes, n);
    }
  return sizes;
}

static gboolean
check_sizes (const CleaveOnnxNode *node, const GArray *sizes, gint64 extent, GError **error)
{
  gint64 left = extent;

  for (guint i = 0; i < sizes->len; i++)
    {
      gint64 size = g_array_index (sizes, gint64, i);

      if (size < 0 || size > left)
        return cleave_onnx_node_fail (node, error, "its sizes do not add up to %" G_GINT64_FORMAT,
                                      extent);
      left -= size;
    }
  return left == 0 || cleave_onnx_node_fail (
                          node, error, "its sizes do not add up to %" G_GINT64_FORMAT, extent);
}

/* Returns the parts of operand 0, as results of one Split. */
static GPtrArray *
split (CleaveOnnxNode *node, guint axis, const GArray *sizes, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);
  g_autoptr (CleaveOnnxNode) made = NULL;
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, sizes->len);
  GPtrArray *items = g_ptr_array_new ();

  if (sizes->len == 0)
    return items;
  made = cleave_onnx_node_new (node->import, "Split", node->name, sizes->len);
  cleave_onnx_node_set_operand (made, 0, x);
  cleave_onnx_node_set_operand (made, 1, cleave_onnx_constant (node, &type, sizes->data));
  g_ptr_array_add (made->attrs, cleave_onnx_attr_new_int ("axis", axis));
  if (!cleave_onnx_node_make (made, error))
    {
      g_ptr_array_unref (items);
      return NULL;
    }
  for (guint i = 0; i < sizes->len; i++)
    g_ptr_array_add (items, made->values->pdata[i]);
  return items;
}

/* Removes a dimension of extent 1 from each tensor. */
static gboolean
squeeze (CleaveOnnxNode *node, GPtrArray *items, guint axis, GError **error)
{
  for (guint i = 0; i < items->len; i++)
    {
      g_autofree char *suffix = g_strdup_printf (".%u", i);
      CleaveShape shape = *cleave_onnx_value_shape (items->pdata[i]);

      for (guint d = axis; d + 1 < shape.rank; d++)
        shape.dim[d] = shape.dim[d + 1];
      shape.dim[--shape.rank] = 0;
      items->pdata[i] = cleave_onnx_node_reshape (node, items->pdata[i], &shape, suffix, error);
      if (items->pdata[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_split_to_sequence (CleaveOnnxNode *node, GError **error)
{
  gint64 axis = cleave_onnx_node_take_int (node, "axis", 0);
  gboolean keeps = cleave_onnx_node_take_int (node, "keepdims", 1) != 0;
  const CleaveShape *shape;
  g_autoptr (GArray) sizes = NULL;
  g_autoptr (GPtrArray) items = NULL;

  if (!check_tensor (node, 0, error) || !cleave_onnx_node_check_no_attrs (node, error))
    return FALSE;
  shape = cleave_onnx_node_operand_shape (node, 0);
  if (axis < -(gint64) shape->rank || axis >= (gint64) shape->rank)
    return cleave_onnx_node_fail (node, error, "axis %" G_GINT64_FORMAT " is not one of %u", axis,
                                  shape->rank);
  axis += axis < 0 ? shape->rank : 0;
  sizes = read_sizes (node, shape->dim[axis], error);
  if (sizes == NULL || !check_sizes (node, sizes, shape->dim[axis], error))
    return FALSE;
  items = split (node, (guint) axis, sizes, error);
  if (items == NULL || (!keeps && cleave_onnx_node_operand (node, 1) == NULL &&
                        !squeeze (node, items, (guint) axis, error)))
    return FALSE;
  return finish (node, g_steal_pointer (&items));
}

/* Lists */

static gboolean
read_empty (CleaveOnnxNode *node, GError **error)
{
  return finish (node, g_ptr_array_new ()); /* the element type of the tensors does not matter */
}

static gboolean
read_construct (CleaveOnnxNode *node, GError **error)
{
  GPtrArray *items;

  for (guint i = 0; i < node->operands->len; i++)
    if (!check_tensor (node, i, error))
      return FALSE;
  items = g_ptr_array_new ();
  for (guint i = 0; i < node->operands->len; i++)
    g_ptr_array_add (items, node->operands->pdata[i]);
  return finish (node, items);
}

static GPtrArray *
copy_items (const GPtrArray *items)
{
  GPtrArray *copy = g_ptr_array_new ();

  for (guint i = 0; i < items->len; i++)
    g_ptr_array_add (copy, items->pdata[i]);
  return copy;
}

static gboolean
read_insert (CleaveOnnxNode *node, GError **error)
{
  const GPtrArray *items = get_items (node, error);
  guint position = items == NULL ? 0 : items->len;
  GPtrArray *list;

  if (items == NULL || !check_tensor (node, 1, error) ||
      (cleave_onnx_node_operand (node, 2) != NULL &&
       !read_position (node, 2, items->len, 1, &position, error)) ||
      !cleave_onnx_unroll (node, items->len, error))
    return FALSE;
  list = copy_items (items);
  g_ptr_array_insert (list, (gint) position, cleave_onnx_node_operand (node, 1));
  return finish (node, list);
}

static gboolean
read_erase (CleaveOnnxNode *node, GError **error)
{
  const GPtrArray *items = get_items (node, error);
  guint position = items == NULL ? 0 : items->len - 1;
  GPtrArray *list;

  if (items == NULL || !cleave_onnx_unroll (node, items->len, error))
    return FALSE;
  if (items->len == 0)
    return cleave_onnx_node_fail (node, error, "its sequence is empty");
  if (cleave_onnx_node_operand (node, 1) != NULL &&
      !read_position (node, 1, items->len, 0, &position, error))
    return FALSE;
  list = copy_items (items);
  g_ptr_array_remove_index (list, position);
  return finish (node, list);
}

static gboolean
read_length (CleaveOnnxNode *node, GError **error)
{
  const GPtrArray *items = get_items (node, error);
  gint64 n = items == NULL ? 0 : items->len;

  return items != NULL &&
         cleave_onnx_finish (node, cleave_onnx_constant (node, &CLEAVE_SCALAR (CLEAVE_INT64), &n));
}

/* The tensors */

/* SequenceAt: the tensor, under the name of the result. A tensor that has a name keeps it. */
static gboolean
read_at (CleaveOnnxNode *node, GError **error)
{
  GPtrArray *items = get_items (node, error);
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

/* Adds a dimension of extent 1 to each tensor; returns a new list. */
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
  const GPtrArray *items = get_items (node, error);
  g_autoptr (GPtrArray) list = NULL;
  gint64 d;

  if (items == NULL || !cleave_onnx_node_check_no_attrs (node, error))
    return FALSE;
  if (axis == NULL || axis->ints->len != 1)
    return cleave_onnx_node_fail (node, error, "it needs one axis");
  if (items->len == 0)
    return cleave_onnx_node_fail (node, error, "its sequence is empty");
  d = g_array_index (axis->ints, gint64, 0);
  list = is_new ? unsqueeze (node, items, d, error) : copy_items (items);
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
  { "ConcatFromSequence", read_concat },   { "SequenceAt", read_at },
  { "SequenceConstruct", read_construct }, { "SequenceEmpty", read_empty },
  { "SequenceErase", read_erase },         { "SequenceInsert", read_insert },
  { "SequenceLength", read_length },       { "SplitToSequence", read_split_to_sequence },
};

gboolean
cleave_onnx_is_sequence_op (const char *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (strcmp (ops[i].op, op) == 0)
      return TRUE;
  return FALSE;
}

gboolean
cleave_onnx_read_sequence (CleaveOnnxNode *node, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (strcmp (ops[i].op, node->op) == 0)
      return ops[i].read (node, error);
  return cleave_onnx_node_fail_op (node, error);
}
