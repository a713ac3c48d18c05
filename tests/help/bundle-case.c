/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes a bundle of a random node: a graph of one node, random constants for some operands, and the
 * result of the reference kernel. */

#include "bundle-case.h"

#include <string.h>

#include "test.h"

void
cleave_bundle_case_free (gpointer data)
{
  CleaveBundleCase *c = data;

  g_clear_pointer (&c->model, cleave_bundle_model_free);
  g_clear_pointer (&c->inputs, g_ptr_array_unref);
  g_clear_pointer (&c->result, cleave_tensor_unref);
  g_free (c);
}

/* Computes the node with the op's reference code. */
static CleaveTensor *
compute_reference (const CleaveNode *node, const GPtrArray *inputs)
{
  g_auto (CleaveNodeCall) call = { 0 };
  g_autofree CleaveView *views = g_new0 (CleaveView, node->n_operands);
  g_autofree CleaveView *results = g_new0 (CleaveView, node->n_results);
  g_autoptr (GPtrArray) tensors =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (x == NULL)
        continue;
      for (guint j = 0; j < node->graph->inputs->len; j++)
        if (node->graph->inputs->pdata[j] == x)
          views[i] = cleave_view_tensor (inputs->pdata[j]);
      if (cleave_node_get_constant (x->node) != NULL)
        views[i] = cleave_view_tensor (cleave_node_get_constant (x->node));
    }
  for (guint i = 0; i < node->n_results; i++)
    {
      CleaveTensor *tensor = cleave_tensor_new (&node->results[i].type, NULL);

      g_ptr_array_add (tensors, tensor);
      results[i] = cleave_view_tensor (tensor);
    }
  node->op->compute (cleave_node_call_init (&call, node), views, results);
  return cleave_tensor_ref (tensors->pdata[0]);
}

void
cleave_bundle_case_copy_image (const CleaveResult *result,
                               char *dense,
                               char *memory,
                               gboolean to_memory)
{
  CleaveBundleImage image = cleave_bundle_image (result);
  const CleaveShape *shape = &result->type.shape;
  gsize size = cleave_element_size (result->type.element);
  gint64 index[CLEAVE_MAX_RANK];

  for (gint64 i = 0; i < cleave_shape_n_elements (shape); i++)
    {
      gint64 rest = i, row = 0, column = 0, channel = 0, n = 0, at;

      for (guint d = shape->rank; d-- > 0;)
        {
          index[d] = rest % shape->dim[d];
          rest /= shape->dim[d];
        }
      for (gint d = 0; d < (gint) shape->rank; d++)
        if (d == image.row_dim)
          row = index[d];
        else if (d == image.column_dim)
          column = index[d];
        else if (d == image.channel_dim)
          channel = index[d];
        else
          n = n * shape->dim[d] + index[d];
      at = ((n * image.rows + row) * image.columns + column) * image.channels + channel;
      if (to_memory)
        memcpy (memory + at * (gint64) size, dense + i * (gint64) size, size);
      else
        memcpy (dense + i * (gint64) size, memory + at * (gint64) size, size);
    }
}

/* Kinds of random int8 weights. A bundle combines the weights of two channels in an int16: first +
 * 256 * second. This integer overflows if the first weight is negative and the second is -128, so
 * another kernel computes convolutions with such pairs. */
typedef enum { ANY, NO_LEAST, ALL_LEAST, LEAST_AND_MOST, LEAST_AFTER_POSITIVE, N_WEIGHTS } Weights;

static void
change_weights (CleaveTensor *tensor, Weights kind)
{
  const CleaveShape *shape = &cleave_tensor_get_type (tensor)->shape;
  gint8 *values = cleave_tensor_get_mutable_data (tensor);
  gint64 n = cleave_shape_n_elements (shape);

  for (gint64 i = 0; i < n; i++)
    {
      gboolean is_odd = shape->rank > 0 && i / (n / shape->dim[0]) % 2 == 1;

      if (kind == NO_LEAST)
        values[i] = MAX (values[i], -127);
      else if (kind == ALL_LEAST || (kind == LEAST_AND_MOST && values[i] < 0))
        values[i] = -128;
      else if (kind == LEAST_AND_MOST)
        values[i] = 127;
      else if (kind == LEAST_AFTER_POSITIVE)
        values[i] = is_odd ? -128 : MAX (values[i], 0);
    }
}

