/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints attributes as text, as the op's attribute table (CleaveAttr) says. */

#include "literal.h"
#include "op.h"

static void
print_ints (const gint64 *v, guint n, GString *out)
{
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, i == 0 ? "" : ",", v[i]);
}

static void
print_enums (const CleaveAttr *attr, const CleaveInts *enums, GString *out)
{
  for (guint i = 0; i < enums->n; i++)
    g_string_append_printf (out, "%s%s", i == 0 ? "" : ",", attr->names[enums->v[i]]);
}

static void
print_ranges (const GArray *ranges, GString *out)
{
  for (guint i = 0; i < ranges->len; i++)
    {
      g_autofree char *range = cleave_range_to_string (&g_array_index (ranges, CleaveRange, i));

      g_string_append_printf (out, "%s%s", i == 0 ? "" : "/", range);
    }
}

static void
print_tensor (CleaveTensor *tensor, GString *out)
{
  g_autofree char *text = cleave_tensor_type_to_string (cleave_tensor_get_type (tensor));

  g_string_append_printf (out, "[%s=", text);
  cleave_literal_print (tensor, out);
  g_string_append_c (out, ']');
}

static void
print_field (const CleaveAttr *attr, gconstpointer field, GString *out)
{
  switch (attr->kind)
    {
    case CLEAVE_ATTR_INT:
      g_string_append_printf (out, "%" G_GINT64_FORMAT, *(const gint64 *) field);
      return;
    case CLEAVE_ATTR_BOOL:
      g_string_append (out, *(const gboolean *) field ? "1" : "0");
      return;
    case CLEAVE_ATTR_ENUM:
      g_string_append (out, attr->names[*(const int *) field]);
      return;
    case CLEAVE_ATTR_DOUBLE:
      cleave_literal_print_real (*(const double *) field, out);
      return;
    case CLEAVE_ATTR_INTS:
      print_ints (((const CleaveInts *) field)->v, ((const CleaveInts *) field)->n, out);
      return;
    case CLEAVE_ATTR_ENUMS:
      print_enums (attr, field, out);
      return;
    case CLEAVE_ATTR_DOUBLES:
      for (guint i = 0; i < ((const CleaveDoubles *) field)->n; i++)
        {
          g_string_append (out, i == 0 ? "" : ",");
          cleave_literal_print_real (((const CleaveDoubles *) field)->v[i], out);
        }
      return;
    case CLEAVE_ATTR_ARRAY:
      print_ints ((const gint64 *) (gpointer) (*(GArray *const *) field)->data,
                  (*(GArray *const *) field)->len, out);
      return;
    case CLEAVE_ATTR_STRING:
      cleave_literal_print_name (*(char *const *) field, " #", out);
      return;
    case CLEAVE_ATTR_RANGES:
      print_ranges (*(GArray *const *) field, out);
      return;
    case CLEAVE_ATTR_ELEMENT:
      g_string_append (out, cleave_element_get_name (*(const CleaveElement *) field));
      return;
    case CLEAVE_ATTR_TYPE:
      {
        g_autofree char *text = cleave_tensor_type_to_string (field);

        g_string_append_printf (out, "[%s]", text);
        return;
      }
    case CLEAVE_ATTR_TENSOR:
      print_tensor (*(CleaveTensor *const *) field, out);
      return;
    case CLEAVE_ATTR_END:
      break;
    }
  g_assert_not_reached ();
}

/* Prints " name=value" for each attribute that does not have its default value. */
void
cleave_attrs_print (const CleaveOp *op, gconstpointer attrs, GString *out)
{
  if (op->print != NULL)
    {
      op->print (attrs, out);
      return;
    }
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (!cleave_attr_is_default (attr, attrs))
      {
        g_string_append_printf (out, " %s=", attr->name);
        print_field (attr, cleave_attr_const_field (attr, attrs), out);
      }
}
