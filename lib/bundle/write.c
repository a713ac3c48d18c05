/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the tables of a bundle, which kernels/cleave-run.c reads: values, row maps, layers and
 * segments. */

#include "bundle.h"

#define LICENSE "/* SPDX-License-Identifier: 0BSD */\n"

/* The functions below write the table of values. */

/* The memory of a value, with the fields of CleaveValue in kernels/cleave-run.h. */
typedef struct
{
  gint64 offset, capacity, width;
  guint memory; /* index of the arena among several memories */
  gboolean is_ring;
} Memory;

static const CleaveBundleSegment *
get_segment (const CleaveBundle *bundle, guint i)
{
  return &g_array_index (bundle->plan->segments, CleaveBundleSegment, i);
}

static Memory
whole_memory (const CleaveBundle *bundle, guint value)
{
  const CleaveBundleValue *v = cleave_bundle_value (bundle->model, value);
  Memory memory = { 0, v->image.rows, v->image.columns, 0, FALSE };

  if (cleave_bundle_value (bundle->model, v->base)->place == CLEAVE_BUNDLE_ARENA)
    {
      const CleaveBundleBuffer *buffer = cleave_bundle_layout_buffer (bundle->layout, v->base);

      memory.offset = buffer->offset;
      memory.memory = buffer->memory;
    }
  return memory;
}

/* Sets `memory`, indexed by step, for the results of a segment's steps. */
static void
set_memory (const CleaveBundle *bundle, const CleaveBundleFlow *flow, Memory *memory)
{
  const CleaveBundleSegment *g = &flow->segment;

  for (guint s = g->first; s < g->end; s++)
    {
      guint owner = flow->slots[s - g->first].shares;
      guint whole = cleave_bundle_flow_find_whole (flow, owner);
      guint value =
          cleave_bundle_step (bundle->model, whole == CLEAVE_BUNDLE_NONE ? owner : whole)->result;
      const CleaveBundleBuffer *buffer;

      if (flow->slots[s - g->first].is_whole)
        {
          memory[s] = whole_memory (bundle, cleave_bundle_step (bundle->model, s)->result);
          continue;
        }
      buffer = cleave_bundle_layout_buffer (bundle->layout, value);
      memory[s] = (Memory){ buffer->offset, flow->slots[owner - g->first].capacity,
                            flow->slots[owner - g->first].columns, buffer->memory, TRUE };
    }
}

static void
print_value (const CleaveBundle *bundle,
             const CleaveBundleValue *value,
             Memory memory,
             GString *out)
{
  const CleaveBundleImage *image = &value->image;
  const CleaveBundleValue *base = cleave_bundle_value (bundle->model, value->base);
  static const char *const places[] = { "CLEAVE_ARENA", "CLEAVE_INPUT", "CLEAVE_OUTPUT" };

  g_string_append_printf (
      out,
      "  { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
      ", %" G_GINT64_FORMAT ", %" G_GSIZE_FORMAT ", %u, %s%s },\n",
      memory.offset, image->rows, image->columns, memory.capacity, memory.width, image->pixel_bytes,
      base->place == CLEAVE_BUNDLE_ARENA ? memory.memory : base->port, places[base->place],
      memory.is_ring      ? " | CLEAVE_RING"
      : image->images > 1 ? " | CLEAVE_IMAGES"
                          : "");
}

static void
print_values (const CleaveBundle *bundle, guint *numbers, GString *out)
{
  const CleaveBundleModel *model = bundle->model;
  guint n = model->steps->len, next = n;
  g_autofree Memory *memory = g_new0 (Memory, MAX (n, 1));
  CleaveBundleFlow flow;

  cleave_bundle_flow_init (&flow, model, bundle->align);
  for (guint i = 0; i < bundle->plan->segments->len; i++)
    {
      const CleaveBundleSegment *g = get_segment (bundle, i);

      cleave_bundle_flow_repeat (&flow, g);
      set_memory (bundle, &flow, memory);
    }
  cleave_bundle_flow_clear (&flow);
  g_string_append (out, "/* offset, rows, columns, capacity, width, pixel_bytes, port, flags */\n"
                        "static const CleaveValue values[] = {\n");
  for (guint s = 0; s < n; s++)
    {
      guint value = cleave_bundle_step (model, s)->result;

      numbers[value] = s;
      print_value (bundle, cleave_bundle_value (model, value), memory[s], out);
    }
  for (guint i = 0; i < model->values->len; i++)
    {
      const CleaveBundleValue *value = cleave_bundle_value (model, i);

      if (value->producer != CLEAVE_BUNDLE_NONE &&
          cleave_bundle_step (model, value->producer)->result == i)
        continue;
      if (!cleave_bundle_is_read (model, i))
        continue;
      numbers[i] = next++;
      print_value (bundle, value, whole_memory (bundle, i), out);
    }
  g_string_append (out, "};\n\n");
}

