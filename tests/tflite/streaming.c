/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two networks that detect wake words, with convolutions along time on int8 and the same weights.
 * The stream reads three rows in each run, and variables keep the last rows of each operand for the
 * next run. The sequence network reads all rows at once, so it has no variables. Both must give the
 * same results.
 *
 *   stream    READ_VARIABLE ─┬─ CONCATENATION ─┬─ STRIDED_SLICE ── ASSIGN_VARIABLE
 *                        x ──┘                 └─ CONV_2D …
 *   sequence             x ──── PAD (zero point) ── CONV_2D … */

#include "exact.h"

#include <string.h>

enum { FEATURES = 40, FILTERS = 30, UNITS = 60, FIRST_ROWS = 5, STRIDE = 3, LAST_ROWS = 5 };
enum { N_BLOCKS = 4, RUNS = 40 };
enum { CONCATENATION = 2, CONV = 3, DEPTHWISE = 4, FULLY_CONNECTED = 9, LOGISTIC = 14 };
enum { RESHAPE = 22, PAD = 34, STRIDED_SLICE = 45, SPLIT = 49 };
enum { VAR_HANDLE = 142, READ_VARIABLE, ASSIGN_VARIABLE };

/* Number of taps along time of the depthwise convolutions of each block. Block 1 has two depthwise
 * convolutions, each of which reads half of the channels. */
static const gint block_rows[N_BLOCKS][2] = { { 5, 0 }, { 5, 9 }, { 13, 0 }, { 21, 0 } };

/* A TensorFlow Lite file that is being built. The tests build two networks with the same layers.
 * The stream reads three rows in each run. The sequence network reads all rows in one run. Both
 * networks draw the same random numbers, so they have the same weights. */
typedef struct
{
  TfliteTensor tensors[192];
  TfliteOperator operators[96];
  guint n_tensors, n_operators;
  GPtrArray *owned; /* texts and data of the tensors, to be freed */
  GRand *rand;
  gboolean is_stream;
} Net;

static gpointer
own (Net *net, gpointer data)
{
  g_ptr_array_add (net->owned, data);
  return data;
}

static gint
add_tensor (Net *net, TfliteTensor tensor, char *shape)
{
  tensor.shape = own (net, shape);
  tensor.name = own (net, g_strdup_printf ("t%u", net->n_tensors));
  net->tensors[net->n_tensors] = tensor;
  return (gint) net->n_tensors++;
}

/* Adds a tensor of activations of shape [1, rows, 1, channels]. */
static gint
add_value (Net *net, gint rows, gint channels, gint zero)
{
  static const float scale = 0.0625f;

  return add_tensor (
      net, (TfliteTensor){ .type = TFLITE_INT8, .scales = &scale, .n_scales = 1, .zero = zero },
      g_strdup_printf ("1x%dx1x%d", rows, channels));
}

static gint
add_numbers (Net *net, guint n, const gint32 *numbers, char *shape)
{
  return add_tensor (net,
                     (TfliteTensor){ .type = TFLITE_INT32,
                                     .data = own (net, g_memdup2 (numbers, n * sizeof (gint32))),
                                     .n_bytes = n * 4 },
                     shape);
}

/* Adds random weights with a scale that is a power of two. */
static gint
add_weights (Net *net, gint n, const float *scale, char *shape)
{
  gint8 *w = own (net, g_malloc ((gsize) n));

  for (gint i = 0; i < n; i++)
    w[i] = (gint8) g_rand_int_range (net->rand, -60, 61);
  return add_tensor (
      net,
      (TfliteTensor){
          .type = TFLITE_INT8, .data = w, .n_bytes = (guint) n, .scales = scale, .n_scales = 1 },
      shape);
}

static gint
add_bias (Net *net, gint n)
{
  g_autofree gint32 *b = g_new (gint32, (gsize) n);

  for (gint i = 0; i < n; i++)
    b[i] = g_rand_int_range (net->rand, -3000, 3000);
  return add_numbers (net, (guint) n, b, g_strdup_printf ("%d", n));
}

