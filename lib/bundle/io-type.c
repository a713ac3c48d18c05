/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Changes the element types of the inputs and outputs of a bundle to integers or floats, as the
 * user requests:
 *
 *   integers:  x (float) -> QuantizeLinear -> Conv … -> DequantizeLinear -> y (float)
 *           => x (int8) -> Conv … -> y (int8)
 *   floats:    x (int8) -> QLinearConv … -> y (int8)
 *           => x (float) -> QuantizeLinear -> QLinearConv … -> DequantizeLinear -> y (float)
 *
 * Finds the scale and the zero point of each integer input and output in the constants of its
 * readers or producer. States keep their types. */

#include <cleave/cleave-tflite.h>
#include <string.h>

#include "model.h"
#include "op-help.h"

static gboolean
fail (GError **error, gboolean is_input, const char *name, const char *why)
{
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "io-type: %s '%s' %s",
                      is_input ? "input" : "output", name, why);
}

static gboolean
is_integer (CleaveElement element)
{
  return element == CLEAVE_INT8 || element == CLEAVE_UINT8 || element == CLEAVE_INT16 ||
         element == CLEAVE_UINT16;
}

/* The functions below find scales and zero points. */

/* Reads the scale and the zero point of a value from two operands of a node. Returns an unknown
 * scale unless the scale is a constant with a single float, and the zero point is constant or
 * absent. */
static CleaveBundleQuantization
read_scale (const CleaveNode *node, guint scale, guint zero)
{
  const CleaveResult *value = scale < node->n_operands ? node->operands[scale].result : NULL;
  const CleaveResult *point = zero < node->n_operands ? node->operands[zero].result : NULL;
  CleaveBundleQuantization read = { 0 };
  const CleaveTensor *tensor = value == NULL ? NULL : cleave_node_get_constant (value->node);

  if (tensor == NULL || value->type.element != CLEAVE_FLOAT32 ||
      cleave_shape_n_elements (&value->type.shape) != 1 ||
      (point != NULL && cleave_node_get_constant (point->node) == NULL))
    return read;
  read.is_known = TRUE;
  memcpy (&read.scale, cleave_tensor_get_data ((CleaveTensor *) tensor), sizeof read.scale);
  read.zero = point == NULL ? 0 : cleave_bundle_integer (node, zero, 0);
  return read;
}

/* Returns the scale and zero point of an operand or result of a node. `value` is the name of this
 * operand or result, such as "x": the operand x_scale has its scale, and the next operand its zero
 * point. Returns an unknown scale if the node has no operand x_scale. */
static CleaveBundleQuantization
find_scale (const CleaveNode *node, const char *value)
{
  const char *const *names = node->op->operands;
  g_autofree char *scale = g_strconcat (value, "_scale", NULL);

  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    if (strcmp (names[i], scale) == 0)
      return read_scale (node, i, i + 1);
  return (CleaveBundleQuantization){ 0 };
}

static CleaveBundleQuantization
scale_of_input (const CleaveResult *input)
{
  CleaveBundleQuantization scale = { 0 };

  for (const CleaveOperand *use = input->first_use; use != NULL && !scale.is_known;
       use = use->next_use)
    if (use->node != NULL && use == &use->node->operands[0] && use->node->op->operands != NULL)
      scale = find_scale (use->node, use->node->op->operands[0]);
  return scale;
}

static CleaveBundleQuantization
scale_of_output (const CleaveNode *node)
{
  return node->op->results == NULL ? (CleaveBundleQuantization){ 0 }
                                   : find_scale (node, node->op->results[0]);
}

/* Returns the scale and zero point of a node that converts floats to integers. */
static CleaveBundleQuantization
scale_of_quantize (const CleaveNode *node)
{
  if (strcmp (node->op->name, "TfliteQuantize") == 0)
    {
      const CleaveTfliteQuantizeAttrs *a = node->attrs;

      return (CleaveBundleQuantization){ TRUE, (float) a->scale, a->zero };
    }
  return find_scale (node, "y");
}

