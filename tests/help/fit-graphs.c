/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random networks of every class that `fit` supports, written as text. */

#include "fit-graphs.h"

#include <string.h>

#include "../../lib/ir/graph-private.h"
#include "graphs.h"
#include "random-graph.h"
#include "test.h"

#define MAX_SPATIAL 3
/* Constants that every network of 8-bit values reads. */
#define SCALES "%s = Constant value=0.05 : float32 scalar\n%z = Constant value=3 : int8 scalar\n"

/* A value with batch 1, channels, and up to three spatial dimensions. */
typedef struct
{
  guint id;
  gint64 channels, dim[MAX_SPATIAL];
} Value;

/* Properties of the values of a class of networks. */
typedef struct
{
  guint n;                                   /* number of spatial dimensions */
  gint64 min[MAX_SPATIAL], max[MAX_SPATIAL]; /* smallest and largest extents of the input */
  gint64 max_channels;
  gboolean is_nhwc, has_bytes, is_dilated, is_deep;
} Form;

typedef struct
{
  const Form *form;
  GString *text;
  GRand *rand;
  GArray *values; /* array of Value: all values so far */
  guint next;     /* number that the name of the next value contains */
} Net;

static gint64
draw (Net *net, gint64 min, gint64 max)
{
  return g_rand_int_range (net->rand, (gint32) min, (gint32) max + 1);
}

static const Value *
last (const Net *net)
{
  return &g_array_index (net->values, Value, net->values->len - 1);
}

static void
print_shape (Net *net, const Value *value)
{
  g_string_append_printf (net->text, " : %s 1", net->form->has_bytes ? "int8" : "float32");
  if (!net->form->is_nhwc)
    g_string_append_printf (net->text, "x%d", (int) value->channels);
  for (guint d = 0; d < net->form->n; d++)
    g_string_append_printf (net->text, "x%d", (int) value->dim[d]);
  if (net->form->is_nhwc)
    g_string_append_printf (net->text, "x%d", (int) value->channels);
  g_string_append_c (net->text, '\n');
}

static void
print_list (Net *net, const char *name, const gint64 *list, guint n)
{
  g_string_append_printf (net->text, " %s=", name);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (net->text, "%s%d", i == 0 ? "" : ",", (int) list[i]);
}

/* Prints the attributes of a convolution: strides, dilations and pads. If `pools`, prints the
 * attributes of a pooling instead: kernel, strides and pads. Returns the result of the node. */
static Value
print_window (
    Net *net, const Value *x, gint64 channels, gint64 kernel, gint64 stride, gboolean pools)
{
  gint64 dilation = net->form->is_dilated && !pools ? 1 << draw (net, 0, 3) : 1;
  gint64 kernels[MAX_SPATIAL], strides[MAX_SPATIAL], dilations[MAX_SPATIAL], pads[2 * MAX_SPATIAL];
  const guint n = net->form->n;
  Value y = { .id = net->next++, .channels = channels };

  for (guint d = 0; d < n; d++)
    {
      gboolean is_flat = x->dim[d] == 1;

      kernels[d] = is_flat ? 1 : kernel;
      strides[d] = is_flat ? 1 : stride;
      dilations[d] = dilation;
      pads[d] = pads[n + d] = pools ? 0 : dilation * (kernels[d] - 1) / 2;
      y.dim[d] = (x->dim[d] + 2 * pads[d] - dilation * (kernels[d] - 1) - 1) / strides[d] + 1;
    }
  if (pools)
    print_list (net, "kernel_shape", kernels, n);
  print_list (net, "strides", strides, n);
  if (!pools)
    print_list (net, "dilations", dilations, n);
  print_list (net, "pads", pads, 2 * n);
  g_string_append_printf (net->text, "%s\n", net->form->is_nhwc ? " layout=NHWC" : "");
  return y;
}

/* Adds a convolution of the last value; depthwise if `is_depthwise`. */
static void
add_conv (Net *net, gint64 channels, gint64 kernel, gint64 stride, gboolean is_depthwise)
{
  const Value *x = last (net);
  gint64 group = is_depthwise ? x->channels : 1;
  guint y = net->next;
  Value value;

  g_string_append_printf (net->text, "%%w%u = Constant seed=%u : %s %dx%d", y, y,
                          net->form->has_bytes ? "int8" : "float32", (int) channels,
                          (int) (x->channels / group));
  for (guint d = 0; d < net->form->n; d++)
    g_string_append_printf (net->text, "x%d", (int) (x->dim[d] == 1 ? 1 : kernel));
  g_string_append_printf (net->text,
                          net->form->has_bytes
                              ? "\n%%v%u = QLinearConv %%v%u, %%s, %%z, %%w%u, %%s, "
                                "%%z, %%s, %%z group=%d"
                              : "\n%%v%u = Conv %%v%u, %%w%u group=%d",
                          y, x->id, y, (int) group);
  value = print_window (net, x, channels, kernel, stride, FALSE);
  g_array_append_val (net->values, value);
}

static void
add_pool (Net *net)
{
  const Value *x = last (net);
  Value y;

  for (guint d = 0; d < net->form->n; d++)
    if (x->dim[d] != 1 && x->dim[d] < 6)
      return;
  g_string_append_printf (net->text, "%%v%u = MaxPool %%v%u", net->next, x->id);
  y = print_window (net, x, x->channels, 2, 2, TRUE);
  g_array_append_val (net->values, y);
}

static void
add_unary (Net *net)
{
  static const char *const ops[] = { "Relu", "Sigmoid", "Tanh" };
  Value y = *last (net);

  if (net->form->has_bytes)
    return;
  g_string_append_printf (net->text, "%%v%u = %s %%v%u\n", net->next, ops[draw (net, 0, 2)], y.id);
  y.id = net->next++;
  g_array_append_val (net->values, y);
}