/* Texts of two tables, in which equal entries are stored once: `row_maps`, the dimension maps from
 * a row of a result to the rows of an operand that it needs, and `kernels`. */
typedef struct
{
  GString *row_maps;
  GHashTable *indices; /* maps the text of a dimension map to its index in `row_maps` */
  GPtrArray *kernels;
} Tables;

static void
init_tables (Tables *tables)
{
  tables->row_maps = g_string_new (NULL);
  tables->indices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  tables->kernels = g_ptr_array_new_with_free_func (g_free);
}

static void
clear_tables (Tables *tables)
{
  g_string_free (tables->row_maps, TRUE);
  g_hash_table_unref (tables->indices);
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

/* Returns the index of a dimension map in the table `row_maps`, and adds the map if it is new. */
static guint
add_row_map (Tables *tables, CleaveDimMap map)
{
  char *text =
      g_strdup_printf ("{ %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                       ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " }",
                       map.stride, map.offset, map.window, map.times, map.shift, map.block);
  guint index = g_hash_table_size (tables->indices);
  gpointer found;

  if (g_hash_table_lookup_extended (tables->indices, text, NULL, &found))
    {
      g_free (text);
      return GPOINTER_TO_UINT (found);
    }
  g_string_append_printf (tables->row_maps, "  %s,\n", text);
  g_hash_table_insert (tables->indices, text, GUINT_TO_POINTER (index));
  return index;
}

static void
print_layer (
    const CleaveBundle *bundle, const guint *numbers, guint s, Tables *tables, GString *out)
{
  const CleaveBundleStep *step = cleave_bundle_step (bundle->model, s);
  guint indices[CLEAVE_BUNDLE_MAX_OPERANDS] = { 0 };

  if (step->layer->type == NULL)
    g_string_append (out, "  { NULL, {");
  else
    g_string_append_printf (out, "  { &params_%u, {", s);
  for (guint i = 0; i < CLEAVE_BUNDLE_MAX_OPERANDS; i++)
    if (i < step->n_operands)
      {
        g_string_append_printf (out, "%s %u", i == 0 ? "" : ",", numbers[step->operands[i]]);
        indices[i] = add_row_map (tables, step->rows[i]);
      }
    else
      g_string_append_printf (out, "%s CLEAVE_NO_VALUE", i == 0 ? "" : ",");
  g_string_append_printf (out, " }, { %u, %u }, ", indices[0], indices[1]);
  if (step->kernel == NULL)
    g_string_append (out, "CLEAVE_NO_KERNEL }, /* input */\n");
  else
    g_string_append_printf (out, "%u }, /* %s */\n", add_kernel (tables, step->kernel),
                            step->node->op->name);
}

static void
print_layers (const CleaveBundle *bundle, const guint *numbers, GString *out)
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
  add_row_map (&tables, cleave_dim_map_whole (0));
  g_string_append (out, "\n/* params, operands, row_maps, kernel */\n"
                        "static const CleaveLayer layers[] = {\n");
  for (guint s = 0; s < n; s++)
    print_layer (bundle, numbers, s, &tables, out);
  g_string_append_printf (out,
                          "};\n\n/* stride, offset, window, times, shift, block */\n"
                          "static const CleaveRowMap row_maps[] = {\n%s};\n\n",
                          tables.row_maps->str);
  g_string_append (out, "static const CleaveKernel kernels[] = {\n");
  for (guint i = 0; i < tables.kernels->len; i++)
    g_string_append_printf (out, "  %s,\n", (const char *) tables.kernels->pdata[i]);
  g_string_append (out, tables.kernels->len == 0 ? "  NULL\n};\n\n" : "};\n\n");
  clear_tables (&tables);
}