static gboolean
is_op (const CleaveNode *node, const char *a, const char *b)
{
  return node != NULL && (strcmp (node->op->name, a) == 0 || strcmp (node->op->name, b) == 0);
}

static void
set_input_type (CleaveResult *input, CleaveElement element)
{
  ((CleaveInputAttrs *) input->node->attrs)->type.element = element;
  input->type.element = element;
}

/* Connects an operand to a value of another element type. */
static void
set_operand (CleaveOperand *operand, CleaveResult *result)
{
  cleave_operand_detach (operand);
  cleave_operand_attach (operand, result);
}

/* The functions below change inputs. */

/* Finds the conversion that all readers of an input apply to it: sets `to` to its integer type, and
 * `scale` to its scale and zero point. Returns FALSE if a reader does not convert the input, or if
 * two readers use different types or scales. */
static gboolean
find_conversion (const CleaveResult *input, CleaveBundleQuantization *scale, CleaveElement *to)
{
  scale->is_known = FALSE;
  for (const CleaveOperand *use = input->first_use; use != NULL; use = use->next_use)
    {
      CleaveBundleQuantization other;

      if (!is_op (use->node, "QuantizeLinear", "TfliteQuantize") || use != &use->node->operands[0])
        return FALSE;
      other = scale_of_quantize (use->node);
      if (!other.is_known ||
          (scale->is_known && (other.scale != scale->scale || other.zero != scale->zero ||
                               *to != use->node->results[0].type.element)))
        return FALSE;
      *scale = other;
      *to = use->node->results[0].type.element;
    }
  return scale->is_known;
}

/* Replaces a float input by an integer input, of the type to which its readers convert it. */
static gboolean
quantize_input (CleaveGraph *graph,
                CleaveResult *input,
                CleaveBundleQuantization *scale,
                GError **error)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
  CleaveElement to = CLEAVE_INT8;

  if (is_integer (input->type.element))
    return TRUE;
  if (!find_conversion (input, scale, &to))
    return fail (
        error, TRUE, input->node->name,
        "is not converted to integers by all layers that read it, with one scale; quantize "
        "the model, or leave out io-type");
  for (const CleaveOperand *use = input->first_use; use != NULL; use = use->next_use)
    g_ptr_array_add (nodes, use->node);
  set_input_type (input, to);
  for (guint i = 0; i < nodes->len; i++)
    {
      CleaveNode *node = nodes->pdata[i];

      cleave_result_replace_uses (&node->results[0], input);
      cleave_graph_remove (graph, node);
    }
  return TRUE;
}

static CleaveResult *
add_scalar (CleaveGraph *graph, CleaveElement element, gconstpointer data, GError **error)
{
  CleaveTensorType type = { element, { 0 } };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, data, error);

  return tensor == NULL ? NULL : cleave_graph_add_constant (graph, NULL, tensor);
}

/* Adds a QuantizeLinear or a DequantizeLinear. */
static CleaveNode *
add_conversion (CleaveGraph *graph,
                const char *op,
                CleaveResult *x,
                CleaveElement element,
                const CleaveBundleQuantization *scale,
                GError **error)
{
  CleaveAxisAttrs attrs = { .axis = 0 };
  /* on a little-endian machine, the first bytes of `zero` are the same number in a narrower type */
  gint64 zero = scale->zero;
  CleaveResult *operands[] = { x, add_scalar (graph, CLEAVE_FLOAT32, &scale->scale, error), NULL };

  if (operands[1] == NULL || (operands[2] = add_scalar (graph, element, &zero, error)) == NULL)
    return NULL;
  return cleave_graph_add (graph, cleave_op_lookup (op), x->node->name, operands, 3, 1, &attrs,
                           error);
}

