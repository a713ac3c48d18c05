/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The table of the classes of random networks that `fit` supports. Makes the networks without
 * windows: matrices, attention, recurrent layers, joined blocks. A network is written as text and
 * then parsed. */

#include "fit-graphs.h"

#include "../../lib/ir/graph-private.h"
#include "fit-windows.h"
#include "graphs.h"
#include "random-graph.h"
#include "test.h"

/* Makes one to three residual layers on a batch of matrices. In each layer, a first product adds
 * columns, and a second product removes these columns. */
static CleaveGraph *
make_matrix (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GString) text = g_string_new (NULL);
  int rows = g_rand_int_range (rand, 24, 96), n = 8 * g_rand_int_range (rand, 1, 6);
  int batch = g_rand_int_range (rand, 1, 3), wide = n * g_rand_int_range (rand, 2, 5);
  guint n_layers = (guint) g_rand_int_range (rand, 1, 4);

  g_string_append_printf (text, "%%v0 = Input : float32 %dx%dx%d\n", batch, rows, n);
  for (guint i = 0; i < n_layers; i++)
    g_string_append_printf (
        text,
        "%%g%u = Constant seed=%u : float32 %d\n"
        "%%l%u = LayerNormalization %%v%u, %%g%u epsilon=0.001\n"
        "%%w%u = Constant seed=%u : float32 %dx%d\n%%a%u = MatMul %%l%u, %%w%u\n"
        "%%r%u = Relu %%a%u\n%%u%u = Constant seed=%u : float32 %dx%d\n"
        "%%b%u = MatMul %%r%u, %%u%u\n%%v%u = Add %%v%u, %%b%u\n",
        i, i, n, i, i, i, i, 2 * i + 7, n, wide, i, i, i, i, i, i, 2 * i + 8, wide, n, i, i, i,
        i + 1, i, i);
  g_string_append_printf (text, "output %%v%u\n", n_layers);
  return fit_parse (text);
}

/* Prints an attention, softmax (q k) v, with several heads, and the sum of its result and its
 * input. */
static void
print_attention (GString *text, guint i, int rows, int heads, int n)
{
  static const char *const parts[] = { "q", "k", "v" };

  for (guint p = 0; p < G_N_ELEMENTS (parts); p++)
    g_string_append_printf (text,
                            "%%w%s%u = Constant seed=%u : float32 %dx%d\n"
                            "%%a%s%u = MatMul %%x%u, %%w%s%u\n"
                            "%%b%s%u = Reshape %%a%s%u shape=1,%d,%d,%d\n"
                            "%%%s%u = Transpose %%b%s%u perm=%s\n",
                            parts[p], i, 3 * i + p, heads * n, heads * n, parts[p], i, i, parts[p],
                            i, parts[p], i, parts[p], i, rows, heads, n, parts[p], i, parts[p], i,
                            p == 1 ? "0,2,3,1" : "0,2,1,3");
  g_string_append_printf (text,
                          "%%s%u = MatMul %%q%u, %%k%u\n%%p%u = Softmax %%s%u axis=-1\n"
                          "%%o%u = MatMul %%p%u, %%v%u\n%%t%u = Transpose %%o%u perm=0,2,1,3\n"
                          "%%f%u = Reshape %%t%u shape=1,%d,%d\n%%x%u = Add %%x%u, %%f%u\n",
                          i, i, i, i, i, i, i, i, i, i, i, i, rows, heads * n, i + 1, i, i);
}

static CleaveGraph *
make_attention (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GString) text = g_string_new (NULL);
  int rows = g_rand_int_range (rand, 24, 80), heads = g_rand_int_range (rand, 1, 5);
  int n = 4 * g_rand_int_range (rand, 1, 4);
  guint n_layers = (guint) g_rand_int_range (rand, 1, 3);

  g_string_append_printf (text, "%%x0 = Input : float32 1x%dx%d\n", rows, heads * n);
  for (guint i = 0; i < n_layers; i++)
    print_attention (text, i, rows, heads, n);
  g_string_append_printf (text, "output %%x%u\n", n_layers);
  return fit_parse (text);
}

/* Makes recurrent layers, each followed by a product of the states of all time steps and a constant
 * matrix. */
