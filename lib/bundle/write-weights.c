/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes constant arrays, kernels and the README of a bundle. */

#include "bundle.h"

#include <gio/gio.h>
#include <string.h>

#include "bundle-kernels.h"

#define LICENSE "/* SPDX-License-Identifier: 0BSD */\n"
#define KERNELS "/cleave/bundle/"
#define INCLUDE "#include \""

#define PER_LINE 8

/* Floats are written in hexadecimal, so that no bit is lost. */
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
      print_float (out, ((const float *) data)[i]);
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

/* Arrays of bytes are written as words, which compilers read in half the time. */
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

char *
cleave_bundle_make_weights (const CleaveBundle *bundle)
{
  GString *out = g_string_new (LICENSE);

  g_string_append_printf (out,
                          "\n#include \"%s-weights.h\"\n\n#include <math.h>\n\n"
                          "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__\n"
                          "#error The weights are stored for little-endian processors.\n#endif\n",
                          bundle->name);
  for (guint i = 0; i < bundle->model->pool->arrays->len; i++)
    {
      const CleaveBundleArray *array = get_array (bundle, i);
      gconstpointer data = g_bytes_get_data (array->bytes, NULL);

      g_string_append_printf (
          out, "\nconst %s %s[%" G_GSIZE_FORMAT "] = {",
          is_of_bytes (array) ? "uint32_t" : array->type, array->name,
          MAX (is_of_bytes (array) ? count_words (array) : array->n_elements, 1));
      if (array->n_elements == 0)
        g_string_append (out, " 0");
      else if (is_of_bytes (array))
        print_words (out, array);
      else
        cleave_bundle_print_elements (out, array->type, data, array->n_elements);
      g_string_append (out, "\n};\n");
    }
  return g_string_free (out, FALSE);
}

/* Kernels */

static GBytes *
load_kernel (const char *file, const char *ending)
{
  g_autofree char *path = g_strconcat (KERNELS, file, ending, NULL);
  g_autoptr (GError) error = NULL;
  static gsize once = 0;
  GBytes *bytes;

  if (g_once_init_enter (&once))
    {
      cleave_bundle_kernels_register_resource ();
      g_once_init_leave (&once, 1);
    }
  bytes = g_resource_lookup_data (cleave_bundle_kernels_get_resource (), path,
                                  G_RESOURCE_LOOKUP_FLAGS_NONE, &error);
  if (bytes == NULL)
    g_error ("no kernel file '%s': %s", path, error->message);
  return bytes;
}

/* Appends the text of a file without its first line, the license. A header that a kernel includes
 * is appended in place of the first include of it. */
static void
append_kernel (GString *out, const char *file, const char *ending, GHashTable *seen)
{
  g_autoptr (GBytes) bytes = load_kernel (file, ending);
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  g_auto (GStrv) lines = g_strsplit (strchr (text, '\n') + 1, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *name = lines[i] + strlen (INCLUDE);

      if (!g_str_has_prefix (lines[i], INCLUDE))
        g_string_append_printf (out, "%s%s", lines[i], lines[i + 1] == NULL ? "" : "\n");
      else if (!g_str_has_prefix (name, "cleave-"))
        {
          *strchr (name, '.') = '\0';
          if (g_hash_table_add (seen, g_strdup (name)))
            append_kernel (out, name, ".h", seen);
        }
    }
}

char *
cleave_bundle_make_kernels (const CleaveBundle *bundle)
{
  GString *out = g_string_new (LICENSE);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gboolean has_float_scales = FALSE;

  for (guint i = 0; i < bundle->model->steps->len; i++)
    has_float_scales |= cleave_bundle_step (bundle->model, i)->layer->has_float_scales;
  if (has_float_scales)
    g_string_append (out, "\n#define CLEAVE_FLOAT_SCALES\n");
  g_string_append (out, "\n#include \"cleave-run.h\"\n");

  append_kernel (out, "cleave-run", ".c", seen);
  for (guint i = 0; i < bundle->model->steps->len; i++)
    {
      const char *file = cleave_bundle_step (bundle->model, i)->layer->file;

      if (file != NULL && g_hash_table_add (seen, g_strdup (file)))
        append_kernel (out, file, ".c", seen);
    }
  return g_string_free (out, FALSE);
}

char *
cleave_bundle_make_kernels_header (const char *file)
{
  g_autoptr (GBytes) bytes = load_kernel (file, ".h");
  gsize length;
  const char *text = g_bytes_get_data (bytes, &length);

  return g_strndup (text, length);
}

char *
cleave_bundle_make_readme (const CleaveBundle *bundle)
{
  const CleaveBundleStats *stats = &bundle->stats;

  return g_strdup_printf (
      "%s: a neural network as C99, license 0BSD\n\n"
      "arena    %" G_GINT64_FORMAT " bytes (%" G_GINT64_FORMAT " if each layer were whole)\n"
      "weights  %" G_GINT64_FORMAT " bytes, constant\n"
      "MACs     %" G_GINT64_FORMAT "\n"
      "layers   %u in %u loops\n\n"
      "Compile %s.c, %s-weights.c and cleave-kernels.c into your program, and call %s_run ().\n"
      "The sizes, offsets and types are in %s.h.\n\n"
      "To test on this machine:\n\n"
      "  cc -std=c99 -O2 %s-test.c %s.c %s-weights.c cleave-kernels.c -lm -o test && ./test\n",
      bundle->name, stats->arena_bytes, stats->unsplit_bytes, stats->weight_bytes, stats->macs,
      stats->n_layers, stats->n_segments, bundle->name, bundle->name, bundle->name, bundle->name,
      bundle->name, bundle->name, bundle->name);
}
