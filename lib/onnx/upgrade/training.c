/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades ops of training to compositions of other ops: NegativeLogLikelihoodLoss,
 * SoftmaxCrossEntropyLoss, and a BatchNormalization that computes the statistics of its operand. */

#include "contrib.h"

#include <string.h>

#include "../../ops/reference.h"

#define STEP CLEAVE_ONNX_STEP

static CleaveOnnxValue *
integers (CleaveOnnxNode *node, const gint64 *numbers, guint n)
{
  return cleave_onnx_constant (node, &CLEAVE_TYPE (CLEAVE_INT64, n), numbers);
}

/* The operands and attributes of a NegativeLogLikelihoodLoss or a SoftmaxCrossEntropyLoss. */

typedef struct
{
  CleaveOnnxValue *x, *target, *weight; /* operands 0 to 2; NULL: no weights */
  CleaveOnnxValue *ignored;             /* label that is ignored; NULL: none */
  char *reduction;                      /* attribute `reduction`; NULL: mean */
} Loss;

static void
loss_clear (Loss *loss)
{
  g_free (loss->reduction);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Loss, loss_clear)

/* Checks the shape of the labels: it must be the shape of `x` without the dimension of classes. */
static gboolean
check_labels (CleaveOnnxNode *node, const CleaveShape *x, const CleaveShape *labels, GError **error)
{
  CleaveShape wanted = { .rank = x->rank - 1 };

  if (x->rank < 2)
    return cleave_onnx_node_fail (node, error, "its first operand has no classes: its rank is %u",
                                  x->rank);
  for (guint d = 0; d < wanted.rank; d++)
    wanted.dim[d] = x->dim[d == 0 ? 0 : d + 1];
  if (!cleave_shape_equal (&wanted, labels))
    {
      g_autofree char *want = cleave_shape_to_string (&wanted);
      g_autofree char *got = cleave_shape_to_string (labels);

      return cleave_onnx_node_fail (node, error, "labels are %s, but should be %s", got, want);
    }
  return TRUE;
}

static gboolean
loss_read (Loss *loss, CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) reduction = cleave_onnx_node_take (node, "reduction");
  g_autoptr (CleaveOnnxAttr) ignored = cleave_onnx_node_take (node, "ignore_index");
  CleaveTensorType label;

  *loss = (Loss){ .x = cleave_onnx_node_operand (node, 0),
                  .target = cleave_onnx_node_operand (node, 1),
                  .weight = cleave_onnx_node_operand (node, 2) };
  if (loss->x == NULL || loss->target == NULL)
    return cleave_onnx_node_fail (node, error, "it has no labels");
  if (reduction != NULL)
    loss->reduction = g_steal_pointer (&reduction->string);
  if (loss->reduction != NULL && strcmp (loss->reduction, "none") != 0 &&
      strcmp (loss->reduction, "sum") != 0 && strcmp (loss->reduction, "mean") != 0)
    return cleave_onnx_node_fail (node, error, "reduction '%s' is not supported", loss->reduction);
  label = CLEAVE_SCALAR (cleave_onnx_value_type (loss->target)->element);
  if (label.element != CLEAVE_INT32 && label.element != CLEAVE_INT64)
    return cleave_onnx_node_fail (node, error, "labels cannot be %s",
                                  cleave_element_get_name (label.element));
  if (ignored != NULL && ignored->ints->len == 1)
    loss->ignored = cleave_onnx_value_new_constant (
        node->import, NULL, cleave_tensor_new_copy (&label, ignored->ints->data, NULL));
  return cleave_onnx_node_check_no_attrs (node, error) &&
         check_labels (node, &cleave_onnx_value_type (loss->x)->shape,
                       &cleave_onnx_value_type (loss->target)->shape, error);
}

static CleaveOnnxValue *
reduce (
    CleaveOnnxNode *node, const char *op, const char *suffix, CleaveOnnxValue *x, GError **error)
{
  return STEP (op, suffix, cleave_onnx_attr_new_int ("keepdims", 0), x);
}

