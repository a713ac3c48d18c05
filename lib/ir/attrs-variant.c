/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts the attributes of a node to GVariant values, which bindings of other languages can read.
 * The op's attribute table (CleaveAttr) gives the type of each attribute. */

#include "graph-private.h"

#include <cleave/cleave-languages.h>

static GVariant *
from_ints (const gint64 *v, guint n)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, v, n, sizeof *v);
}

static GVariant *
from_enums (const CleaveAttr *attr, const CleaveInts *enums)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_STRING_ARRAY);

  for (guint i = 0; i < enums->n; i++)
    g_variant_builder_add (&list, "s", attr->names[enums->v[i]]);
  return g_variant_builder_end (&list);
}

static GVariant *
from_range (const CleaveRange *range)
{
  GVariantBuilder spans = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(xx)"));

  for (guint d = 0; d < range->rank; d++)
    g_variant_builder_add (&spans, "(xx)", range->dim[d].begin, range->dim[d].end);
  return g_variant_builder_end (&spans);
}

static GVariant *
from_ranges (const GArray *ranges)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("aa(xx)"));

  for (guint i = 0; ranges != NULL && i < ranges->len; i++)
    g_variant_builder_add_value (&list, from_range (&g_array_index (ranges, CleaveRange, i)));
  return g_variant_builder_end (&list);
}

static GVariant *
from_type (const CleaveTensorType *type)
{
  return g_variant_new ("(s@ax)", cleave_element_get_name (type->element),
                        from_ints (type->shape.dim, type->shape.rank));
}

static GVariant *
from_field (const CleaveAttr *attr, gconstpointer field)
{
  const CleaveInts *ints = field;
  const CleaveDoubles *doubles = field;
  const GArray *array;

  switch (attr->kind)
    {
    case CLEAVE_ATTR_INT:
      return g_variant_new_int64 (*(const gint64 *) field);
    case CLEAVE_ATTR_BOOL:
      return g_variant_new_boolean (*(const gboolean *) field);
    case CLEAVE_ATTR_ENUM:
      return g_variant_new_string (attr->names[*(const int *) field]);
    case CLEAVE_ATTR_ENUMS:
      return from_enums (attr, ints);
    case CLEAVE_ATTR_DOUBLE:
      return g_variant_new_double (*(const double *) field);
    case CLEAVE_ATTR_INTS:
      return from_ints (ints->v, ints->n);
    case CLEAVE_ATTR_DOUBLES:
      return g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, doubles->v, doubles->n,
                                        sizeof *doubles->v);
    case CLEAVE_ATTR_ARRAY:
      array = *(GArray *const *) field;
      return array == NULL ? from_ints (NULL, 0)
                           : from_ints ((const gint64 *) (gpointer) array->data, array->len);
    case CLEAVE_ATTR_RANGES:
      return from_ranges (*(GArray *const *) field);
    case CLEAVE_ATTR_STRING:
      return g_variant_new_string (*(char *const *) field != NULL ? *(char *const *) field : "");
    case CLEAVE_ATTR_ELEMENT:
      return g_variant_new_string (cleave_element_get_name (*(const CleaveElement *) field));
    case CLEAVE_ATTR_TYPE:
      return from_type (field);
    case CLEAVE_ATTR_TENSOR:
      return from_type (cleave_tensor_get_type (*(CleaveTensor *const *) field));
    case CLEAVE_ATTR_END:
      break;
    }
  g_assert_not_reached ();
}

/**
 * cleave_node_dup_attrs_variant:
 * @node: a node
 *
 * Returns all attributes of a node by their ONNX names, including attributes with default values.
 * The types of values are:
 *
 * - `x` for an integer, `d` for a real number, `b` for a flag;
 * - `s` for an enum, an element type or a string;
 * - an array of these types for a list;
 * - an array of `(xx)`, begin and end, for a range;
 * - `(sax)`, element type and shape, for a tensor or a tensor type.
 *
 * Returns: (transfer full): a dictionary, `a{sv}`
 *
 * Since: 0.1
 */
GVariant *
cleave_node_dup_attrs_variant (const CleaveNode *node)
{
  GVariantBuilder all = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_VARDICT);

  g_return_val_if_fail (node != NULL, NULL);
  for (const CleaveAttr *attr = node->op->attrs; attr != NULL && attr->name != NULL; attr++)
    g_variant_builder_add (&all, "{sv}", attr->name,
                           from_field (attr, cleave_attr_const_field (attr, node->attrs)));
  return g_variant_ref_sink (g_variant_builder_end (&all));
}
