/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the constant arrays of a bundle, as C source or as assembler source. */

#include "bundle.h"

#include <math.h>
#include <string.h>

#define LICENSE "/* SPDX-License-Identifier: 0BSD */\n"

#define PER_LINE 8

/* Appends a float in hexadecimal, so that no bit is lost. */
static void
print_float (GString *out, double value)
{
  char text[64];

  if (value != value)
    g_string_append (out, "NAN");
  else if (value - value != 0)
    g_string_append (out, value < 0 ? "-INFINITY" : "INFINITY");
  else
    {
      g_snprintf (text, sizeof text, "%a", value);
      g_string_append (out, text);
    }
}

static void
print_element (GString *out, const char *type, gconstpointer data, gsize i)
{
  if (strcmp (type, "float") == 0)
    {
      float value = ((const float *) data)[i];

      print_float (out, (double) value);
      if (isfinite (value))
        g_string_append (out, "f");
    }
  else if (strcmp (type, "double") == 0)
    print_float (out, ((const double *) data)[i]);
  else if (strcmp (type, "int8_t") == 0)
    g_string_append_printf (out, "%d", ((const gint8 *) data)[i]);
  else if (strcmp (type, "uint8_t") == 0)
    g_string_append_printf (out, "%u", ((const guint8 *) data)[i]);
  else if (strcmp (type, "int16_t") == 0)
    g_string_append_printf (out, "%d", ((const gint16 *) data)[i]);
  else if (strcmp (type, "uint16_t") == 0)
    g_string_append_printf (out, "%u", ((const guint16 *) data)[i]);
  else if (strcmp (type, "uint32_t") == 0)
    g_string_append_printf (out, "0x%xu", ((const guint32 *) data)[i]);
  else if (strcmp (type, "int32_t") == 0)
    {
      gint32 value = ((const gint32 *) data)[i];

      if (value == G_MININT32)
        g_string_append (out, "-2147483647 - 1");
      else
        g_string_append_printf (out, "%d", value);
    }
  else
    {
      gint64 value = ((const gint64 *) data)[i];

      if (value == G_MININT64)
        g_string_append (out, "-9223372036854775807 - 1");
      else
        g_string_append_printf (out, "%" G_GINT64_FORMAT, value);
    }
}

void
cleave_bundle_print_elements (GString *out, const char *type, gconstpointer data, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      g_string_append (out, i % PER_LINE == 0 ? "\n  " : " ");
      print_element (out, type, data, i);
      g_string_append_c (out, ',');
    }
}

static const CleaveBundleArray *
get_array (const CleaveBundle *bundle, guint i)
{
  return &g_array_index (bundle->model->pool->arrays, CleaveBundleArray, i);
}

/* Returns whether an array of bytes is written as 32-bit words. Compilers read words in half the
 * time. */
static gboolean
is_of_bytes (const CleaveBundleArray *array)
{
  return g_bytes_get_size (array->bytes) == array->n_elements;
}

static gsize
count_words (const CleaveBundleArray *array)
{
  return (array->n_elements + 3) / 4;
}

char *
cleave_bundle_make_weights_header (const CleaveBundle *bundle)
{
  GString *out = g_string_new (LICENSE);

  g_string_append_printf (out,
                          "#ifndef %s_WEIGHTS_H\n#define %s_WEIGHTS_H\n\n#include <stdint.h>\n\n",
                          bundle->macro, bundle->macro);
  for (guint i = 0; i < bundle->model->pool->arrays->len; i++)
    {
      const CleaveBundleArray *array = get_array (bundle, i);

      if (is_of_bytes (array))
        g_string_append_printf (out, "extern const uint32_t %s[%" G_GSIZE_FORMAT "];\n",
                                array->name, MAX (count_words (array), 1));
      else
        g_string_append_printf (out, "extern const %s %s[%" G_GSIZE_FORMAT "];\n", array->type,
                                array->name, MAX (array->n_elements, 1));
    }
  g_string_append (out, "\n#endif\n");
  return g_string_free (out, FALSE);
}