/* Replaces an integer input by a float input and a QuantizeLinear. */
static gboolean
dequantize_input (CleaveGraph *graph,
                  CleaveResult *input,
                  const CleaveBundleQuantization *scale,
                  GError **error)
{
  g_autoptr (GPtrArray) uses = g_ptr_array_new ();
  CleaveElement element = input->type.element;
  CleaveNode *node;

  if (element == CLEAVE_FLOAT32)
    return TRUE;
  if (!scale->is_known)
    return fail (error, TRUE, input->node->name,
                 "has no scale in the graph, so the bundle cannot convert floats; convert in the "
                 "caller, or leave out io-type");
  for (CleaveOperand *use = input->first_use; use != NULL; use = use->next_use)
    g_ptr_array_add (uses, use);
  set_input_type (input, CLEAVE_FLOAT32);
  node = add_conversion (graph, "QuantizeLinear", input, element, scale, error);
  for (guint i = 0; node != NULL && i < uses->len; i++)
    set_operand (uses->pdata[i], &node->results[0]);
  return node != NULL;
}

/* The functions below change outputs. */

static gboolean
quantize_output (CleaveOutput *output, CleaveBundleQuantization *scale, GError **error)
{
  const CleaveNode *node = output->operand.result->node;

  if (is_integer (output->operand.result->type.element))
    return TRUE;
  if (is_op (node, "DequantizeLinear", "DequantizeLinear"))
    *scale = find_scale (node, "x");
  if (!is_op (node, "DequantizeLinear", "DequantizeLinear") || !scale->is_known)
    return fail (error, FALSE, output->name,
                 "is not converted from integers with one scale by the last layer; quantize the "
                 "model, or leave out io-type");
  set_operand (&output->operand, node->operands[0].result);
  return TRUE;
}

static gboolean
dequantize_output (CleaveGraph *graph,
                   CleaveOutput *output,
                   const CleaveBundleQuantization *scale,
                   GError **error)
{
  CleaveResult *value = output->operand.result;
  CleaveNode *node;

  if (value->type.element == CLEAVE_FLOAT32)
    return TRUE;
  if (!scale->is_known)
    return fail (error, FALSE, output->name,
                 "has no scale in the graph, so the bundle cannot convert it to floats; convert in "
                 "the caller, or leave out io-type");
  node = add_conversion (graph, "DequantizeLinear", value, value->type.element, scale, error);
  if (node == NULL)
    return FALSE;
  set_operand (&output->operand, &node->results[0]);
  return TRUE;
}

/* The functions below change all inputs and outputs that are not states. */

static gboolean
set_input (CleaveBundleModel *model, guint i, CleaveBundleIoType type, GError **error)
{
  CleaveResult *input = model->graph->inputs->pdata[i];
  CleaveBundleQuantization *scale = &model->input_scales[i];

  if (is_integer (input->type.element))
    *scale = scale_of_input (input);
  if ((type == CLEAVE_BUNDLE_IO_INT8 && !quantize_input (model->graph, input, scale, error)) ||
      (type == CLEAVE_BUNDLE_IO_FLOAT && !dequantize_input (model->graph, input, scale, error)))
    return FALSE;
  scale->is_known &= is_integer (input->type.element);
  return TRUE;
}

static gboolean
set_output (CleaveBundleModel *model, guint i, CleaveBundleIoType type, GError **error)
{
  CleaveOutput *output = model->graph->outputs->pdata[i];
  CleaveBundleQuantization *scale = &model->output_scales[i];

  if (is_integer (output->operand.result->type.element))
    *scale = scale_of_output (output->operand.result->node);
  if ((type == CLEAVE_BUNDLE_IO_INT8 && !quantize_output (output, scale, error)) ||
      (type == CLEAVE_BUNDLE_IO_FLOAT && !dequantize_output (model->graph, output, scale, error)))
    return FALSE;
  scale->is_known &= is_integer (output->operand.result->type.element);
  return TRUE;
}

gboolean
cleave_bundle_set_io_type (CleaveBundleModel *model, CleaveBundleIoType type, GError **error)
{
  for (guint i = 0; i < model->graph->inputs->len; i++)
    if (cleave_bundle_find_kept (model, i, TRUE) == NULL && !set_input (model, i, type, error))
      return FALSE;
  for (guint i = 0; i < model->graph->outputs->len; i++)
    if (cleave_bundle_find_kept (model, i, FALSE) == NULL && !set_output (model, i, type, error))
      return FALSE;
  return TRUE;
}
