/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of ops of any element type: Cast, comparisons, logical ops, Where, ArgMax and ArgMin. */

#include "op-help.h"
#include "ops.h"

/* Returns the C constant of an element type, such as CLEAVE_S8. Returns NULL and sets the error if
 * there is none. */
static const char *
find_type (const CleaveNode *node, CleaveElement element, GError **error)
{
  static const struct
  {
    CleaveElement element;
    const char *name;
  } types[] = { { CLEAVE_FLOAT32, "CLEAVE_F32" }, { CLEAVE_INT8, "CLEAVE_S8" },
                { CLEAVE_UINT8, "CLEAVE_U8" },    { CLEAVE_INT32, "CLEAVE_S32" },
                { CLEAVE_INT64, "CLEAVE_S64" },   { CLEAVE_BOOL, "CLEAVE_TRUTH" } };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].element == element)
      return types[i].name;
  cleave_bundle_fail (node, error,
                      "a bundle has kernels for float32, int8, uint8, int32, int64 and bool, but "
                      "not for %s",
                      cleave_element_get_name (element));
  return NULL;
}

static gint64
count_channels (const CleaveResult *value)
{
  return cleave_bundle_image (value).channels;
}

static gboolean
describe_cast (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveResult *x = node->operands[0].result, *y = &node->results[0];
  const char *from = find_type (node, x->type.element, error), *to;
  g_autofree char *fields = NULL;

  to = from == NULL ? NULL : find_type (node, y->type.element, error);
  if (to == NULL)
    return FALSE;
  fields = g_strdup_printf (".channels = %" G_GINT64_FORMAT ", .from = %s, .to = %s",
                            count_channels (y), from, to);
  cleave_bundle_layer_set_kernel (layer, "cast", "cleave_cast");
  cleave_bundle_layer_set_params (layer, "CleaveCast", fields);
  cleave_bundle_set_in_place_if_same (node, layer);
  return TRUE;
}

static gboolean
describe_compare (const CleaveNode *node, const char *op, CleaveBundleLayer *layer, GError **error)
{
  const char *type = find_type (node, node->operands[0].result->type.element, error);
  g_autoptr (GString) fields = g_string_new (".operands = { ");

  if (type == NULL || !cleave_bundle_print_operand (node, 0, layer, fields, error))
    return FALSE;
  g_string_append (fields, ", ");
  if (!cleave_bundle_print_operand (node, 1, layer, fields, error))
    return FALSE;
  g_string_append_printf (fields, " }, .channels = %" G_GINT64_FORMAT ", .op = %s, .type = %s",
                          count_channels (&node->results[0]), op, type);
  cleave_bundle_layer_set_kernel (layer, "compare", "cleave_compare");
  cleave_bundle_layer_set_params (layer, "CleaveCompare", fields->str);
  return TRUE;
}

static gboolean
describe_equal (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_compare (node, "CLEAVE_EQUAL", layer, error);
}

static gboolean
describe_less (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_compare (node, "CLEAVE_LESS", layer, error);
}

static gboolean
describe_greater (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_compare (node, "CLEAVE_GREATER", layer, error);
}

static gboolean
describe_less_or_equal (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_compare (node, "CLEAVE_LESS_OR_EQUAL", layer, error);
}

static gboolean
describe_greater_or_equal (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_compare (node, "CLEAVE_GREATER_OR_EQUAL", layer, error);
}

static gboolean
describe_and (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_compare (node, "CLEAVE_AND", layer, error);
}

static gboolean
describe_or (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_compare (node, "CLEAVE_OR", layer, error);
}

static gboolean
describe_xor (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_compare (node, "CLEAVE_XOR", layer, error);
}

static gboolean
describe_where (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  gsize size = cleave_element_size (node->results[0].type.element);
  g_autoptr (GString) fields = g_string_new (".operands = { ");

  for (guint i = 0; i < 3; i++)
    {
      g_string_append (fields, i == 0 ? "" : ", ");
      if (!cleave_bundle_print_operand (node, i, layer, fields, error))
        return FALSE;
    }
  g_string_append_printf (fields, " }, .channels = %" G_GINT64_FORMAT ", .size = %u",
                          count_channels (&node->results[0]), (guint) size);
  cleave_bundle_layer_set_kernel (layer, "where", "cleave_where");
  cleave_bundle_layer_set_params (layer, "CleaveWhere", fields->str);
  return TRUE;
}

static gboolean
describe_arg (const CleaveNode *node, gboolean is_min, CleaveBundleLayer *layer, GError **error)
{
  const CleaveArgAttrs *a = node->attrs;
  const CleaveResult *x = node->operands[0].result;
  const char *type = find_type (node, x->type.element, error);
  g_autofree char *fields = NULL;

  if (type == NULL)
    return FALSE;
  if (!a->keepdims || a->axis != cleave_bundle_image (x).channel_dim)
    return cleave_bundle_fail (node, error, "a bundle has no kernel along this dimension");
  fields =
      g_strdup_printf (".channels = %" G_GINT64_FORMAT ", .type = %s, .is_min = %d, .is_last = %d",
                       count_channels (x), type, is_min, a->select_last_index);
  cleave_bundle_layer_set_kernel (layer, "arg", "cleave_arg");
  cleave_bundle_layer_set_params (layer, "CleaveArg", fields);
  return TRUE;
}

static gboolean
describe_arg_max (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_arg (node, FALSE, layer, error);
}

static gboolean
describe_arg_min (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_arg (node, TRUE, layer, error);
}

const CleaveBundleOp cleave_bundle_op_cast = { "Cast", describe_cast };
const CleaveBundleOp cleave_bundle_op_equal = { "Equal", describe_equal };
const CleaveBundleOp cleave_bundle_op_less = { "Less", describe_less };
const CleaveBundleOp cleave_bundle_op_greater = { "Greater", describe_greater };
const CleaveBundleOp cleave_bundle_op_less_or_equal = { "LessOrEqual", describe_less_or_equal };
const CleaveBundleOp cleave_bundle_op_greater_or_equal = { "GreaterOrEqual",
                                                           describe_greater_or_equal };
const CleaveBundleOp cleave_bundle_op_and = { "And", describe_and };
const CleaveBundleOp cleave_bundle_op_or = { "Or", describe_or };
const CleaveBundleOp cleave_bundle_op_xor = { "Xor", describe_xor };
const CleaveBundleOp cleave_bundle_op_where = { "Where", describe_where };
const CleaveBundleOp cleave_bundle_op_arg_max = { "ArgMax", describe_arg_max };
const CleaveBundleOp cleave_bundle_op_arg_min = { "ArgMin", describe_arg_min };