/* Returns the weighted loss of each label. Sets `weight` to the weight of each label; NULL: all
 * are 1. An ignored label may be no valid class, so the Gathers read class 0 for it. */
static CleaveOnnxValue *
weigh (CleaveOnnxNode *node, const Loss *loss, CleaveOnnxValue **weight, GError **error)
{
  CleaveElement element = cleave_onnx_value_type (loss->x)->element;
  CleaveElement label = cleave_onnx_value_type (loss->target)->element;
  CleaveOnnxValue *one = integers (node, &(gint64){ 1 }, 1),
                  *zero = cleave_onnx_real (node, element, 0);
  CleaveOnnxValue *ignored = NULL, *class = loss->target, *at, *y;

  if (loss->ignored != NULL)
    {
      ignored = STEP ("Equal", ".ignored", NULL, loss->target, loss->ignored);
      class = STEP ("Where", ".class", NULL, ignored,
                    cleave_onnx_constant (node, &CLEAVE_SCALAR (label), &(gint64){ 0 }), class);
    }
  at = STEP ("Unsqueeze", ".at", NULL, class, one);
  y = STEP ("GatherElements", ".picked", cleave_onnx_attr_new_int ("axis", 1), loss->x, at);
  y = STEP ("Squeeze", ".flat", NULL, y, one);
  y = STEP ("Neg", ".negative", NULL, y);
  *weight = NULL;
  if (loss->weight != NULL)
    {
      *weight = STEP ("Gather", ".weight", NULL, loss->weight, class);
      y = STEP ("Mul", ".weighed", NULL, y, *weight);
    }
  if (ignored == NULL)
    return y;
  *weight = STEP ("Where", ".counted", NULL, ignored, zero,
                  loss->weight == NULL ? cleave_onnx_real (node, element, 1) : *weight);
  return STEP ("Where", ".kept", NULL, ignored, zero, y);
}

static CleaveOnnxValue *
make_loss (CleaveOnnxNode *node, const Loss *loss, GError **error)
{
  CleaveOnnxValue *weight, *y = weigh (node, loss, &weight, error);

  if (y == NULL || g_strcmp0 (loss->reduction, "none") == 0)
    return y;
  if (g_strcmp0 (loss->reduction, "sum") == 0)
    return reduce (node, "ReduceSum", ".sum", y, error);
  if (weight == NULL)
    return reduce (node, "ReduceMean", ".mean", y, error);
  return STEP ("Div", ".mean", NULL, reduce (node, "ReduceSum", ".sum", y, error),
               reduce (node, "ReduceSum", ".total", weight, error));
}

gboolean
cleave_onnx_upgrade_nll_loss (CleaveOnnxNode *node, GError **error)
{
  g_auto (Loss) loss;

  return loss_read (&loss, node, error) &&
         cleave_onnx_finish (node, make_loss (node, &loss, error));
}

gboolean
cleave_onnx_upgrade_softmax_loss (CleaveOnnxNode *node, GError **error)
{
  g_auto (Loss) loss;

  if (!loss_read (&loss, node, error))
    return FALSE;
  loss.x = STEP ("LogSoftmax", ".log_prob", cleave_onnx_attr_new_int ("axis", 1), loss.x);
  if (loss.x == NULL || !cleave_onnx_finish (node, make_loss (node, &loss, error)))
    return FALSE;
  g_ptr_array_add (node->values, loss.x);
  return TRUE;
}

/* The functions below upgrade a BatchNormalization that computes the statistics of its operand. */