static TfliteOperator *
add_operator (Net *net, gint code, gint n_inputs, const gint *inputs, gint y)
{
  TfliteOperator *op = &net->operators[net->n_operators++];

  *op = (TfliteOperator){ .code = code, .n_inputs = n_inputs, .outputs = { y }, .n_outputs = 1 };
  memcpy (op->inputs, inputs, sizeof (gint) * (gsize) n_inputs);
  return op;
}
#define OPERATOR(net, code, y, ...)                                                                \
  add_operator (net, code, (gint) G_N_ELEMENTS (((gint[]){ __VA_ARGS__ })),                        \
                (gint[]){ __VA_ARGS__ }, y)

static void
set_options (TfliteOperator *op, gint type, guint n, const TfliteOption *options)
{
  op->options_type = type;
  memcpy (op->options, options, n * sizeof (TfliteOption));
}

/* Adds a STRIDED_SLICE of the rows from `first` on. */
static gint
add_rows (Net *net, gint x, gint rows, gint first, gint channels)
{
  gint begin = add_numbers (net, 4, (gint32[]){ 0, first, 0, 0 }, g_strdup ("4"));
  gint end = add_numbers (net, 4, (gint32[]){ 1, rows, 1, channels }, g_strdup ("4"));
  gint one = add_numbers (net, 4, (gint32[]){ 1, 1, 1, 1 }, g_strdup ("4"));
  gint y = add_value (net, rows - first, channels, (gint) net->tensors[x].zero);

  set_options (OPERATOR (net, STRIDED_SLICE, y, x, begin, end, one), 32, 0, NULL);
  return y;
}

static gint
add_join (Net *net, gint a, gint b, gint axis, gint rows, gint channels)
{
  gint y = add_value (net, rows, channels, (gint) net->tensors[a].zero);

  set_options (OPERATOR (net, CONCATENATION, y, a, b), 10, 1, &(TfliteOption){ 0, 'i', axis });
  return y;
}

/* Joins `before` earlier rows and the `rows` rows of x. In the streaming network, a variable has
 * the earlier rows. In the sequence network, the earlier rows are padding. */
static gint
add_history (Net *net, gint x, gint rows, gint channels, gint before)
{
  gint zero = (gint) net->tensors[x].zero, kept, handle, y;
  gint32 pads[8] = { 0, 0, before };
  TfliteOperator *op;

  if (!net->is_stream)
    {
      y = add_value (net, before + rows, channels, zero);
      OPERATOR (net, PAD, y, x, add_numbers (net, 8, pads, g_strdup ("4x2")));
      return y;
    }
  handle = add_tensor (net, (TfliteTensor){ .type = TFLITE_RESOURCE }, g_strdup ("0"));
  op = add_operator (net, VAR_HANDLE, 0, &handle, handle);
  op->custom = own (net, g_strdup_printf ("state%u", net->n_tensors));
  set_options (op, 111, 1, &(TfliteOption){ 1, 's', 0 });
  kept = add_value (net, before, channels, zero);
  OPERATOR (net, READ_VARIABLE, kept, handle);
  y = add_join (net, kept, x, 1, before + rows, channels);
  op = OPERATOR (net, ASSIGN_VARIABLE, 0, handle, add_rows (net, y, before + rows, rows, channels));
  op->n_outputs = 0;
  return y;
}

/* Adds a CONV_2D, or a DEPTHWISE_CONV_2D, of `rows` x 1 taps. */
static gint
add_conv (Net *net,
          gint x,
          gint taps,
          gint stride,
          gint y_rows,
          gint channels,
          gint units,
          const float *scale,
          gint zero)
{
  static const TfliteOption valid = { 0, 'b', 1 };
  gboolean is_depthwise = units == 0;
  gint n = is_depthwise ? channels : units;
  gint w = add_weights (net, taps * channels * (is_depthwise ? 1 : units), scale,
                        is_depthwise ? g_strdup_printf ("1x%dx1x%d", taps, channels)
                                     : g_strdup_printf ("%dx%dx1x%d", units, taps, channels));
  gint b = add_bias (net, n), y = add_value (net, y_rows, n, zero);
  TfliteOption options[] = { valid, { 1, 'i', 1 }, { 2, 'i', stride }, { 3, 'b', zero == -128 } };

  if (is_depthwise)
    options[3] = (TfliteOption){ 3, 'i', 1 };
  set_options (OPERATOR (net, is_depthwise ? DEPTHWISE : CONV, y, x, w, b), is_depthwise ? 2 : 1, 4,
               options);
  return y;
}

