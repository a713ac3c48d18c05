/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random networks of convolutions, poolings, sums and joins, written as text. */

#include "fit-windows.h"

#include <string.h>

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

/* Returns an earlier value with the extents of `x`. If `channels` is positive, the value has that
 * number of channels. Returns NULL if there is none. */
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

CleaveGraph *
fit_parse (const GString *text)
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
  return fit_parse (text);
}

CleaveGraph *
fit_make_image (guint32 seed)
{
  static const Form form = {
    .n = 2, .min = { 8, 8 }, .max = { 12, 12 }, .max_channels = 12, .is_deep = TRUE
  };

  return make_net (&form, seed);
}

CleaveGraph *
fit_make_nhwc (guint32 seed)
{
  static const Form form = {
    .n = 2, .min = { 8, 8 }, .max = { 12, 12 }, .max_channels = 12, .is_nhwc = TRUE
  };

  return make_net (&form, seed);
}

CleaveGraph *
fit_make_bytes (guint32 seed)
{
  static const Form form = {
    .n = 2, .min = { 8, 8 }, .max = { 12, 12 }, .max_channels = 16, .has_bytes = TRUE
  };

  return make_net (&form, seed);
}

CleaveGraph *
fit_make_sequence (guint32 seed)
{
  static const Form form = {
    .n = 1, .min = { 48 }, .max = { 100 }, .max_channels = 24, .is_dilated = TRUE
  };

  return make_net (&form, seed);
}

CleaveGraph *
fit_make_flat_sequence (guint32 seed)
{
  static const Form form = {
    .n = 2, .min = { 1, 48 }, .max = { 1, 100 }, .max_channels = 24, .is_dilated = TRUE
  };

  return make_net (&form, seed);
}

CleaveGraph *
fit_make_volume (guint32 seed)
{
  static const Form form = { .n = 3, .min = { 6, 6, 6 }, .max = { 9, 9, 9 }, .max_channels = 8 };

  return make_net (&form, seed);
}
