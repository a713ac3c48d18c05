/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A FlatBuffers writer. Tables come before what their offsets point to; each field takes 8 bytes.
 */

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

/* Makes a field present. */
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

/* Lets a field point to `target`. */
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
  return table;
}

static void
write_options (GByteArray *file, guint op, const TfliteOperator *from)
{
  guint options = append_table (file, 10);

  set_int (file, op, 3, from->options_type, 1);
  set_offset (file, op, 4, options);
  for (const TfliteOption *o = from->options; o->kind != 0; o++)
    if (o->kind == 'f')
      set (file, options, o->field, &(float){ (float) o->value }, 4);
    else
      set_int (file, options, o->field, (gint32) o->value, o->kind == 'b' ? 1 : 4);
}

static guint
write_operator (GByteArray *file, const TfliteOperator *from, guint code)
{
  guint op = append_table (file, 9);

  set_int (file, op, 0, (gint32) code, 4);
  set_vector (file, op, 1, from->inputs, (guint) from->n_inputs, 4);
  set_vector (file, op, 2, from->outputs, (guint) from->n_outputs, 4);
  if (from->options_type != 0)
    write_options (file, op, from);
  return op;
}

static void
write_subgraph (GByteArray *file, guint model, const TfliteGraph *graph)
{
  guint subgraphs = set_tables (file, model, 2, 1), subgraph = append_table (file, 5), items;

  set_item (file, subgraphs, 0, subgraph);
  set_vector (file, subgraph, 1, graph->inputs, (guint) graph->n_inputs, 4);
  set_vector (file, subgraph, 2, graph->outputs, (guint) graph->n_outputs, 4);
  items = set_tables (file, subgraph, 0, graph->n_tensors);
  for (guint i = 0; i < graph->n_tensors; i++)
    set_item (file, items, i, write_tensor (file, &graph->tensors[i], i + 1));
  items = set_tables (file, subgraph, 3, MAX (graph->n_operators, graph->n_listed));
  for (guint i = 0; i < graph->n_operators; i++)
    {
      guint op = write_operator (file, &graph->operators[i], i);

      for (guint k = i; k == i || (i == 0 && k < graph->n_listed); k++)
        set_item (file, items, k, op);
    }
}

/* Buffer 0 is empty; tensor i has buffer i + 1. */
static void
write_buffers (GByteArray *file, guint model, const TfliteGraph *graph)
{
  guint items = set_tables (file, model, 4, graph->n_tensors + 1);

  for (guint i = 0; i <= graph->n_tensors; i++)
    {
      const TfliteTensor *tensor = i == 0 ? NULL : &graph->tensors[i - 1];
      guint table = append_table (file, 3);

      set_item (file, items, i, table);
      if (tensor != NULL && tensor->data != NULL)
        set_vector (file, table, 0, tensor->data, tensor->n_bytes, 1);
    }
}

GBytes *
tflite_file_new (const TfliteGraph *graph)
{
  GByteArray *file = g_byte_array_new ();
  guint model, codes;
  guint32 at;

  append (file, (guint8[]){ 0, 0, 0, 0, 'T', 'F', 'L', '3' }, 8, 1);
  model = append_table (file, 5);
  at = model;
  memcpy (file->data, &at, 4);
  set_int (file, model, 0, 3, 4);
  codes = set_tables (file, model, 1, graph->n_operators);
  for (guint i = 0; i < graph->n_operators; i++)
    {
      guint code = append_table (file, 4);

      set_item (file, codes, i, code);
      set_int (file, code, 0, MIN (graph->operators[i].code, 127), 1);
      set_int (file, code, 3, graph->operators[i].code, 4);
      set_string (file, code, 1, graph->operators[i].custom);
    }
  write_subgraph (file, model, graph);
  set_string (file, model, 3, "test");
  write_buffers (file, model, graph);
  return g_byte_array_free_to_bytes (file);
}

/* Examples. */

#define N(array) ((guint) (sizeof (array) / sizeof (*(array))))

