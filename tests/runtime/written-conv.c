/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions between dequantised and quantised bytes: the bits of the sums in floats, be they
 * made in whole numbers or not. */

#include "interpret.h"
#include "run-help.h"

#include <math.h>
#include <string.h>

typedef struct
{
  CleaveGraph *graph;
  GRand *rand;
  gboolean exact; /* scales are powers of two: sums lose nothing, and many lie on ties */
  int reach;      /* scales are about 2^-reach to 2^reach */
} Net;

static gint32
draw (Net *net, gint32 least, gint32 most)
{
  return g_rand_int_range (net->rand, least, most + 1);
}

static float
draw_scale (Net *net, int about)
{
  double mantissa = net->exact ? 1 : g_rand_double_range (net->rand, 1, 2);

  return (float) ldexp (mantissa,
                        about + (net->reach == 0 ? 0 : draw (net, -net->reach, net->reach)));
}

static CleaveResult *
add_floats (Net *net, gint64 n, int about)
{
  CleaveTensorType type = n == 1 ? CLEAVE_SCALAR (CLEAVE_FLOAT32) : CLEAVE_TYPE (CLEAVE_FLOAT32, n);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);
  float *data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < n; i++)
    data[i] = draw_scale (net, about);
  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

static CleaveResult *
add_bytes (Net *net, CleaveElement element, CleaveShape shape, gboolean is_middle)
{
  CleaveTensorType type = { element, shape };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);
  guint8 *data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < cleave_tensor_type_n_bytes (&type); i++)
    data[i] = is_middle ? (element == CLEAVE_UINT8 ? 128 : 0) : (guint8) draw (net, 0, 255);
  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

static CleaveResult *
convert (Net *net, const char *op, CleaveResult *x, CleaveResult *scale, CleaveResult *zero)
{
  CleaveAxisAttrs attrs = { 0 };
  CleaveResult *operands[] = { x, scale, zero };

  return run_add (net->graph, op, operands, 3, &attrs);
}

/* What is done to the sums. */
static CleaveResult *
add_bound (Net *net, CleaveResult *y, float scale)
{
  CleaveClipAttrs clip = { .min = -scale * (float) draw (net, 0, 90) / 2,
                           .max = scale * (float) draw (net, 0, 200) / 2 };

  switch (draw (net, 0, 3))
    {
    case 0:
      return run_unary (net->graph, "Relu", y);
    case 1:
      return run_add (net->graph, "Clip", &y, 1, &clip);
    case 2:
      return run_unary (net->graph, "Relu", run_add (net->graph, "Clip", &y, 1, &clip));
    default:
      return y;
    }
}

static CleaveElement
draw_byte (Net *net)
{
  return draw (net, 0, 1) ? CLEAVE_INT8 : CLEAVE_UINT8;
}

static void
make_net (Net *net, guint32 seed)
{
  gint64 group = draw (net, 0, 4) == 0 ? 2 : 1, kernel = draw (net, 0, 2) == 0 ? 3 : 1;
  gint64 n_in = draw (net, 1, 3) == 1 ? draw (net, 40, 300) : 4 * draw (net, 3, 40), n = n_in;
  gint64 n_out = group * draw (net, 9, 80), size = draw (net, 5, 9),
         pad = draw (net, 0, (gint32) (kernel / 2));
  CleaveElement x_element = draw_byte (net), w_element = draw_byte (net),
                y_element = draw_byte (net);
  CleaveTensorType type = { x_element, CLEAVE_SHAPE (1, group * n, size, size) };
  CleaveConvAttrs attrs = { .group = group, .pads = CLEAVE_INTS (pad, pad, pad, pad) };
  CleaveShape scalar = { 0 }, w_shape = CLEAVE_SHAPE (n_out, n, kernel, kernel);
  int spread = (int) lrint (log2 (sqrt ((double) (n * kernel * kernel)) * 100));
  CleaveResult *operands[3], *y, *y_scale = add_floats (net, 1, spread);

  attrs.strides = CLEAVE_INTS (draw (net, 1, 2), draw (net, 1, 2));
  attrs.dilations = CLEAVE_INTS (1, draw (net, 1, 2));
  operands[0] =
      convert (net, "DequantizeLinear", cleave_graph_add_input (net->graph, "x", &type, NULL),
               add_floats (net, 1, 0), add_bytes (net, x_element, scalar, draw (net, 0, 1)));
  operands[1] = convert (net, "DequantizeLinear", add_bytes (net, w_element, w_shape, FALSE),
                         add_floats (net, draw (net, 0, 1) ? n_out : 1, 0),
                         add_bytes (net, w_element, scalar, draw (net, 0, 5) > 0));
  operands[2] = add_floats (net, n_out, spread);
  y = run_add (net->graph, "Conv", operands, draw (net, 0, 1) ? 3 : 2, &attrs);
  y = add_bound (net, y, (float) ldexp (1, spread));
  y = convert (net, "QuantizeLinear", y, y_scale,
               add_bytes (net, y_element, scalar, draw (net, 0, 1)));
  run_output (net->graph, y);
  run_assert_same (net->graph, seed);
}

