/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes TensorFlow Lite files in the format of FlatBuffers. A table comes before the objects that
 * its fields point to, and each field takes 8 bytes. */

#include "tflite-file.h"

#include <stdlib.h>
#include <string.h>

static void
align (GByteArray *file, guint alignment)
{
  static const guint8 zeros[16] = { 0 };

  g_byte_array_append (file, zeros, (alignment - file->len % alignment) % alignment);
}

static guint
append (GByteArray *file, gconstpointer data, guint n_bytes, guint alignment)
{
  guint at;

  align (file, alignment);
  at = file->len;
  g_byte_array_append (file, data, n_bytes);
  return at;
}

/* Appends a table of absent fields; returns its position. */
static guint
append_table (GByteArray *file, guint n_fields)
{
  guint vtable_size = 4 + 2 * n_fields, vtable, table;
  guint16 sizes[2] = { (guint16) vtable_size, (guint16) (8 + 8 * n_fields) };
  gint32 back;

  vtable = append (file, sizes, sizeof (sizes), 8);
  for (guint i = 0; i < n_fields; i++)
    append (file, &(guint16){ 0 }, 2, 2);
  align (file, 8);
  back = (gint32) (file->len - vtable);
  table = append (file, &back, 4, 8);
  align (file, 8);
  for (guint i = 0; i < n_fields; i++)
    append (file, &(guint64){ 0 }, 8, 8);
  return table;
}

/* Stores `n_bytes` bytes of data in a field of a table. */
static void
set (GByteArray *file, guint table, guint field, gconstpointer data, guint n_bytes)
{
  gint32 back;
  guint16 offset = (guint16) (8 + 8 * field);

  memcpy (&back, file->data + table, 4);
  memcpy (file->data + table - back + 4 + 2 * field, &offset, 2);
  memcpy (file->data + table + offset, data, n_bytes);
}

static void
set_int (GByteArray *file, guint table, guint field, gint32 value, guint n_bytes)
{
  set (file, table, field, &value, n_bytes);
}

/* Stores in a field of a table the offset of the object at position `target`. */
static void
set_offset (GByteArray *file, guint table, guint field, guint target)
{
  set_int (file, table, field, (gint32) (target - (table + 8 + 8 * field)), 4);
}

static guint
append_vector (GByteArray *file, gconstpointer data, guint n, guint size)
{
  guint at;

  align (file, 16);
  append (file, &(guint64[]){ 0 }, size > 4 ? 4 : size == 1 ? 12 : 0, 4);
  at = append (file, &n, 4, 4);
  append (file, data, n * size, 1);
  return at;
}

static void
set_vector (GByteArray *file, guint table, guint field, gconstpointer data, guint n, guint size)
{
  guint at = append_vector (file, data, n, size);

  set_offset (file, table, field, at);
}

static void
set_string (GByteArray *file, guint table, guint field, const char *text)
{
  if (text == NULL)
    return;
  set_vector (file, table, field, text, (guint) strlen (text), 1);
  append (file, "", 1, 1);
}

/* Appends a vector of `n` offsets, which the caller sets later; returns the position of the
 * first. */
static guint
set_tables (GByteArray *file, guint table, guint field, guint n)
{
  g_autofree guint32 *zeros = g_new0 (guint32, n + 1);
  guint at = append_vector (file, zeros, n, 4);

  set_offset (file, table, field, at);
  return at + 4;
}

static void
set_item (GByteArray *file, guint items, guint i, guint table)
{
  guint32 offset = table - (items + 4 * i);

  memcpy (file->data + items + 4 * i, &offset, 4);
}

/* Sets `field` of the table `level` to type 3 of SparseIndexVector, and `field` + 1 to the list of
 * bytes. */
static void
set_bytes (GByteArray *file, guint level, guint field, const guint8 *bytes, guint n)
{
  guint list = append_table (file, 1);

  set_int (file, level, field, 3, 1);
  set_offset (file, level, field + 1, list);
  set_vector (file, list, 0, bytes, n, 1);
}

