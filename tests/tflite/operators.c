/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Operators on floats, and on integers without a scale. Each operator reads a few numbers. The
 * results are compared with numbers of the specification. */

#include "run-help.h"
#include "tflite-file.h"

#define N(array) ((guint) G_N_ELEMENTS (array))
#define MAX_ELEMENTS 16

typedef struct
{
  gint type; /* TensorType of the schema */
  const char *shape;
  double values[MAX_ELEMENTS];
} Value;

typedef struct
{
  const char *name;
  gint code;
  guint n_inputs;
  Value inputs[4]; /* input 0 is an input of the model, the other inputs are constants */
  Value y;
  TfliteOption options[5];
} Case;

enum { F32 = TFLITE_FLOAT32, I32 = TFLITE_INT32, BOOL = TFLITE_BOOL };

#define B(field, value)                                                                            \
  {                                                                                                \
    field, 'b', value                                                                              \
  }
#define I(field, value)                                                                            \
  {                                                                                                \
    field, 'i', value                                                                              \
  }
#define F(field, value)                                                                            \
  {                                                                                                \
    field, 'f', value                                                                              \
  }

static const Case cases[] = {
  { "EMBEDDING_LOOKUP",
    7,
    2,
    { { I32, "2", { 2, 0 } }, { F32, "3x2", { 1, 2, 3, 4, 5, 6 } } },
    { F32, "2x2", { 5, 6, 1, 2 } },
    { { 0 } } },
  { "L2_POOL_2D",
    12,
    1,
    { { F32, "1x2x2x1", { 1, 2, 4, 2 } } },
    { F32, "1x1x1x1", { 2.5 } }, /* 2.5 is the root of (1 + 4 + 16 + 4) / 4 */
    { B (0, 1), I (1, 1), I (2, 1), I (3, 2), I (4, 2) } },
  { "LOCAL_RESPONSE_NORMALIZATION",
    13,
    1,
    { { F32, "1x1x1x3", { 1, 2, 3 } } },
    { F32, "1x1x1x3", { 1 / 3.5, 2.0 / 8, 3 / 7.5 } }, /* 1 + (1 + 4) / 2, 1 + 14 / 2, … */
    { I (0, 1), F (1, 1), F (2, 0.5), F (3, 1) } },
  { "ONE_HOT, an axis in front, indices out of range",
    85,
    4,
    { { I32, "4", { 1, -1, 0, 2 } }, { I32, "", { 2 } }, { F32, "", { 9 } }, { F32, "", { 5 } } },
    { F32, "2x4", { 5, 5, 9, 5, 9, 5, 5, 5 } },
    { I (0, 0) } },
  { "ONE_HOT, the last axis",
    85,
    4,
    { { I32, "2", { 1, 0 } }, { I32, "", { 3 } }, { F32, "", { 1 } }, { F32, "", { 0 } } },
    { F32, "2x3", { 0, 1, 0, 1, 0, 0 } },
    { I (0, -1) } },
  { "FLOOR_DIV of floats",
    90,
    2,
    { { F32, "4", { 7, -7, 7, -7 } }, { F32, "4", { 2, 2, -2, -2 } } },
    { F32, "4", { 3, -4, -4, 3 } },
    { { 0 } } },
  { "FLOOR_DIV of integers",
    90,
    2,
    { { I32, "5", { 7, -7, 7, -7, -6 } }, { I32, "5", { 2, 2, -2, -2, 2 } } },
    { I32, "5", { 3, -4, -4, 3, -3 } },
    { { 0 } } },
  { "ZEROS_LIKE", 93, 1, { { F32, "2", { 7, -7 } } }, { F32, "2", { 0, 0 } }, { { 0 } } },
  { "FLOOR_MOD of floats",
    95,
    2,
    { { F32, "5", { 7.5, -7.5, 7.5, -7.5, 4 } }, { F32, "5", { 2, 2, -2, -2, -2 } } },
    { F32, "5", { 1.5, 0.5, -0.5, -1.5, 0 } },
    { { 0 } } },
  { "FLOOR_MOD of integers",
    95,
    2,
    { { I32, "4", { 7, -7, 7, -7 } }, { I32, "4", { 3, 3, -3, -3 } } },
    { I32, "4", { 1, 2, -2, -1 } },
    { { 0 } } },
  { "REVERSE_V2 of two dimensions",
    105,
    2,
    { { F32, "2x3", { 1, 2, 3, 4, 5, 6 } }, { I32, "2", { 0, 1 } } },
    { F32, "2x3", { 6, 5, 4, 3, 2, 1 } },
    { { 0 } } },
  { "ADD_N",
    106,
    3,
    { { F32, "2", { 1, 2 } }, { F32, "2", { 10, 20 } }, { F32, "2", { 100, 200 } } },
    { F32, "2", { 111, 222 } },
    { { 0 } } },
  { "GATHER_ND",
    107,
    2,
    { { F32, "2x3", { 1, 2, 3, 4, 5, 6 } }, { I32, "2x2", { 1, 2, 0, 1 } } },
    { F32, "2", { 6, 2 } },
    { { 0 } } },
  { "RANK", 110, 1, { { F32, "2x1x2", { 1, 2, 3, 4 } } }, { I32, "", { 3 } }, { { 0 } } },
  { "REVERSE_SEQUENCE",
    112,
    2,
    { { F32, "2x3", { 1, 2, 3, 4, 5, 6 } }, { I32, "2", { 2, 3 } } },
    { F32, "2x3", { 2, 1, 3, 6, 5, 4 } },
    { I (0, 1), I (1, 0) } },
  { "SCATTER_ND adds up the updates of one place",
    122,
    3,
    { { I32, "3x1", { 2, 0, 2 } }, { F32, "3", { 5, 7, 1 } }, { I32, "1", { 4 } } },
    { F32, "4", { 7, 0, 6, 0 } },
    { { 0 } } },
  { "SEGMENT_SUM, with a segment that has no rows",
    125,
    2,
    { { F32, "4x2", { 1, 2, 3, 4, 5, 6, 7, 8 } }, { I32, "4", { 0, 0, 2, 2 } } },
    { F32, "3x2", { 4, 6, 0, 0, 12, 14 } },
    { { 0 } } },
  { "DYNAMIC_UPDATE_SLICE in the middle",
    151,
    3,
    { { F32, "3x4", { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
      { F32, "1x2", { -1, -2 } },
      { I32, "2", { 1, 1 } } },
    { F32, "3x4", { 1, 2, 3, 4, 5, -1, -2, 8, 9, 10, 11, 12 } },
    { { 0 } } },
  { "DYNAMIC_UPDATE_SLICE at a place beyond the end, which is moved inside",
    151,
    3,
    { { F32, "2x3", { 1, 2, 3, 4, 5, 6 } }, { F32, "2x1", { -1, -2 } }, { I32, "2", { -7, 9 } } },
    { F32, "2x3", { 1, 2, -1, 4, 5, -2 } },
    { { 0 } } },
  { "CONV_3D with SAME padding and a bias: stride 2 along W, and 1 along D and H",
    132,
    3,
    { { F32, "1x2x1x3x1", { 1, 2, 3, 4, 5, 6 } },
      { F32, "2x1x1x1x2", { 1, 10, 2, 20 } },
      { F32, "2", { 0.5, -0.5 } } },
    { F32, "1x2x1x2x2", { 9.5, 89.5, 15.5, 149.5, 4.5, 39.5, 6.5, 59.5 } },
    { B (0, 0), I (1, 1), I (2, 2), I (3, 1) } },
  { "CONV_3D_TRANSPOSE with VALID padding and a bias: stride 2 along W",
    141,
    4,
    { { I32, "5", { 1, 1, 1, 5, 1 } },
      { F32, "1x1x3x1x1", { 1, 2, 3 } },
      { F32, "1x1x1x2x1", { 1, 10 } },
      { F32, "1", { 0.5 } } },
    { F32, "1x1x1x5x1", { 1.5, 2.5, 13.5, 20.5, 30.5 } },
    { B (0, 1), I (1, 1), I (2, 2), I (3, 1) } },
  { "CONV_3D_TRANSPOSE with SAME padding: stride 2 along D, and two channels of the result",
    141,
    3,
    { { I32, "5", { 1, 4, 1, 1, 2 } },
      { F32, "3x1x1x2x1", { 1, -1, 2, -2, 3, -3 } },
      { F32, "1x2x1x1x1", { 1, 10 } } },
    { F32, "1x4x1x1x2", { 1, -1, 2, -2, 13, -13, 20, -20 } },
    { B (0, 0), I (1, 2), I (2, 1), I (3, 1) } },
  { "CUMSUM, exclusive and in reverse",
    128,
    2,
    { { F32, "2x3", { 1, 2, 3, 4, 5, 6 } }, { I32, "", { 1 } } },
    { F32, "2x3", { 5, 3, 0, 11, 6, 0 } },
    { B (0, 1), B (1, 1) } },
  { "STRIDED_SLICE with an ellipsis: x [..., 1]",
    45,
    4,
    { { F32, "2x3", { 1, 2, 3, 4, 5, 6 } },
      { I32, "2", { 0, 1 } },
      { I32, "2", { 0, 2 } },
      { I32, "2", { 1, 1 } } },
    { F32, "2", { 2, 5 } },
    { I (2, 1), I (4, 2) } },
  { "STRIDED_SLICE with an ellipsis behind: x [1, ...]",
    45,
    4,
    { { F32, "2x3", { 1, 2, 3, 4, 5, 6 } },
      { I32, "2", { 1, 0 } },
      { I32, "2", { 2, 0 } },
      { I32, "2", { 1, 1 } } },
    { F32, "3", { 4, 5, 6 } },
    { I (2, 2), I (4, 1) } },
  { "STRIDED_SLICE with a new dimension: x [:, new, 2:0:-1]",
    45,
    4,
    { { F32, "2x3", { 1, 2, 3, 4, 5, 6 } },
      { I32, "3", { 0, 0, 2 } },
      { I32, "3", { 0, 0, 0 } },
      { I32, "3", { 1, 1, -1 } } },
    { F32, "2x1x2", { 3, 2, 6, 5 } },
    { I (0, 1), I (1, 1), I (3, 2) } },
  { "STRIDED_SLICE whose ends count from the begins",
    45,
    4,
    { { F32, "5", { 1, 2, 3, 4, 5 } },
      { I32, "1", { -4 } },
      { I32, "1", { 2 } },
      { I32, "1", { 1 } } },
    { F32, "2", { 2, 3 } },
    { B (5, 1) } },
  { "GATHER with a batch",
    36,
    2,
    { { F32, "2x3", { 1, 2, 3, 4, 5, 6 } }, { I32, "2x2", { 2, 0, 1, 1 } } },
    { F32, "2x2", { 3, 1, 5, 5 } },
    { I (0, 1), I (1, 1) } },
  { "SELECT by a vector",
    64,
    3,
    { { BOOL, "2", { 0, 1 } }, { F32, "2x2", { 1, 2, 3, 4 } }, { F32, "2x2", { 5, 6, 7, 8 } } },
    { F32, "2x2", { 5, 6, 3, 4 } },
    { { 0 } } },
  { "SPACE_TO_BATCH_ND of 3 dimensions",
    38,
    3,
    { { F32, "1x3x2", { 1, 2, 3, 4, 5, 6 } }, { I32, "1", { 2 } }, { I32, "1x2", { 0, 1 } } },
    { F32, "2x2x2", { 1, 2, 5, 6, 3, 4, 0, 0 } },
    { { 0 } } },
  { "BATCH_TO_SPACE_ND of 3 dimensions",
    37,
    3,
    { { F32, "2x2x2", { 1, 2, 5, 6, 3, 4, 0, 0 } }, { I32, "1", { 2 } }, { I32, "1x2", { 0, 1 } } },
    { F32, "1x3x2", { 1, 2, 3, 4, 5, 6 } },
    { { 0 } } },
  { "MIRROR_PAD, symmetric",
    100,
    2,
    { { F32, "1x3", { 1, 2, 3 } }, { I32, "2x2", { 0, 1, 2, 3 } } },
    { F32, "2x8", { 2, 1, 1, 2, 3, 3, 2, 1, 2, 1, 1, 2, 3, 3, 2, 1 } },
    { B (0, 1) } },
};

/* Returns the bytes of `n` numbers in the element type of `value`. */
static GBytes *
pack (const Value *value, guint n)
{
  float floats[MAX_ELEMENTS];
  gint32 integers[MAX_ELEMENTS];
  guint8 bools[MAX_ELEMENTS];

  for (guint i = 0; i < n; i++)
    {
      bools[i] = value->values[i] != 0;
      floats[i] = (float) value->values[i];
      integers[i] = (gint32) value->values[i];
    }
  return value->type == I32    ? g_bytes_new (integers, 4 * n)
         : value->type == BOOL ? g_bytes_new (bools, n)
                               : g_bytes_new (floats, 4 * n);
}

static CleaveShape
shape_of (const Value *value)
{
  g_auto (GStrv) dims = g_strsplit (value->shape, "x", -1);
  CleaveShape shape = { 0 };

  for (; dims[shape.rank] != NULL; shape.rank++)
    shape.dim[shape.rank] = g_ascii_strtoll (dims[shape.rank], NULL, 10);
  return shape;
}

static guint
n_elements (const Value *value)
{
  CleaveShape shape = shape_of (value);

  return (guint) cleave_shape_n_elements (&shape);
}

/* Writes the file of a case and reads it. */
static CleaveGraph *
read_case (const Case *c, GBytes *const *data)
{
  TfliteTensor tensors[5] = { 0 };
  TfliteOperator op = { c->code, NULL, { 0, 1, 2, 3 }, (gint) c->n_inputs, { 4 }, 1, 1, { { 0 } } };
  TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 4 }, 1, 0 };
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;
  CleaveGraph *graph;

  memcpy (op.options, c->options, sizeof (c->options));
  for (guint i = 0; i < 5; i++)
    {
      const Value *value = i == 4 ? &c->y : &c->inputs[i];

      tensors[i].type = value->type;
      tensors[i].shape = value->shape == NULL ? "" : value->shape;
      if (i > 0 && i < c->n_inputs)
        {
          tensors[i].data = g_bytes_get_data (data[i], NULL);
          tensors[i].n_bytes = (guint) g_bytes_get_size (data[i]);
        }
    }
  bytes = tflite_file_new (&file);
  graph = cleave_tflite_parse (bytes, &error);
  ck_assert_msg (graph != NULL, "%s: %s", c->name, error == NULL ? "" : error->message);
  return graph;
}