/* Adds the depthwise convolutions of a block. */
static gint
add_mixed (Net *net, gint x, const gint *taps, gint y_rows, gint channels)
{
  static const float scale = 0x1p-7f;
  gint rows = y_rows + MAX (taps[0], taps[1]) - 1, half = channels / 2, part[2];
  TfliteOperator *op;

  if (taps[1] == 0)
    return add_conv (net, x, taps[0], 1, y_rows, channels, 0, &scale, 5);
  part[0] = add_value (net, rows, half, -128);
  part[1] = add_value (net, rows, half, -128);
  op = OPERATOR (net, SPLIT, part[0], add_numbers (net, 1, (gint32[]){ 3 }, g_strdup ("")), x);
  op->outputs[op->n_outputs++] = part[1];
  set_options (op, 35, 1, &(TfliteOption){ 0, 'i', 2 });
  for (gint i = 0; i < 2; i++)
    {
      gint late = rows - (y_rows + taps[i] - 1);

      if (late > 0)
        part[i] = add_rows (net, part[i], rows, late, half);
      part[i] = add_conv (net, part[i], taps[i], 1, y_rows, half, 0, &scale, 5);
    }
  return add_join (net, part[0], part[1], 3, y_rows, channels);
}

/* Adds the last layers, which compute a number from 5 rows, for each of `y_rows` results. */
static gint
add_head (Net *net, gint x, gint y_rows)
{
  static const float w_scale = 0x1p-9f, y_scale = 0x1p-8f;
  gint n = LAST_ROWS * UNITS, flat, w, b, sum, y;
  gint32 shape[] = { 1, n };

  y = add_tensor (
      net, (TfliteTensor){ .type = TFLITE_INT8, .scales = &y_scale, .n_scales = 1, .zero = -128 },
      g_strdup_printf ("1x%dx1x1", y_rows));
  if (!net->is_stream)
    sum = add_conv (net, x, LAST_ROWS, 1, y_rows, UNITS, 1, &w_scale, 7);
  else
    {
      flat = add_value (net, 1, n, -128);
      net->tensors[flat].shape = own (net, g_strdup_printf ("1x%d", n));
      OPERATOR (net, RESHAPE, flat, x, add_numbers (net, 2, shape, g_strdup ("2")));
      w = add_weights (net, n, &w_scale, g_strdup_printf ("1x%d", n));
      b = add_bias (net, 1);
      sum = add_value (net, 1, 1, 7);
      net->tensors[sum].shape = net->tensors[y].shape = "1x1";
      OPERATOR (net, FULLY_CONNECTED, sum, flat, w, b)->options_type = 8;
    }
  OPERATOR (net, LOGISTIC, y, sum);
  return y;
}

