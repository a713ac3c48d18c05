/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counts, prints and makes the strings of a tensor. A tensor of 2x3x256 bytes has 2x3 strings of at
 * most 256 bytes each. */

#include "texts.h"

/* At most this many strings of an output are printed. */
#define MAX_PRINTED 8

static gint64
get_length (CleaveTensor *tensor)
{
  const CleaveShape *shape = &cleave_tensor_get_type (tensor)->shape;

  return shape->dim[shape->rank - 1];
}

gint64
cleave_texts_count (CleaveTensor *tensor)
{
  return cleave_shape_n_elements (&cleave_tensor_get_type (tensor)->shape) / get_length (tensor);
}

char *
cleave_texts_dup (CleaveTensor *tensor, gint64 index)
{
  gint64 length = get_length (tensor);

  return g_strndup ((const char *) cleave_tensor_get_data (tensor) + index * length,
                    (gsize) length);
}

static GString *
print_shape (const CleaveShape *shape)
{
  GString *out = g_string_new ("strings");

  for (guint d = 0; d + 1 < shape->rank; d++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, d == 0 ? " " : "x", shape->dim[d]);
  return out;
}

char *
cleave_texts_type (const CleaveTensorType *type)
{
  GString *out = print_shape (&type->shape);

  g_string_append_printf (out, ", each at most %" G_GINT64_FORMAT " bytes",
                          type->shape.dim[type->shape.rank - 1]);
  return g_string_free (out, FALSE);
}

char *
cleave_texts_print (CleaveTensor *tensor)
{
  GString *out = print_shape (&cleave_tensor_get_type (tensor)->shape);
  gint64 n = cleave_texts_count (tensor);

  for (gint64 i = 0; i < MIN (n, MAX_PRINTED); i++)
    {
      g_autofree char *text = cleave_texts_dup (tensor, i);
      g_autofree char *escaped = g_strescape (text, NULL);

      g_string_append_printf (out, "%s '%s'", i == 0 ? ":" : ",",
                              g_str_is_ascii (text) ? escaped : text);
    }
  if (n > MAX_PRINTED)
    g_string_append_printf (out, " and %" G_GINT64_FORMAT " more", n - MAX_PRINTED);
  return g_string_free (out, FALSE);
}

void
cleave_texts_make_letters (CleaveTensor *tensor)
{
  const CleaveShape *shape = &cleave_tensor_get_type (tensor)->shape;
  const gint64 n_bytes = shape->dim[shape->rank - 1];
  guint8 *data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < cleave_shape_n_elements (shape); i++)
    data[i] = i % n_bytes == 0 ? (guint8) ('a' + data[i] % 26) : 0;
}