static CleaveGraph *
make_recurrent (guint32 seed)
{
  static const struct
  {
    const char *op;
    int n_gates;
  } kinds[] = { { "GRU", 3 }, { "LSTM", 4 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GString) text = g_string_new (NULL);
  guint kind = (guint) g_rand_int_range (rand, 0, 2),
        n_layers = (guint) g_rand_int_range (rand, 1, 3);
  int steps = g_rand_int_range (rand, 24, 80), n = g_rand_int_range (rand, 4, 12);
  int hidden = g_rand_int_range (rand, 32, 65), rows = kinds[kind].n_gates * hidden;

  g_string_append_printf (text, "%%x0 = Input : float32 %dx1x%d\n", steps, n);
  for (guint i = 0; i < n_layers; i++)
    {
      g_string_append_printf (text,
                              "%%w%u = Constant seed=%u : float32 1x%dx%d\n"
                              "%%u%u = Constant seed=%u : float32 1x%dx%d\n%%y%u, %%h%u",
                              i, 3 * i, rows, n, i, 3 * i + 1, rows, hidden, i, i);
      if (kind == 1)
        g_string_append_printf (text, ", %%c%u", i);
      g_string_append_printf (text,
                              " = %s %%x%u, %%w%u, %%u%u hidden_size=%d\n"
                              "%%s%u = Squeeze %%y%u axes=1\n"
                              "%%p%u = Constant seed=%u : float32 %dx%d\n"
                              "%%m%u = MatMul %%s%u, %%p%u\n%%x%u = Relu %%m%u\n",
                              kinds[kind].op, i, i, i, hidden, i, i, i, 3 * i + 2, hidden, n, i, i,
                              i, i + 1, i);
    }
  g_string_append_printf (text, "output %%x%u\n", n_layers);
  return fit_parse (text);
}

/* Makes residual blocks whose sums are joined: each sum is read by a convolution, by the next sum,
 * and by the Concat. */
static CleaveGraph *
make_joined_blocks (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GString) text = g_string_new (NULL);
  int extent = g_rand_int_range (rand, 8, 12), n = g_rand_int_range (rand, 3, 9);
  guint n_sums = (guint) g_rand_int_range (rand, 2, 4);

  g_string_append_printf (text,
                          "%%x = Input : float32 1x3x%dx%d\n"
                          "%%w = Constant seed=1 : float32 %dx3x3x3\n"
                          "%%s0 = Conv %%x, %%w pads=1,1,1,1\n",
                          extent, extent, n);
  for (guint i = 0; i < n_sums; i++)
    g_string_append_printf (text,
                            "%%w%u = Constant seed=%u : float32 %dx%dx3x3\n"
                            "%%a%u = Conv %%s%u, %%w%u pads=1,1,1,1\n%%r%u = Relu %%a%u\n"
                            "%%b%u = Conv %%r%u, %%w%u pads=1,1,1,1\n%%s%u = Add %%s%u, %%b%u\n",
                            i, i + 2, n, n, i, i, i, i, i, i, i, i, i + 1, i, i);
  g_string_append (text, "%j = Concat %s0");
  for (guint i = 1; i <= n_sums; i++)
    g_string_append_printf (text, ", %%s%u", i);
  g_string_append_printf (text,
                          " axis=1\n%%v = Constant seed=9 : float32 2x%dx1x1\n"
                          "%%y = Conv %%j, %%v\noutput %%y\n",
                          n * ((int) n_sums + 1));
  return fit_parse (text);
}

static CleaveGraph *
make_random_images (guint32 seed)
{
  return cleave_random_graph (seed, 12);
}

static CleaveGraph *
make_random_graph (guint32 seed)
{
  return random_graph (seed, 14);
}

const FitClass fit_classes[] = {
  { "image", fit_make_image },
  { "nhwc", fit_make_nhwc },
  { "bytes", fit_make_bytes },
  { "sequence", fit_make_sequence },
  { "flat-sequence", fit_make_flat_sequence },
  { "volume", fit_make_volume },
  { "matrix", make_matrix },
  { "attention", make_attention },
  { "recurrent", make_recurrent },
  { "joined-blocks", make_joined_blocks },
  { "random-images", make_random_images },
  { "random-graph", make_random_graph },
  { NULL, NULL },
};

/* Sets a private field of the graph to leave out inputs, since no public function can. */
gint64
fit_measure (const CleaveGraph *graph, guint n_threads, gboolean inputs_excluded)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (GError) error = NULL;
  CleaveEstimate estimate;

  copy->exclude_inputs = inputs_excluded;
  if (!cleave_graph_estimate (copy, n_threads, &estimate, &error))
    ck_abort_msg ("%s", error->message);
  return estimate.arena_bytes;
}

CleaveGraph *
fit_through_file (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  CleaveGraph *again = bytes == NULL ? NULL : cleave_onnx_parse (bytes, NULL, NULL, &error);

  if (again == NULL)
    ck_abort_msg ("%s", error->message);
  return again;
}