/* PAD and CONV_2D with RELU6, MAX_POOL_2D, FULLY_CONNECTED, SOFTMAX. */
static GBytes *
floats_example (void)
{
  static const float w[2 * 3 * 3 * 2] = { 0.5f, -1, 0.25f }, b[2] = { 1, 2 }, f[3 * 8] = { 1, 2 };
  static const gint32 pads[8] = { 0, 0, 1, 1, 1, 1, 0, 0 };
  static const TfliteTensor tensors[] = {
    { .name = "x", .shape = "1x4x4x2" },
    { .name = "pads", .type = TFLITE_INT32, .shape = "4x2", .data = pads, .n_bytes = 32 },
    { .name = "padded", .shape = "1x6x6x2" },
    { .name = "w", .shape = "2x3x3x2", .data = w, .n_bytes = sizeof (w) },
    { .name = "b", .shape = "2", .data = b, .n_bytes = sizeof (b) },
    { .name = "conv", .shape = "1x4x4x2" },
    { .name = "pool", .shape = "1x2x2x2" },
    { .name = "f", .shape = "3x8", .data = f, .n_bytes = sizeof (f) },
    { .name = "dense", .shape = "1x3" },
    { .name = "y", .shape = "1x3" },
  };
  static const TfliteOperator operators[] = {
    { 34, NULL, { 0, 1 }, 2, { 2 }, 1, 0, { { 0 } } },
    { 3,
      NULL,
      { 2, 3, 4 },
      3,
      { 5 },
      1,
      1,
      { { 0, 'b', 1 }, { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'b', 3 } } },
    { 17,
      NULL,
      { 5 },
      1,
      { 6 },
      1,
      5,
      { { 1, 'i', 2 }, { 2, 'i', 2 }, { 3, 'i', 2 }, { 4, 'i', 2 } } },
    { 9, NULL, { 6, 7, -1 }, 3, { 8 }, 1, 8, { { 0 } } },
    { 25, NULL, { 8 }, 1, { 9 }, 1, 9, { { 0, 'f', 1 } } },
  };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 9 }, 1, 0
  };

  return tflite_file_new (&graph);
}

/* DEPTHWISE_CONV_2D, ADD, MEAN, FULLY_CONNECTED and SOFTMAX on int8, and a QUANTIZE. */
static GBytes *
integers_example (void)
{
  static const gint8 w[3 * 3 * 2] = { 12, -7, 100, 5, -128, 127 }, f[2 * 2] = { 3, -4, 5, 6 };
  static const gint32 b[2] = { 100, -200 }, axes[2] = { 1, 2 };
  static const float one[1] = { 0.05f }, two[2] = { 0.002f, 0.003f }, fine[1] = { 0.01f };
  static const float unit[1] = { 1.0f / 256 };
#define QUANTIZED(s, z) .type = TFLITE_INT8, .scales = s, .n_scales = 1, .zero = z
  static const TfliteTensor tensors[] = {
    { .name = "x", .shape = "1x4x4x2" },
    { .name = "q", .shape = "1x4x4x2", QUANTIZED (one, 3) },
    { .name = "w",
      .shape = "1x3x3x2",
      .type = TFLITE_INT8,
      .data = w,
      .n_bytes = sizeof (w),
      .scales = two,
      .n_scales = 2,
      .axis = 3 },
    { .name = "b", .shape = "2", .type = TFLITE_INT32, .data = b, .n_bytes = sizeof (b) },
    { .name = "conv", .shape = "1x4x4x2", QUANTIZED (fine, -4) },
    { .name = "sum", .shape = "1x4x4x2", QUANTIZED (one, 5) },
    { .name = "axes", .shape = "2", .type = TFLITE_INT32, .data = axes, .n_bytes = sizeof (axes) },
    { .name = "mean", .shape = "1x2", QUANTIZED (fine, 0) },
    { .name = "f", .shape = "2x2", .data = f, .n_bytes = sizeof (f), QUANTIZED (fine, 0) },
    { .name = "dense", .shape = "1x2", QUANTIZED (fine, 1) },
    { .name = "y", .shape = "1x2", QUANTIZED (unit, -128) },
  };
#undef QUANTIZED
  static const TfliteOperator operators[] = {
    { 114, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } },
    { 4,
      NULL,
      { 1, 2, 3 },
      3,
      { 4 },
      1,
      2,
      { { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'i', 1 }, { 4, 'b', 1 } } },
    { 0, NULL, { 1, 4 }, 2, { 5 }, 1, 11, { { 0 } } },
    { 40, NULL, { 5, 6 }, 2, { 7 }, 1, 27, { { 0 } } },
    { 9, NULL, { 7, 8 }, 2, { 9 }, 1, 8, { { 0 } } },
    { 25, NULL, { 9 }, 1, { 10 }, 1, 9, { { 0, 'f', 1 } } },
  };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 10 }, 1, 0
  };

  return tflite_file_new (&graph);
}

/* SHAPE, STRIDED_SLICE, PACK and RESHAPE that folds, TRANSPOSE, CONCATENATION, and a DEQUANTIZE of
 * float16. */