/* Makes a random constant that is legal for an operand. */
static CleaveTensor *
make_constant (const CleaveNode *node, guint operand, GRand *rand)
{
  const CleaveTensorType *type = &node->operands[operand].result->type;
  const char *name = cleave_op_operand_name (node->op, operand);
  CleaveTensor *tensor = cleave_random_tensor (type, g_rand_int (rand), FALSE);
  gint32 *values = cleave_tensor_get_mutable_data (tensor);
  gint32 least = 0, most = 0;

  if (type->element == CLEAVE_INT8)
    change_weights (tensor, (Weights) g_rand_int_range (rand, ANY, N_WEIGHTS));
  if (type->element != CLEAVE_INT32)
    return tensor;
  if (g_str_equal (name, "multiplier"))
    {
      least = 1 << 30;
      most = G_MAXINT32 - 1;
    }
  else if (g_str_equal (name, "shift"))
    {
      least = g_rand_int_range (rand, -14, 0);
      most = 1;
    }
  else if (g_str_equal (name, "table"))
    most = G_MAXINT32 - 1;
  else
    {
      least = -30000;
      most = 30000;
    }
  for (gint64 i = 0; i < cleave_shape_n_elements (&type->shape); i++)
    values[i] = g_rand_int_range (rand, least, most + 1);
  if (g_str_equal (name, "B") && g_rand_int_range (rand, 0, 4) == 0)
    values[0] = 1500000000; /* twice this bias exceeds an int32, so no kernel may double the sum */
  return tensor;
}

/* Makes all operands constant except the first. An op with the operands A and B, such as MatMul,
 * sometimes keeps both as inputs. The operands of a join stay inputs, and so do the operands of a
 * node whose first operand is constant. */
static void
fix_operands (CleaveGraph *graph, CleaveNode *node, GRand *rand)
{
  guint first = g_rand_int_range (rand, 0, 2) == 0 ? 1 : 2;

  if ((node->op->flags & CLEAVE_OP_JOIN) ||
      cleave_node_get_constant (node->operands[0].result->node) != NULL)
    return;
  if (node->n_operands != 2 || !g_str_equal (cleave_op_operand_name (node->op, 1), "B"))
    first = 1;
  for (guint i = first; i < node->n_operands; i++)
    {
      CleaveResult *x = node->operands[i].result;
      g_autoptr (CleaveTensor) value = NULL;

      if (x == NULL || cleave_node_get_constant (x->node) != NULL)
        continue;
      value = make_constant (node, i, rand);
      cleave_result_replace_uses (x, cleave_graph_add_constant (graph, NULL, value));
    }
}

CleaveBundleCase *
cleave_bundle_case_new (const CleaveRandomOp *maker, guint seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *node = maker->make (graph, rand);
  g_autofree char *name = g_strdup_printf ("c%s%u", maker->op, seed);
  CleaveBundleOptions options = { .name = name };
  g_autoptr (GError) error = NULL;
  CleaveBundleModel *model;
  CleaveBundleCase *c;

  if (node == NULL || cleave_shape_n_elements (&node->results[0].type.shape) == 0)
    return NULL;
  fix_operands (graph, node, rand);
  cleave_graph_add_output (graph, "y", &node->results[0], NULL);
  model = cleave_bundle_model_new (graph, &options, -1, FALSE, &error);
  if (model == NULL && g_getenv ("BUNDLE_TEST_TELL") != NULL)
    g_printerr ("%s\n", error->message);
  if (model == NULL)
    return NULL;
  if (model->steps->len == 0) /* the node is a view, so there is no kernel to test */
    {
      cleave_bundle_model_free (model);
      return NULL;
    }
  c = g_new0 (CleaveBundleCase, 1);
  c->model = model;
  c->op = maker->op;
  c->seed = seed;
  c->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const CleaveResult *input = graph->inputs->pdata[i];

      g_ptr_array_add (c->inputs, cleave_random_tensor (&input->type, g_rand_int (rand), FALSE));
    }
  c->result = compute_reference (node, c->inputs);
  return c;
}