static void
write_sparsity (GByteArray *file, guint tensor, const TfliteSparsity *from)
{
  guint table = append_table (file, 3), items;

  set_offset (file, tensor, 6, table);
  set_vector (file, table, 0, from->order, from->n_levels, 4);
  set_vector (file, table, 1, from->blocks, from->n_blocks, 4);
  items = set_tables (file, table, 2, from->n_levels);
  for (guint i = 0; i < from->n_levels; i++)
    {
      const TfliteLevel *l = &from->levels[i];
      guint level = append_table (file, 6);

      set_item (file, items, i, level);
      set_int (file, level, 0, l->segments != NULL, 1);
      set_int (file, level, 1, l->size, 4);
      if (l->segments == NULL)
        continue;
      set_bytes (file, level, 2, l->segments, l->n_segments);
      set_bytes (file, level, 4, l->indices, l->n_indices);
    }
}

static guint
write_tensor (GByteArray *file, const TfliteTensor *tensor, guint buffer)
{
  guint table = append_table (file, 8), quantization;
  g_auto (GStrv) dims = g_strsplit (tensor->shape, "x", -1);
  gint32 shape[8];
  guint rank = 0;

  for (; dims[rank] != NULL && rank < 8; rank++)
    shape[rank] = atoi (dims[rank]);
  set_vector (file, table, 0, shape, rank, 4);
  set_int (file, table, 1, tensor->type, 1);
  set_int (file, table, 2, (gint32) buffer, 4);
  set_string (file, table, 3, tensor->name);
  set_int (file, table, 5, tensor->is_variable, 1);
  if (tensor->scales != NULL)
    {
      g_autofree gint64 *zeros = g_new (gint64, tensor->n_scales);

      for (guint i = 0; i < tensor->n_scales; i++)
        zeros[i] = tensor->zero;
      quantization = append_table (file, 7);
      set_offset (file, table, 4, quantization);
      set_vector (file, quantization, 2, tensor->scales, tensor->n_scales, 4);
      set_vector (file, quantization, 3, zeros, tensor->n_scales, 8);
      set_int (file, quantization, 6, tensor->axis, 4);
    }
  if (tensor->sparsity != NULL)
    write_sparsity (file, table, tensor->sparsity);
  return table;
}

static void
write_options (GByteArray *file, guint op, const TfliteOperator *from)
{
  guint options = append_table (file, 10);

  set_int (file, op, 3, from->options_type, 1);
  set_offset (file, op, 4, options);
  for (const TfliteOption *o = from->options; o->kind != 0; o++)
    if (o->kind == 's')
      set_string (file, options, o->field, from->custom);
    else if (o->kind == 'f')
      set (file, options, o->field, &(float){ (float) o->value }, 4);
    else
      set_int (file, options, o->field, (gint32) o->value, o->kind == 'b' ? 1 : 4);
}

static guint
write_operator (GByteArray *file, const TfliteGraph *graph, const TfliteOperator *from, guint code)
{
  guint op = append_table (file, 9);
  const TfliteTensor *options =
      from->options[0].kind == 'c' ? &graph->tensors[(gint) from->options[0].value] : NULL;

  set_int (file, op, 0, (gint32) code, 4);
  set_vector (file, op, 1, from->inputs, (guint) from->n_inputs, 4);
  set_vector (file, op, 2, from->outputs, (guint) from->n_outputs, 4);
  if (options != NULL)
    set_vector (file, op, 5, options->data, options->n_bytes, 1);
  else if (from->options_type != 0)
    write_options (file, op, from);
  return op;
}

/* Writes a subgraph whose first tensor has buffer `buffer`, and whose first operator has code
 * `code`. Returns the position of the subgraph's table in the file. */