static void
check_case (const Case *c)
{
  GBytes *data[4] = { NULL };
  CleaveTensorType x = { c->inputs[0].type == I32    ? CLEAVE_INT32
                         : c->inputs[0].type == BOOL ? CLEAVE_BOOL
                                                     : CLEAVE_FLOAT32,
                         shape_of (&c->inputs[0]) };
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveTensor) y = NULL;
  guint n = n_elements (&c->y);

  for (guint i = 0; i < c->n_inputs; i++)
    data[i] = pack (&c->inputs[i], n_elements (&c->inputs[i]));
  graph = read_case (c, data);
  g_ptr_array_add (inputs, cleave_tensor_new_from_bytes (&x, data[0], NULL));
  outputs = run_graph (graph, inputs, 1);
  y = cleave_tensor_dup_dense (outputs->pdata[0]);
  ck_assert_int_eq (cleave_shape_n_elements (&cleave_tensor_get_type (y)->shape), n);
  for (guint i = 0; i < n; i++)
    {
      double found = c->y.type == I32 ? ((const gint32 *) cleave_tensor_get_data (y))[i]
                                      : (double) ((const float *) cleave_tensor_get_data (y))[i];

      ck_assert_msg (ABS (found - c->y.values[i]) < 1e-6, "%s: element %u is %g, not %g", c->name,
                     i, found, c->y.values[i]);
    }
  for (guint i = 0; i < c->n_inputs; i++)
    g_bytes_unref (data[i]);
}

START_TEST (results_are_the_numbers_of_the_specification)
{
  for (guint i = 0; i < N (cases); i++)
    check_case (&cases[i]);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "values", results_are_the_numbers_of_the_specification, NULL);
}

CLEAVE_TEST_SUITE ("tflite-operators", add_tests)