static GBytes *
moves_example (void)
{
  static const gint32 zero[1] = { 0 }, one[1] = { 1 }, rest[1] = { 6 }, perm[2] = { 1, 0 };
  static const guint16 half[6] = { 0x3c00, 0x4000 };
  static const TfliteTensor tensors[] = {
    { .name = "x", .shape = "2x3x2" },
    { .name = "shape", .type = TFLITE_INT32, .shape = "3" },
    { .name = "zero", .type = TFLITE_INT32, .shape = "1", .data = zero, .n_bytes = 4 },
    { .name = "one", .type = TFLITE_INT32, .shape = "1", .data = one, .n_bytes = 4 },
    { .name = "n", .type = TFLITE_INT32, .shape = "" },
    { .name = "rest", .type = TFLITE_INT32, .shape = "", .data = rest, .n_bytes = 4 },
    { .name = "to", .type = TFLITE_INT32, .shape = "2" },
    { .name = "flat", .shape = "2x6" },
    { .name = "perm", .type = TFLITE_INT32, .shape = "2", .data = perm, .n_bytes = 8 },
    { .name = "turned", .shape = "6x2" },
    { .name = "half", .type = TFLITE_FLOAT16, .shape = "6x1", .data = half, .n_bytes = 12 },
    { .name = "float", .shape = "6x1" },
    { .name = "y", .shape = "6x3" },
  };
  static const TfliteOperator operators[] = {
    { 77, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } },
    { 45, NULL, { 1, 2, 3, 3 }, 4, { 4 }, 1, 32, { { 4, 'i', 1 } } },
    { 83, NULL, { 4, 5 }, 2, { 6 }, 1, 59, { { 0, 'i', 2 }, { 1, 'i', 0 } } },
    { 22, NULL, { 0, 6 }, 2, { 7 }, 1, 0, { { 0 } } },
    { 39, NULL, { 7, 8 }, 2, { 9 }, 1, 0, { { 0 } } },
    { 6, NULL, { 10 }, 1, { 11 }, 1, 0, { { 0 } } },
    { 2, NULL, { 9, 11 }, 2, { 12 }, 1, 10, { { 0, 'i', 1 } } },
  };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 12 }, 1, 0
  };

  return tflite_file_new (&graph);
}

/* SVDF, an LSTM with a state of its own, PRELU, RESIZE_BILINEAR and BATCH_MATMUL on int8. */
static GBytes *
states_example (void)
{
  static const gint8 w[6 * 6] = { 1, -2, 3 };
  static const gint32 b[6] = { 7, -9, 11 }, size[2] = { 4, 6 }, image[4] = { 1, 2, 3, 1 };
  static const float scale = 0.05f, cell = 0x1p-11f, wide = 0.5f;
#define VALUE(text) .name = text, .type = TFLITE_INT8, .scales = &scale, .n_scales = 1
#define DATA(array) .data = array, .n_bytes = sizeof (array)
  static const TfliteTensor tensors[] = {
    { VALUE ("x"), .shape = "1x6" },
    { VALUE ("feature"), .shape = "6x6", DATA (w) },
    { VALUE ("time"), .shape = "6x6", DATA (w) },
    { .name = "b", .type = TFLITE_INT32, .shape = "6", DATA (b) },
    { VALUE ("memory"), .shape = "1x36", .zero = -3, .is_variable = TRUE },
    { VALUE ("u"), .shape = "1x6" },
    { VALUE ("steps"), .shape = "1x1x6" },
    { VALUE ("h"), .shape = "1x6", .zero = 5, .is_variable = TRUE },
    { .name = "c",
      .type = TFLITE_INT16,
      .shape = "1x6",
      .scales = &cell,
      .n_scales = 1,
      .is_variable = TRUE },
    { VALUE ("y"), .shape = "1x1x6", .zero = 5 },
    { .name = "image", .type = TFLITE_INT32, .shape = "4", DATA (image) },
    { VALUE ("picture"), .shape = "1x2x3x1", .zero = 5 },
    { .name = "size", .type = TFLITE_INT32, .shape = "2", .data = size, .n_bytes = 8 },
    { VALUE ("larger"), .shape = "1x4x6x1", .zero = 5 },
    { VALUE ("slope"), .shape = "1", .data = w, .n_bytes = 1 },
    { VALUE ("bent"), .shape = "1x4x6x1" },
    { .name = "products", .type = TFLITE_INT8, .shape = "1x4x6x6", .scales = &wide, .n_scales = 1 },
  };
#undef VALUE
#undef DATA
  static const TfliteOperator operators[] = {
    { 27, NULL, { 0, 1, 2, 3, 4 }, 5, { 5 }, 1, 1, { { 0, 'i', 1 } } },
    { 22, NULL, { 5 }, 1, { 6 }, 1, 0, { { 0 } } },
    { 44,
      NULL,
      { 6, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, 3, 3, 3, 3, -1, -1, 7, 8, -1, -1, -1, -1 },
      24,
      { 9 },
      1,
      1,
      { { 0, 'b', 4 } } },
    { 22, NULL, { 9, 10 }, 2, { 11 }, 1, 0, { { 0 } } },
    { 23, NULL, { 11, 12 }, 2, { 13 }, 1, 1, { { 3, 'b', 1 } } },
    { 54, NULL, { 13, 14 }, 2, { 15 }, 1, 0, { { 0 } } },
    { 126, NULL, { 15, 15 }, 2, { 16 }, 1, 1, { { 1, 'b', 1 } } },
  };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 16 }, 1, 0
  };

  return tflite_file_new (&graph);
}

GPtrArray *
tflite_file_examples (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

  g_ptr_array_add (files, floats_example ());
  g_ptr_array_add (files, integers_example ());
  g_ptr_array_add (files, moves_example ());
  g_ptr_array_add (files, states_example ());
  return files;
}