/* Returns momentum * old + (1 - momentum) * new. */
static CleaveOnnxValue *
blend (CleaveOnnxNode *node,
       const char *suffix,
       CleaveOnnxValue *old,
       CleaveOnnxValue *new,
       double momentum,
       GError **error)
{
  g_autofree char *kept = g_strconcat (suffix, ".kept", NULL);
  g_autofree char *added = g_strconcat (suffix, ".added", NULL);
  g_autofree char *cast = g_strconcat (suffix, ".cast", NULL);
  CleaveElement element;

  if (old == NULL || new == NULL)
    return NULL;
  element = cleave_onnx_value_type (old)->element;
  new = cleave_onnx_cast (node, new, element, cast, error);
  return STEP ("Add", suffix, NULL,
               STEP ("Mul", kept, NULL, old, cleave_onnx_real (node, element, momentum)),
               STEP ("Mul", added, NULL, new, cleave_onnx_real (node, element, 1 - momentum)));
}

/* Returns the mean of each channel. All other dimensions have extent 1 in the result. */
static CleaveOnnxValue *
mean_of_channels (CleaveOnnxNode *node, const char *suffix, CleaveOnnxValue *x, GError **error)
{
  CleaveInts axes = { 0 };

  if (x == NULL)
    return NULL;
  for (guint d = 0; d < cleave_onnx_value_type (x)->shape.rank; d++)
    if (d != 1)
      axes.v[axes.n++] = d;
  return STEP ("ReduceMean", suffix, cleave_onnx_attr_new_ints ("axes", axes.v, axes.n), x);
}

/* Adds the results that a node reads: Y, the running statistics, and, before opset 14, the
 * statistics of the operand. */
static gboolean
make_training (CleaveOnnxNode *node, double momentum, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);
  CleaveOnnxValue *all = integers (node, &(gint64){ -1 }, 1);
  CleaveOnnxValue *mean = mean_of_channels (node, ".mean", x, error);
  CleaveOnnxValue *centered = STEP ("Sub", ".centered", NULL, x, mean);
  CleaveOnnxValue *square = STEP ("Mul", ".square", NULL, centered, centered);
  CleaveOnnxValue *variance = mean_of_channels (node, ".variance", square, error);
  CleaveOnnxValue *statistics[] = { STEP ("Reshape", ".flat_mean", NULL, mean, all),
                                    STEP ("Reshape", ".flat_variance", NULL, variance, all) };
  static const char *const suffixes[] = { ".running_mean", ".running_var" };
  CleaveOnnxValue *y = STEP ("BatchNormalization", "", cleave_onnx_node_take (node, "epsilon"), x,
                             cleave_onnx_node_operand (node, 1), cleave_onnx_node_operand (node, 2),
                             statistics[0], statistics[1]);

  cleave_onnx_finish (node, y);
  for (guint i = 1; y != NULL && i < node->n_results; i++)
    {
      y = i > 2 ? statistics[i - 3]
                : blend (node, suffixes[i - 1], cleave_onnx_node_operand (node, i + 2),
                         statistics[i - 1], momentum, error);
      g_ptr_array_add (node->values, y);
    }
  return y != NULL;
}

/* Returns whether the node computes the statistics of its operand. Since opset 14, the attribute
 * `training_mode` decides. Before opset 14, a node with five results computes the statistics,
 * unless its attribute `is_test` is set. */
static gboolean
take_training_mode (CleaveOnnxNode *node)
{
  gboolean is_test = cleave_onnx_node_take_int (node, "is_test", 0) != 0;

  if (node->import->opset >= 14)
    return cleave_onnx_node_take_int (node, "training_mode", 0) != 0;
  return node->n_declared == 5 && !is_test;
}

gboolean
cleave_onnx_upgrade_batch_norm (CleaveOnnxNode *node, GError **error)
{
  gboolean is_training = take_training_mode (node);
  double momentum = cleave_onnx_node_take_real (node, "momentum", 0.9f);
  guint most = !is_training ? 1 : node->import->opset < 14 ? 5 : 3;

  if (node->n_results > most)
    return cleave_onnx_node_fail (node, error, "%u results are read, but %s it has at most %u",
                                  node->n_results, is_training ? "in training" : "in inference",
                                  most);
  return !is_training ||
         (cleave_onnx_node_need (node, 5, error) && make_training (node, momentum, error));
}