/* Finds an earlier value with the same extents and, if `channels` is positive, that number of
 * channels. */
static const Value *
find_like (Net *net, const Value *x, gint64 channels)
{
  guint n = net->values->len - 1, from = n == 0 ? 0 : (guint) draw (net, 0, n - 1);

  for (guint i = 0; i < n; i++)
    {
      const Value *other = &g_array_index (net->values, Value, (from + i) % n);

      if (memcmp (other->dim, x->dim, sizeof x->dim) == 0 &&
          (channels <= 0 || other->channels == channels))
        return other;
    }
  return NULL;
}

static void
add_sum (Net *net)
{
  Value y = *last (net);
  const Value *other = find_like (net, &y, y.channels);
  guint id = net->next;

  if (other == NULL)
    return;
  if (net->form->has_bytes)
    g_string_append_printf (net->text,
                            "%%a%u = DequantizeLinear %%v%u, %%s, %%z\n"
                            "%%b%u = DequantizeLinear %%v%u, %%s, %%z\n"
                            "%%c%u = Add %%a%u, %%b%u\n%%v%u = QuantizeLinear %%c%u, %%s, %%z\n",
                            id, y.id, id, other->id, id, id, id, id, id);
  else
    g_string_append_printf (net->text, "%%v%u = Add %%v%u, %%v%u\n", id, y.id, other->id);
  y.id = net->next++;
  g_array_append_val (net->values, y);
}

static void
add_join (Net *net)
{
  Value y = *last (net);
  const Value *other = find_like (net, &y, 0);

  if (other == NULL || other->channels + y.channels > 2 * net->form->max_channels)
    return;
  g_string_append_printf (net->text, "%%v%u = Concat %%v%u, %%v%u axis=%u\n", net->next, y.id,
                          other->id, net->form->is_nhwc ? net->form->n + 1 : 1);
  y.channels += other->channels;
  y.id = net->next++;
  g_array_append_val (net->values, y);
}

static void
grow (Net *net)
{
  static const gint64 kernels[] = { 1, 3, 3, 5 };
  gint64 what = draw (net, 0, 9);

  if (what < 4)
    add_conv (net, draw (net, 2, net->form->max_channels), kernels[draw (net, 0, 3)],
              draw (net, 0, 5) == 0 ? 2 : 1, FALSE);
  else if (what == 4)
    add_conv (net, last (net)->channels, 3, 1, TRUE);
  else if (what == 5)
    add_pool (net);
  else if (what == 6)
    add_join (net);
  else if (what < 9)
    add_sum (net);
  else
    add_unary (net);
}

static CleaveGraph *
parse (const GString *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text->str, NULL, &error);

  if (graph == NULL)
    ck_abort_msg ("%s in\n%s", error->message, text->str);
  return graph;
}

static CleaveGraph *
make_net (const Form *form, guint32 seed)
{
  g_autoptr (GString) text = g_string_new (form->has_bytes ? SCALES : NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (Value));
  Net net = { form, text, rand, values, 1 };
  Value x = { .channels = draw (&net, 1, 4) };
  guint n_nodes = (guint) draw (&net, 5, form->is_deep ? 9 : 7);

  for (guint d = 0; d < form->n; d++)
    x.dim[d] = draw (&net, form->min[d], form->max[d]);
  g_string_append (text, "%v0 = Input");
  print_shape (&net, &x);
  g_array_append_val (values, x);
  add_conv (&net, draw (&net, 2, form->max_channels), 3, 1, FALSE);
  while (net.next < n_nodes)
    grow (&net);
  add_conv (&net, 1, 1, 1, FALSE);
  g_string_append_printf (text, "output %%v%u\n", last (&net)->id);
  return parse (text);
}

static CleaveGraph *
make_image (guint32 seed)
{
  static const Form form = {
    .n = 2, .min = { 8, 8 }, .max = { 12, 12 }, .max_channels = 12, .is_deep = TRUE
  };

  return make_net (&form, seed);
}

static CleaveGraph *
make_nhwc (guint32 seed)
{
  static const Form form = {
    .n = 2, .min = { 8, 8 }, .max = { 12, 12 }, .max_channels = 12, .is_nhwc = TRUE
  };

  return make_net (&form, seed);
}

static CleaveGraph *
make_bytes (guint32 seed)
{
  static const Form form = {
    .n = 2, .min = { 8, 8 }, .max = { 12, 12 }, .max_channels = 16, .has_bytes = TRUE
  };

  return make_net (&form, seed);
}

static CleaveGraph *
make_sequence (guint32 seed)
{
  static const Form form = {
    .n = 1, .min = { 48 }, .max = { 100 }, .max_channels = 24, .is_dilated = TRUE
  };

  return make_net (&form, seed);
}

static CleaveGraph *
make_flat_sequence (guint32 seed)
{
  static const Form form = {
    .n = 2, .min = { 1, 48 }, .max = { 1, 100 }, .max_channels = 24, .is_dilated = TRUE
  };

  return make_net (&form, seed);
}

static CleaveGraph *
make_volume (guint32 seed)
{
  static const Form form = { .n = 3, .min = { 6, 6, 6 }, .max = { 9, 9, 9 }, .max_channels = 8 };

  return make_net (&form, seed);
}

/* Makes residual layers of a matrix: a product that adds columns, and a product that removes these
 * columns. */
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
  return parse (text);
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
  return parse (text);
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
  return parse (text);
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
  return parse (text);
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
  { "image", make_image },
  { "nhwc", make_nhwc },
  { "bytes", make_bytes },
  { "sequence", make_sequence },
  { "flat-sequence", make_flat_sequence },
  { "volume", make_volume },
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