static void
try_nets (gboolean exact, int reach)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (60); seed++)
    {
      Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), exact, reach };

      make_net (&net, seed);
      cleave_graph_unref (net.graph);
      g_rand_free (net.rand);
    }
}

START_TEST (bits_are_those_of_floats) { try_nets (FALSE, 0); }
END_TEST

/* Each is in doubt. */
START_TEST (ties_are_those_of_floats) { try_nets (TRUE, 0); }
END_TEST

START_TEST (scales_may_be_of_any_size)
{
  try_nets (FALSE, 3);
  try_nets (FALSE, 40);
  try_nets (TRUE, 40);
}
END_TEST

#define N_WAVES 32

static CleaveResult *
add_data (Net *net, CleaveTensorType type, gconstpointer data)
{
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, data, NULL);

  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

/* Weights of one sign and then of the other, so many of each, and biases about half between two
 * bytes: what the sums lose on the way says which it is. */
static void
make_waves (Net *net, gint64 length, gint64 half)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT8, 1, length, 2, 2);
  g_autofree gint8 *w = g_new (gint8, (gsize) (N_WAVES * length));
  float b[N_WAVES], y_scale = draw_scale (net, 0);
  CleaveResult *operands[3], *y;
  CleaveShape scalar = { 0 };

  for (gint64 i = 0; i < N_WAVES * length; i++)
    w[i] = i / half % 2 == 0 ? 127 : -127;
  for (gint64 i = 0; i < N_WAVES; i++)
    b[i] = ((float) i + (i % 2 == 0 ? 0.49f : 0.51f)) * y_scale;
  operands[0] =
      convert (net, "DequantizeLinear", cleave_graph_add_input (net->graph, "x", &type, NULL),
               add_floats (net, 1, 0), add_bytes (net, CLEAVE_INT8, scalar, TRUE));
  operands[1] = convert (net, "DequantizeLinear",
                         add_data (net, CLEAVE_TYPE (CLEAVE_INT8, N_WAVES, length, 1, 1), w),
                         add_floats (net, N_WAVES, 0), add_bytes (net, CLEAVE_INT8, scalar, TRUE));
  operands[2] = add_data (net, CLEAVE_TYPE (CLEAVE_FLOAT32, N_WAVES), b);
  y = run_add (net->graph, "Conv", operands, 3, NULL);
  run_output (net->graph, convert (net, "QuantizeLinear", y,
                                   add_data (net, CLEAVE_SCALAR (CLEAVE_FLOAT32), &y_scale),
                                   add_bytes (net, CLEAVE_INT8, scalar, TRUE)));
}

/* x is the same everywhere. */
static void
try_waves (Net *net, gint8 x)
{
  const CleaveTensorType *type = cleave_result_get_type (cleave_graph_get_input (net->graph, 0));
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) want = NULL, got = NULL;
  CleaveTensor *tensor = cleave_tensor_new (type, NULL);
  gsize n_bytes;

  memset (cleave_tensor_get_mutable_data (tensor), x, (gsize) cleave_tensor_type_n_bytes (type));
  g_ptr_array_add (inputs, tensor);
  want = cleave_interpret (net->graph, (CleaveTensor *const *) inputs->pdata);
  got = run_graph (net->graph, inputs, 1);
  n_bytes = (gsize) cleave_tensor_type_n_bytes (cleave_tensor_get_type (want->pdata[0]));
  ck_assert_mem_eq (cleave_tensor_get_data (got->pdata[0]), cleave_tensor_get_data (want->pdata[0]),
                    n_bytes);
}

START_TEST (sums_may_rise_between_checkpoints)
{
  for (guint32 seed = 0; seed < 60; seed++)
    {
      Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), FALSE, 0 };

      make_waves (&net, 128 << seed % 4, 8 << seed / 4 % 4);
      try_waves (&net, (gint8) (127 - seed));
      cleave_graph_unref (net.graph);
      g_rand_free (net.rand);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "written-conv", bits_are_those_of_floats, ties_are_those_of_floats,
                   scales_may_be_of_any_size, sums_may_rise_between_checkpoints, NULL);
}

CLEAVE_TEST_SUITE ("written-conv", add_tests)