/* Returns the network for an input of `runs` times STRIDE rows. */
static CleaveGraph *
new_network (gboolean is_stream, gint runs)
{
  static const float first_scale = 0x1p-9f, scale = 0x1p-8f;
  g_autoptr (GPtrArray) owned = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autofree Net *net = g_new0 (Net, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  TfliteGraph file = { .inputs = { 0 }, .n_inputs = 1, .n_outputs = 1 };
  CleaveGraph *graph;
  gint x, channels = FILTERS;

  net->owned = owned;
  net->rand = rand;
  net->is_stream = is_stream;
  x = add_value (net, STRIDE * runs, FEATURES, -11);
  x = add_history (net, x, STRIDE * runs, FEATURES, FIRST_ROWS - STRIDE);
  x = add_conv (net, x, FIRST_ROWS, STRIDE, runs, FEATURES, FILTERS, &first_scale, -128);
  for (guint i = 0; i < N_BLOCKS; i++, channels = UNITS)
    {
      x = add_history (net, x, runs, channels, MAX (block_rows[i][0], block_rows[i][1]) - 1);
      x = add_mixed (net, x, block_rows[i], runs, channels);
      x = add_conv (net, x, 1, 1, runs, channels, UNITS, &scale, -128);
    }
  x = add_history (net, x, runs, UNITS, LAST_ROWS - 1);
  file.outputs[0] = add_head (net, x, runs);
  file.tensors = net->tensors;
  file.n_tensors = net->n_tensors;
  file.operators = net->operators;
  file.n_operators = net->n_operators;
  bytes = tflite_file_new (&file);
  graph = cleave_tflite_parse (bytes, &error);
  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  return graph;
}

/* Returns the value of a variable before the first run: all elements are the zero point. */
static CleaveTensor *
first_state (const CleaveResult *input, gint zero)
{
  CleaveTensor *tensor = cleave_tensor_new (cleave_result_get_type (input), NULL);

  memset (cleave_tensor_get_mutable_data (tensor), zero,
          (gsize) cleave_shape_n_elements (&cleave_result_get_type (input)->shape));
  return tensor;
}

/* Replaces each input NAME by the output NAME_next. */
static void
feed_states (const CleaveGraph *graph, GPtrArray *inputs, const GPtrArray *outputs)
{
  for (guint i = 1; i < inputs->len; i++)
    for (guint j = 0; j < outputs->len; j++)
      {
        g_autofree char *next = g_strdup_printf (
            "%s_next",
            cleave_node_get_name (cleave_result_get_node (cleave_graph_get_input (graph, i))));

        if (g_str_equal (next, cleave_graph_get_output_name (graph, j)))
          {
            cleave_tensor_unref (inputs->pdata[i]);
            inputs->pdata[i] = cleave_tensor_ref (outputs->pdata[j]);
          }
      }
}

/* Run r of the stream has the bits of element r of the sequence. */
START_TEST (a_stream_has_the_bits_of_its_sequence)
{
  g_autoptr (CleaveGraph) stream = new_network (TRUE, 1), whole = new_network (FALSE, RUNS);
  g_autoptr (GPtrArray) all = run_random_inputs (whole, 44), inputs = tensors_new ();
  g_autoptr (GPtrArray) expected = run_graph (whole, all, 2);
  const gint8 *x = cleave_tensor_get_data (all->pdata[0]);
  const gint8 *y = cleave_tensor_get_data (expected->pdata[0]);
  gboolean differs = FALSE;

  ck_assert_uint_eq (cleave_graph_get_n_inputs (stream), 1 + 1 + N_BLOCKS + 1);
  g_ptr_array_add (inputs, NULL);
  for (guint i = 1; i < cleave_graph_get_n_inputs (stream); i++)
    {
      const CleaveResult *state = cleave_graph_get_input (stream, i);

      g_ptr_array_add (inputs,
                       first_state (state, cleave_result_get_type (state)->shape.dim[3] == FEATURES
                                               ? -11
                                               : -128));
    }
  for (gint run = 0; run < RUNS; run++)
    {
      g_autoptr (GPtrArray) outputs = NULL;
      const CleaveTensorType *type = cleave_result_get_type (cleave_graph_get_input (stream, 0));

      g_clear_pointer (&inputs->pdata[0], cleave_tensor_unref);
      inputs->pdata[0] = cleave_tensor_new_copy (type, x + run * STRIDE * FEATURES, NULL);
      outputs = run_graph (stream, inputs, 1 + (guint) run % 2);
      ck_assert_int_eq (*(const gint8 *) cleave_tensor_get_data (outputs->pdata[0]), y[run]);
      feed_states (stream, inputs, outputs);
      differs = differs || y[run] != y[0];
    }
  ck_assert (differs);
}
END_TEST

/* If the input is not in the arena, a bundle needs at most 4,008 bytes. These bytes contain the
 * states and the rows of the largest layer. */
START_TEST (a_stream_needs_little_memory)
{
  static const char *const options[] = { "input=apart", "state=all", NULL };
  g_autoptr (CleaveGraph) stream = new_network (TRUE, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveBundle) bundle = cleave_bundle_new_from_texts (stream, options, &error);
  CleaveBundleStats stats;

  ck_assert_msg (bundle != NULL, "%s", error == NULL ? "" : error->message);
  cleave_bundle_get_stats (bundle, &stats);
  ck_assert_int_le (stats.arena_bytes, 4008);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "streams", a_stream_has_the_bits_of_its_sequence,
                   a_stream_needs_little_memory, NULL);
}

CLEAVE_TEST_SUITE ("tflite streaming", add_tests)
