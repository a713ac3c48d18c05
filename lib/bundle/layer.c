/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sets the kernel and the constants of a layer, and stores constant arrays in the pool (layer.h,
 * op.h). */

#include "layer.h"

#include <string.h>

static void
array_clear (gpointer data)
{
  CleaveBundleArray *array = data;

  g_free (array->name);
  g_free (array->expression);
  g_free (array->type);
  g_bytes_unref (array->bytes);
}

CleaveBundlePool *
cleave_bundle_pool_new (const char *prefix)
{
  CleaveBundlePool *pool = g_new0 (CleaveBundlePool, 1);

  pool->prefix = g_strdup (prefix);
  pool->arrays = g_array_new (FALSE, FALSE, sizeof (CleaveBundleArray));
  g_array_set_clear_func (pool->arrays, array_clear);
  pool->names =
      g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  return pool;
}

void
cleave_bundle_pool_free (CleaveBundlePool *pool)
{
  g_free (pool->prefix);
  g_array_unref (pool->arrays);
  g_hash_table_unref (pool->names);
  g_free (pool);
}

CleaveBundleLayer *
cleave_bundle_layer_new (CleaveBundlePool *pool)
{
  CleaveBundleLayer *layer = g_new0 (CleaveBundleLayer, 1);

  layer->pool = pool;
  return layer;
}

void
cleave_bundle_layer_free (CleaveBundleLayer *layer)
{
  g_free (layer->file);
  g_free (layer->kernel);
  g_free (layer->type);
  g_free (layer->fields);
  g_free (layer->sums);
  g_free (layer);
}

static void
set_text (char **field, const char *text)
{
  char *copy = g_strdup (text); /* copy the text first, since `text` may be the old text */

  g_free (*field);
  *field = copy;
}

void
cleave_bundle_layer_set_kernel (CleaveBundleLayer *layer, const char *file, const char *kernel)
{
  set_text (&layer->file, file);
  set_text (&layer->kernel, kernel);
}

void
cleave_bundle_layer_set_params (CleaveBundleLayer *layer, const char *type, const char *fields)
{
  set_text (&layer->type, type);
  set_text (&layer->fields, fields);
}

void
cleave_bundle_layer_set_sums (CleaveBundleLayer *layer,
                              const char *kernel,
                              gint64 columns,
                              gsize pixel_bytes)
{
  set_text (&layer->sums, kernel);
  layer->sum_columns = columns;
  layer->sum_pixel_bytes = pixel_bytes;
}

void
cleave_bundle_layer_set_in_place (CleaveBundleLayer *layer, guint operand)
{
  layer->in_place |= 1u << operand;
}

void
cleave_bundle_layer_set_fixed_scales (CleaveBundleLayer *layer)
{
  layer->has_fixed_scales = TRUE;
}

void
cleave_bundle_layer_set_float_scales (CleaveBundleLayer *layer)
{
  layer->has_float_scales = TRUE;
}

void
cleave_bundle_layer_set_separate_weights (CleaveBundleLayer *layer)
{
  layer->has_separate_weights = TRUE;
}

void
cleave_bundle_layer_set_wide (CleaveBundleLayer *layer)
{
  layer->is_wide = TRUE;
}

void
cleave_bundle_layer_set_folded (CleaveBundleLayer *layer)
{
  layer->is_folded = TRUE;
}

void
cleave_bundle_layer_set_flat (CleaveBundleLayer *layer)
{
  layer->is_flat = TRUE;
}

void
cleave_bundle_layer_set_recurrent (CleaveBundleLayer *layer,
                                   const char *sums,
                                   const CleaveBundleRecurrent *recurrent)
{
  set_text (&layer->sums, sums);
  layer->recurrent = *recurrent;
}

void
cleave_bundle_layer_set_zero (CleaveBundleLayer *layer, guint operand, gint64 zero)
{
  layer->zero_operand = operand + 1;
  layer->zero = zero;
}

/* Returns the key of a constant array in the hash table `names` of a CleaveBundlePool. The key
 * consists of the array's element type and contents, so arrays that are equal are stored once. */
static GBytes *
make_key (const char *type, gconstpointer data, gsize n_bytes)
{
  gsize length = strlen (type) + 1;
  char *key = g_malloc (length + n_bytes);

  memcpy (key, type, length);
  if (n_bytes > 0)
    memcpy (key + length, data, n_bytes);
  return g_bytes_new_take (key, length + n_bytes);
}

static gsize
element_size (const char *type)
{
  static const struct
  {
    const char *type;
    gsize size;
  } sizes[] = { { "int8_t", 1 },   { "uint8_t", 1 }, { "int16_t", 2 },
                { "uint16_t", 2 }, { "int32_t", 4 }, { "uint32_t", 4 },
                { "float", 4 },    { "int64_t", 8 }, { "double", 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    if (strcmp (sizes[i].type, type) == 0)
      return sizes[i].size;
  g_assert_not_reached ();
}

const char *
cleave_bundle_layer_add_array (CleaveBundleLayer *layer,
                               const char *type,
                               gconstpointer data,
                               gsize n_elements)
{
  CleaveBundlePool *pool = layer->pool;
  gsize n_bytes = n_elements * element_size (type);
  g_autoptr (GBytes) key = make_key (type, data, n_bytes);
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (pool->names, key));

  if (index == 0)
    {
      CleaveBundleArray array = { .name =
                                      g_strdup_printf ("%s_a%u", pool->prefix, pool->arrays->len),
                                  .type = g_strdup (type),
                                  .bytes = g_bytes_new (data, n_bytes),
                                  .n_elements = n_elements };

      array.expression = n_bytes == n_elements
                             ? g_strdup_printf ("(const %s *) %s", type, array.name)
                             : g_strdup (array.name);

      g_array_append_val (pool->arrays, array);
      index = pool->arrays->len;
      g_hash_table_insert (pool->names, g_steal_pointer (&key), GUINT_TO_POINTER (index));
    }
  return g_array_index (pool->arrays, CleaveBundleArray, index - 1).expression;
}

guint
cleave_bundle_layer_get_part (const CleaveBundleLayer *layer)
{
  return layer->slot;
}
