/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the tables of layers of a bundle, which kernels/cleave-run.c reads: the constants of each
 * layer, the layers, the row maps and the kernels. */

#include "bundle.h"

/* Two tables. An entry of `row_maps` is a dimension map (CleaveDimMap) from a row of a result to
 * the rows of an operand that this row needs. An entry of `kernels` is the name of a kernel. */
typedef struct
{
  GArray *row_maps;
  GPtrArray *kernels;
} Tables;

static void
init_tables (Tables *tables)
{
  tables->row_maps = g_array_new (FALSE, FALSE, sizeof (CleaveDimMap));
  tables->kernels = g_ptr_array_new_with_free_func (g_free);
}

static void
clear_tables (Tables *tables)
{
  g_array_unref (tables->row_maps);
  g_ptr_array_unref (tables->kernels);
}

/* Returns the index of a kernel in the table, and adds the kernel if it is new. */
static guint
add_kernel (Tables *tables, const char *kernel)
{
  guint index;

  if (!g_ptr_array_find_with_equal_func (tables->kernels, kernel, g_str_equal, &index))
    {
      index = tables->kernels->len;
      g_ptr_array_add (tables->kernels, g_strdup (kernel));
    }
  return index;
}

/* Returns whether a dimension map is entry `index` of the table `row_maps`. */
static gboolean
is_row_map (const Tables *tables, guint index, const CleaveDimMap *map)
{
  const CleaveDimMap *entry;

  if (index >= tables->row_maps->len)
    return FALSE;
  entry = &g_array_index (tables->row_maps, CleaveDimMap, index);
  return entry->stride == map->stride && entry->offset == map->offset &&
         entry->window == map->window && entry->times == map->times && entry->shift == map->shift &&
         entry->block == map->block;
}

/* Returns an index in the table `row_maps`: from this index on, the table has the `n` maps of a
 * step's operands. Appends maps to the table if it does not have them in this order. */
static guint
add_row_maps (Tables *tables, const CleaveDimMap *maps, guint n)
{
  guint index = 0, found = 0;

  for (index = 0;; index++)
    {
      for (found = 0; found < n && is_row_map (tables, index + found, &maps[found]);)
        found++;
      if (found == n || index + found == tables->row_maps->len)
        break;
    }
  g_array_append_vals (tables->row_maps, maps + found, n - found);
  return index;
}

/* Adds the row maps of all steps. Steps with several operands come first: the map of a step with
 * one operand is then often in the table already. Adds one map if no step has an operand, since a
 * table of C99 has at least one entry. */
static void
add_all_row_maps (Tables *tables, const CleaveBundle *bundle)
{
  CleaveDimMap whole = cleave_dim_map_whole (0);

  for (guint n = CLEAVE_BUNDLE_MAX_OPERANDS; n > 0; n--)
    for (guint s = 0; s < bundle->model->steps->len; s++)
      {
        const CleaveBundleStep *step = cleave_bundle_step (bundle->model, s);

        if (step->n_operands == n)
          add_row_maps (tables, step->rows, n);
      }
  if (tables->row_maps->len == 0)
    add_row_maps (tables, &whole, 1);
}

static void
print_layer (
    const CleaveBundle *bundle, const guint *numbers, guint s, Tables *tables, GString *out)
{
  const CleaveBundleStep *step = cleave_bundle_step (bundle->model, s);

  if (step->layer->type == NULL)
    g_string_append (out, "  { NULL, {");
  else
    g_string_append_printf (out, "  { &params_%u, {", s);
  for (guint i = 0; i < CLEAVE_BUNDLE_MAX_OPERANDS; i++)
    if (i < step->n_operands)
      g_string_append_printf (out, "%s %u", i == 0 ? "" : ",", numbers[step->operands[i]]);
    else
      g_string_append_printf (out, "%s CLEAVE_NO_VALUE", i == 0 ? "" : ",");
  g_string_append_printf (out, " }, %u, ", add_row_maps (tables, step->rows, step->n_operands));
  if (step->kernel == NULL)
    {
      g_autofree char *reader = cleave_bundle_dup_row_reader (bundle, s);

      g_string_append_printf (out, "%u }, /* input */\n", add_kernel (tables, reader));
    }
  else
    g_string_append_printf (out, "%u }, /* %s */\n", add_kernel (tables, step->kernel),
                            step->node->op->name);
}

static void
print_tables (const Tables *tables, GString *out)
{
  g_string_append (out, "};\n\n/* stride, offset, window, times, shift, block */\n"
                        "static const CleaveRowMap row_maps[] = {\n");
  for (guint i = 0; i < tables->row_maps->len; i++)
    {
      const CleaveDimMap *map = &g_array_index (tables->row_maps, CleaveDimMap, i);

      g_string_append_printf (
          out,
          "  { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
          ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " },\n",
          map->stride, map->offset, map->window, map->times, map->shift, map->block);
    }
  g_string_append (out, "};\n\nstatic const CleaveKernel kernels[] = {\n");
  for (guint i = 0; i < tables->kernels->len; i++)
    g_string_append_printf (out, "  %s,\n", (const char *) tables->kernels->pdata[i]);
  g_string_append (out, tables->kernels->len == 0 ? "  NULL\n};\n\n" : "};\n\n");
}

void
cleave_bundle_append_layers (const CleaveBundle *bundle, const guint *numbers, GString *out)
{
  guint n = bundle->model->steps->len;
  Tables tables;

  init_tables (&tables);
  for (guint s = 0; s < n; s++)
    {
      const CleaveBundleLayer *layer = cleave_bundle_step (bundle->model, s)->layer;

      if (layer->type != NULL)
        g_string_append_printf (out, "static const %s params_%u = {\n  %s\n};\n", layer->type, s,
                                layer->fields);
    }
  add_all_row_maps (&tables, bundle);
  g_string_append (out, "\n/* params, operands, row_map, kernel */\n"
                        "static const CleaveLayer layers[] = {\n");
  for (guint s = 0; s < n; s++)
    print_layer (bundle, numbers, s, &tables, out);
  print_tables (&tables, out);
  clear_tables (&tables);
}

guint
cleave_bundle_count_row_maps (const CleaveBundle *bundle)
{
  Tables tables;
  guint n;

  init_tables (&tables);
  add_all_row_maps (&tables, bundle);
  n = tables.row_maps->len;
  clear_tables (&tables);
  return n;
}