static guint
write_subgraph (GByteArray *file, const TfliteGraph *graph, guint buffer, guint code)
{
  guint subgraph = append_table (file, 5), items;

  set_vector (file, subgraph, 1, graph->inputs, (guint) graph->n_inputs, 4);
  set_vector (file, subgraph, 2, graph->outputs, (guint) graph->n_outputs, 4);
  items = set_tables (file, subgraph, 0, graph->n_tensors);
  for (guint i = 0; i < graph->n_tensors; i++)
    set_item (file, items, i, write_tensor (file, &graph->tensors[i], buffer + i));
  items = set_tables (file, subgraph, 3, MAX (graph->n_operators, graph->n_listed));
  for (guint i = 0; i < graph->n_operators; i++)
    {
      guint op = write_operator (file, graph, &graph->operators[i], code + i);

      for (guint k = i; k == i || (i == 0 && k < graph->n_listed); k++)
        set_item (file, items, k, op);
    }
  return subgraph;
}

static void
write_subgraphs (GByteArray *file, guint model, const TfliteGraph *const *graphs)
{
  guint n = 0, buffer = 1, code = 0, items;

  while (graphs[n] != NULL)
    n++;
  items = set_tables (file, model, 2, n);
  for (guint i = 0; i < n; i++)
    {
      set_item (file, items, i, write_subgraph (file, graphs[i], buffer, code));
      buffer += graphs[i]->n_tensors;
      code += graphs[i]->n_operators;
    }
}

/* Writes the buffers: buffer 0, which is empty, and one for each tensor of each graph. */
static void
write_buffers (GByteArray *file, guint model, const TfliteGraph *const *graphs)
{
  guint n = 1, items;

  for (guint g = 0; graphs[g] != NULL; g++)
    n += graphs[g]->n_tensors;
  items = set_tables (file, model, 4, n);
  set_item (file, items, 0, append_table (file, 3));
  n = 1;
  for (guint g = 0; graphs[g] != NULL; g++)
    for (guint i = 0; i < graphs[g]->n_tensors; i++)
      {
        const TfliteTensor *tensor = &graphs[g]->tensors[i];
        guint table = append_table (file, 3);

        set_item (file, items, n++, table);
        if (tensor->data != NULL)
          set_vector (file, table, 0, tensor->data, tensor->n_bytes, 1);
      }
}

static void
write_codes (GByteArray *file, guint model, const TfliteGraph *const *graphs)
{
  guint n = 0, items;

  for (guint g = 0; graphs[g] != NULL; g++)
    n += graphs[g]->n_operators;
  items = set_tables (file, model, 1, n);
  n = 0;
  for (guint g = 0; graphs[g] != NULL; g++)
    for (guint i = 0; i < graphs[g]->n_operators; i++)
      {
        guint code = append_table (file, 4);

        set_item (file, items, n++, code);
        set_int (file, code, 0, MIN (graphs[g]->operators[i].code, 127), 1);
        set_int (file, code, 3, graphs[g]->operators[i].code, 4);
        set_string (file, code, 1, graphs[g]->operators[i].custom);
      }
}

GBytes *
tflite_file_new_list (const TfliteGraph *const *graphs)
{
  GByteArray *file = g_byte_array_new ();
  guint model;
  guint32 at;

  append (file, (guint8[]){ 0, 0, 0, 0, 'T', 'F', 'L', '3' }, 8, 1);
  model = append_table (file, 5);
  at = model;
  memcpy (file->data, &at, 4);
  set_int (file, model, 0, 3, 4);
  write_codes (file, model, graphs);
  write_subgraphs (file, model, graphs);
  set_string (file, model, 3, "test");
  write_buffers (file, model, graphs);
  return g_byte_array_free_to_bytes (file);
}

GBytes *
tflite_file_new (const TfliteGraph *graph)
{
  return tflite_file_new_list ((const TfliteGraph *[]){ graph, NULL });
}
