/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the tables of a bundle, which kernels/cleave-run.c reads: values, columns and segments.
 * write-layers.c writes the other tables. */

#include "bundle.h"

#define LICENSE "/* SPDX-License-Identifier: 0BSD */\n"
/* CLEAVE_OFFSET_UNIT in kernels/cleave-run.h; each alignment is a multiple of this number */
#define OFFSET_UNIT 4

/* The functions below write the table of values. */

/* The memory of a value, with the fields of CleaveValue in kernels/cleave-run.h. */
typedef struct
{
  gint64 offset, capacity, width;
  guint memory; /* index of the arena that has the value (a bundle may have several arenas); the
                 * number of arenas if the value is a state */
  gboolean is_io, is_ring, is_upward, is_chain;
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
  const CleaveBundleValue *base = cleave_bundle_value (bundle->model, v->base);
  const CleaveBundleKept *kept = base->place == CLEAVE_BUNDLE_INPUT
                                     ? cleave_bundle_find_kept (bundle->model, base->port, TRUE)
                                     : NULL;
  Memory memory = { .capacity = v->image.rows, .width = v->image.columns };

  if (kept != NULL)
    {
      memory.offset = kept->offset;
      memory.memory = cleave_bundle_count_memories (bundle);
    }
  else if (base->place != CLEAVE_BUNDLE_ARENA)
    memory.is_io = TRUE;
  else
    {
      const CleaveBundleBuffer *buffer = cleave_bundle_layout_buffer (bundle->layout, v->base);

      memory.offset = buffer->offset;
      memory.memory = buffer->memory;
    }
  return memory;
}

/* Returns whether the segment has a step `s` + 1, and no other step of the segment reads the result
 * of `s`. */
static gboolean
is_chain (const CleaveBundle *bundle, const CleaveBundleSegment *segment, guint s)
{
  const CleaveBundleModel *model = bundle->model;
  guint value = cleave_bundle_step (model, s)->result;

  for (guint i = model->first_reader[value]; i < model->first_reader[value + 1]; i++)
    if (model->readers[i].step != s + 1 && model->readers[i].step < segment->end)
      return FALSE;
  return s + 1 < segment->end;
}

/* Sets memory[s] to the memory of the result of step s, for each step s of a segment. */
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

      if (flow->slots[s - g->first].is_whole)
        memory[s] = whole_memory (bundle, cleave_bundle_step (bundle->model, s)->result);
      else
        {
          const CleaveBundleBuffer *buffer = cleave_bundle_layout_buffer (bundle->layout, value);

          memory[s] = (Memory){ .offset = buffer->offset,
                                .capacity = flow->slots[owner - g->first].capacity,
                                .width = flow->slots[owner - g->first].columns,
                                .memory = buffer->memory,
                                .is_ring = TRUE };
        }
      memory[s].is_upward = g->is_upward;
      memory[s].is_chain = is_chain (bundle, g, s);
    }
}

/* Writes the offset of a value in its arena. If the value is an input or output in memory of the
 * caller, writes the index of its pointer in the struct NAMEIo. */
static void
print_offset (const CleaveBundle *bundle,
              const CleaveBundleValue *base,
              const Memory *memory,
              GString *out)
{
  g_autofree char *name = NULL;

  if (!memory->is_io)
    {
      g_string_append_printf (out, "%" G_GINT64_FORMAT, memory->offset / OFFSET_UNIT);
      return;
    }
  name = base->place == CLEAVE_BUNDLE_INPUT ? cleave_bundle_dup_input_name (bundle, base->port)
                                            : cleave_bundle_dup_output_name (bundle, base->port);
  g_string_append_printf (out, "offsetof (%sIo, %s) / sizeof (void *)", bundle->type, name);
}