static void
print_words (GString *out, const CleaveBundleArray *array)
{
  const guint8 *data = g_bytes_get_data (array->bytes, NULL);
  gsize n = count_words (array);

  for (gsize i = 0; i < n; i++)
    {
      guint32 word = 0;

      for (gsize k = 0; k < 4 && 4 * i + k < array->n_elements; k++)
        word |= (guint32) data[4 * i + k] << (8 * k);
      g_string_append_printf (out, "%s0x%xu,", i % PER_LINE == 0 ? "\n  " : " ", word);
    }
}

/* Appends the declarator of an array, such as "const int32_t net_a0[3]". */
static void
print_declarator (const CleaveBundleArray *array, GString *out)
{
  g_string_append_printf (out, "const %s %s[%" G_GSIZE_FORMAT "]",
                          is_of_bytes (array) ? "uint32_t" : array->type, array->name,
                          MAX (is_of_bytes (array) ? count_words (array) : array->n_elements, 1));
}

void
cleave_bundle_append_weights (const CleaveBundle *bundle, gboolean is_static, GString *out)
{
  g_string_append (out, "\n#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__\n"
                        "#error The weights are stored for little-endian processors.\n#endif\n");
  for (guint i = 0; i < bundle->model->pool->arrays->len; i++)
    {
      const CleaveBundleArray *array = get_array (bundle, i);
      gconstpointer data = g_bytes_get_data (array->bytes, NULL);

      g_string_append (out, is_static ? "\nstatic " : "\n");
      print_declarator (array, out);
      g_string_append (out, " = {");
      if (array->n_elements == 0)
        g_string_append (out, " 0");
      else if (is_of_bytes (array))
        print_words (out, array);
      else
        cleave_bundle_print_elements (out, array->type, data, array->n_elements);
      g_string_append (out, "\n};\n");
    }
}

char *
cleave_bundle_make_weights (const CleaveBundle *bundle)
{
  GString *out = g_string_new (LICENSE);

  g_string_append_printf (out, "\n#include \"%s-weights.h\"\n\n#include <math.h>\n", bundle->name);
  cleave_bundle_append_weights (bundle, FALSE, out);
  return g_string_free (out, FALSE);
}

/* Appends an array as a symbol in assembler source. */
static void
print_symbol (const CleaveBundleArray *array, GString *out)
{
  gsize n_bytes = MAX (g_bytes_get_size (array->bytes), 1), n_words = (n_bytes + 3) / 4;
  g_autofree guint32 *words = g_new0 (guint32, n_words);

  memcpy (words, g_bytes_get_data (array->bytes, NULL), g_bytes_get_size (array->bytes));
  g_string_append_printf (out,
                          "\n\t.balign\t8\n\t.global\t%s\n\t.type\t%s, %%object\n"
                          "\t.size\t%s, %" G_GSIZE_FORMAT "\n%s:",
                          array->name, array->name, array->name, 4 * n_words, array->name);
  for (gsize i = 0; i < n_words; i++)
    g_string_append_printf (out, "%s0x%x", i % PER_LINE == 0 ? "\n\t.4byte\t" : ", ",
                            GUINT32_FROM_LE (words[i]));
  g_string_append (out, "\n");
}

char *
cleave_bundle_make_weights_object (const CleaveBundle *bundle)
{
  GString *out = g_string_new (LICENSE);

  g_string_append (out, "\n/* The constants, for the assembler of a little-endian processor with "
                        "objects in ELF. */\n\n\t.section\t.rodata, \"a\", %progbits\n");
  for (guint i = 0; i < bundle->model->pool->arrays->len; i++)
    print_symbol (get_array (bundle, i), out);
  g_string_append (out, "\n\t.section\t.note.GNU-stack, \"\", %progbits\n");
  return g_string_free (out, FALSE);
}