/* Returns whether the table `row_maps` has more entries than a byte can number. */
static gboolean
has_many_row_maps (const CleaveBundle *bundle)
{
  Tables tables;
  guint n;

  init_tables (&tables);
  for (guint s = 0; s < bundle->model->steps->len; s++)
    for (guint i = 0; i < cleave_bundle_step (bundle->model, s)->n_operands; i++)
      add_row_map (&tables, cleave_bundle_step (bundle->model, s)->rows[i]);
  add_row_map (&tables, cleave_dim_map_whole (0));
  n = g_hash_table_size (tables.indices);
  clear_tables (&tables);
  return n > G_MAXUINT8 + 1;
}

gboolean
cleave_bundle_is_wide (const CleaveBundle *bundle)
{
  for (guint s = 0; s < bundle->model->steps->len; s++)
    if (cleave_bundle_step (bundle->model, s)->layer->is_wide)
      return TRUE;
  for (guint i = 0; i < bundle->model->values->len; i++)
    if (cleave_bundle_value (bundle->model, i)->image.pixel_bytes > G_MAXUINT16)
      return TRUE;
  return has_many_row_maps (bundle);
}

/* Writes the columns that each layer of a segment computes in each band. */
static void
print_columns (const CleaveBundleFlow *flow, guint index, GString *out)
{
  const CleaveBundleSegment *g = &flow->segment;
  guint n = (g->end - g->first) * g->n_bands;

  g_string_append_printf (out, "static const uint16_t columns_%u[] = {", index);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ",",
                            i % 8 == 0 ? "\n  " : " ", flow->columns[i].begin,
                            flow->columns[i].end);
  g_string_append (out, "\n};\n\n");
}

/* Writes the table of segments. Returns the number of layers of the longest segment. */
static guint
print_segments (const CleaveBundle *bundle, GString *out)
{
  guint longest = 0;
  CleaveBundleFlow flow;

  cleave_bundle_flow_init (&flow, bundle->model, bundle->align);
  for (guint i = 0; i < bundle->plan->segments->len; i++)
    if (get_segment (bundle, i)->n_bands > 1)
      {
        cleave_bundle_flow_repeat (&flow, get_segment (bundle, i));
        print_columns (&flow, i, out);
      }
  cleave_bundle_flow_clear (&flow);
  g_string_append (out, "/* first, end, images, bands, is_upward, columns */\n"
                        "static const CleaveSegment segments[] = {\n");
  for (guint i = 0; i < bundle->plan->segments->len; i++)
    {
      const CleaveBundleSegment *g = get_segment (bundle, i);
      guint value = cleave_bundle_step (bundle->model, g->first)->result;

      longest = MAX (longest, g->end - g->first);
      g_string_append_printf (out, "  { %u, %u, %" G_GINT64_FORMAT ", %u, %d, ", g->first, g->end,
                              cleave_bundle_value (bundle->model, value)->image.images, g->n_bands,
                              g->is_upward);
      if (g->n_bands == 1)
        g_string_append (out, "NULL },\n");
      else
        g_string_append_printf (out, "columns_%u },\n", i);
    }
  g_string_append (out, "};\n\n");
  return longest;
}

void
cleave_bundle_append_tables (const CleaveBundle *bundle, GString *out)
{
  g_autofree guint *numbers = g_new0 (guint, bundle->model->values->len + 1);

  print_values (bundle, numbers, out);
  print_layers (bundle, numbers, out);
  cleave_bundle_append_run (bundle, print_segments (bundle, out), out);
}

void
cleave_bundle_append_plan (const CleaveBundle *bundle, GString *out)
{
  g_autofree char *plan = cleave_bundle_print (bundle);
  g_auto (GStrv) lines = g_strsplit (plan, "\n", -1);

  g_string_append (out, "\n/* The plan:\n *\n");
  for (guint i = 0; lines[i] != NULL && lines[i][0] != '\0'; i++)
    g_string_append_printf (out, " *   %s\n", lines[i]);
  g_string_append (out, " */\n");
}

char *
cleave_bundle_make_source (const CleaveBundle *bundle)
{
  GString *out = g_string_new (LICENSE);

  cleave_bundle_append_plan (bundle, out);
  g_string_append_printf (out,
                          "\n#include \"%s.h\"\n#include \"%s-weights.h\"\n"
                          "#include \"cleave-run.h\"\n\n",
                          bundle->name, bundle->name);
  cleave_bundle_append_tables (bundle, out);
  return g_string_free (out, FALSE);
}