static void
print_value (const CleaveBundle *bundle,
             const CleaveBundleValue *value,
             Memory memory,
             GString *out)
{
  const CleaveBundleImage *image = &value->image;

  g_string_append (out, "  { ");
  print_offset (bundle, cleave_bundle_value (bundle->model, value->base), &memory, out);
  g_string_append_printf (out,
                          ", %" G_GSIZE_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                          ", %" G_GINT64_FORMAT ", ",
                          image->pixel_bytes, image->rows, memory.capacity, memory.width);
  if (memory.is_io)
    g_string_append (out, "CLEAVE_IO");
  else
    g_string_append_printf (out, "%u * CLEAVE_ARENA", memory.memory);
  g_string_append_printf (out, "%s%s%s },\n",
                          memory.is_ring      ? " | CLEAVE_RING"
                          : image->images > 1 ? " | CLEAVE_IMAGES"
                                              : "",
                          memory.is_upward ? " | CLEAVE_UPWARD" : "",
                          memory.is_chain ? " | CLEAVE_CHAIN" : "");
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
  g_string_append (out, "/* offset, pixel_bytes, rows, capacity, width, flags */\n"
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

/* Returns whether an index of the tables does not fit a byte: the index of a row map or of a
 * value. */
static gboolean
has_many_entries (const CleaveBundle *bundle)
{
  return cleave_bundle_count_row_maps (bundle) > G_MAXUINT8 ||
         bundle->model->values->len >= G_MAXUINT8;
}

/* Returns whether an offset in an arena or in the states, or an index in the table of columns, does
 * not fit 16 bits. */
static gboolean
has_large_offsets (const CleaveBundle *bundle)
{
  gint64 n_columns = 0;

  for (guint i = 0; i < bundle->plan->segments->len; i++)
    n_columns += 2 * (gint64) (get_segment (bundle, i)->end - get_segment (bundle, i)->first) *
                 get_segment (bundle, i)->n_bands;
  return n_columns >= G_MAXUINT16 || MAX (bundle->layout->n_bytes, bundle->model->state_bytes) >
                                         (gint64) OFFSET_UNIT * G_MAXUINT16;
}

gboolean
cleave_bundle_is_long (const CleaveBundle *bundle)
{
  for (guint i = 0; i < bundle->model->values->len; i++)
    {
      const CleaveBundleImage *image = &cleave_bundle_value (bundle->model, i)->image;

      if (MAX (image->images, MAX (image->rows, image->columns)) > G_MAXUINT8)
        return TRUE;
    }
  return FALSE;
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
  return has_many_entries (bundle) || has_large_offsets (bundle);
}

/* Returns whether the table of columns has entries for a segment. A segment without bands needs no
 * entries, since each layer computes all columns of its memory. */
static gboolean
has_columns (const CleaveBundleSegment *segment)
{
  return segment->n_bands > 1;
}

/* Writes the columns that each layer of a segment computes in each band. */
static void
print_columns (const CleaveBundleFlow *flow, GString *out)
{
  const CleaveBundleSegment *g = &flow->segment;
  guint n = (g->end - g->first) * g->n_bands;

  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ",",
                            i % 8 == 0 ? "\n  " : " ", flow->columns[i].begin,
                            flow->columns[i].end);
}

/* Writes the table of columns. Returns FALSE if no segment has bands, so that there is no table. */
static gboolean
print_all_columns (const CleaveBundle *bundle, GString *out)
{
  CleaveBundleFlow flow;
  g_autoptr (GString) table = g_string_new (NULL);

  cleave_bundle_flow_init (&flow, bundle->model, bundle->align);
  for (guint i = 0; i < bundle->plan->segments->len; i++)
    if (has_columns (get_segment (bundle, i)))
      {
        cleave_bundle_flow_repeat (&flow, get_segment (bundle, i));
        print_columns (&flow, table);
      }
  cleave_bundle_flow_clear (&flow);
  if (table->len > 0)
    g_string_append_printf (out, "static const uint16_t columns[] = {%s\n};\n\n", table->str);
  return table->len > 0;
}

/* Writes the table of segments. */
static void
print_segments (const CleaveBundle *bundle, GString *out)
{
  g_string_append (out, "/* layers, bands, images */\n"
                        "static const CleaveSegment segments[] = {\n");
  for (guint i = 0; i < bundle->plan->segments->len; i++)
    {
      const CleaveBundleSegment *g = get_segment (bundle, i);
      guint value = cleave_bundle_step (bundle->model, g->first)->result;

      g_assert (g->end - g->first <= G_MAXUINT8 && g->n_bands <= G_MAXUINT8);
      g_string_append_printf (out, "  { %u, %u, %" G_GINT64_FORMAT " },\n", g->end - g->first,
                              g->n_bands, cleave_bundle_value (bundle->model, value)->image.images);
    }
  g_string_append (out, "  { 0, 0, 0 }\n};\n\n");
}

void
cleave_bundle_append_tables (const CleaveBundle *bundle, GString *out)
{
  g_autofree guint *numbers = g_new0 (guint, bundle->model->values->len + 1);
  gboolean has_table;

  cleave_bundle_append_row_readers (bundle, out);
  print_values (bundle, numbers, out);
  cleave_bundle_append_layers (bundle, numbers, out);
  has_table = print_all_columns (bundle, out);
  print_segments (bundle, out);
  cleave_bundle_append_run (bundle, has_table, out);
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
