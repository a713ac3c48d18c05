/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds MobileNetV2 node by node, from a table of its inverted residual blocks. The weights are
 * random. */

#include "mobilenet.h"

#include <math.h>

/* The graph that is built, and the seed of its random weights. A function of this file that fails
 * returns NULL. If a function gets NULL in place of a value, it does nothing and returns NULL. */
typedef struct
{
  CleaveGraph *graph;
  guint64 seed;
  GError **error;
} Builder;

static gint64
get_channels (const CleaveResult *x)
{
  return cleave_result_get_type (x)->shape.dim[1];
}

/* Adds uniform random weights, and returns the weights. The weights are scaled so that values
 * neither grow nor vanish from layer to layer. */
static CleaveResult *
add_weights (
    Builder *b, const char *node, const char *what, const CleaveTensorType *type, gint64 fan_in)
{
  g_autofree char *name = g_strdup_printf ("%s.%s", node, what);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (type, b->error);
  float scale = (float) sqrt (6.0 / (double) fan_in);
  float *data;

  if (tensor == NULL)
    return NULL;
  cleave_tensor_fill_random (tensor, name, b->seed);
  data = cleave_tensor_get_mutable_data (tensor);
  for (gint64 i = 0; i < cleave_shape_n_elements (&type->shape); i++)
    data[i] *= scale;
  return cleave_graph_add_constant (b->graph, name, tensor);
}

static CleaveResult *
add_conv (Builder *b,
          const char *name,
          CleaveResult *x,
          gint64 channels,
          gint64 kernel,
          gint64 stride,
          gint64 group)
{
  CleaveConvAttrs attrs = { .group = group, .strides = CLEAVE_INTS (stride, stride) };
  CleaveTensorType filter = CLEAVE_TYPE (CLEAVE_FLOAT32, channels, 0, kernel, kernel);
  CleaveTensorType per_channel = CLEAVE_TYPE (CLEAVE_FLOAT32, channels);
  gint64 pad = kernel / 2, fan_in;
  CleaveResult *w, *bias;

  if (x == NULL)
    return NULL;
  attrs.pads = CLEAVE_INTS (pad, pad, pad, pad);
  filter.shape.dim[1] = get_channels (x) / group;
  fan_in = filter.shape.dim[1] * kernel * kernel;
  w = add_weights (b, name, "weight", &filter, fan_in);
  bias = add_weights (b, name, "bias", &per_channel, 100);
  return w == NULL || bias == NULL
             ? NULL
             : cleave_graph_add_conv (b->graph, name, x, w, bias, &attrs, b->error);
}

/* Adds a ReLU6, which is a Clip in ONNX, and returns its result. */
static CleaveResult *
add_clip (Builder *b, const char *name, CleaveResult *x)
{
  g_autofree char *clip = g_strconcat (name, ".clip", NULL);
  CleaveClipAttrs attrs = { .min = 0, .max = 6 };

  return x == NULL ? NULL : cleave_graph_add_clip (b->graph, clip, x, &attrs, b->error);
}

/* Adds an inverted residual block (expand, depthwise, project), and returns its result. If operand
 * and result have the same shape, adds the operand to the result. */
static CleaveResult *
add_block (
    Builder *b, guint number, CleaveResult *x, gint64 expansion, gint64 channels, gint64 stride)
{
  g_autofree char *expand = g_strdup_printf ("block%u.expand", number);
  g_autofree char *depthwise = g_strdup_printf ("block%u.depthwise", number);
  g_autofree char *project = g_strdup_printf ("block%u.project", number);
  g_autofree char *add = g_strdup_printf ("block%u.add", number);
  gboolean is_residual = x != NULL && stride == 1 && get_channels (x) == channels;
  CleaveResult *y = x;

  if (expansion > 1 && y != NULL)
    y = add_clip (b, expand, add_conv (b, expand, y, get_channels (y) * expansion, 1, 1, 1));
  if (y != NULL)
    y = add_clip (b, depthwise,
                  add_conv (b, depthwise, y, get_channels (y), 3, stride, get_channels (y)));
  y = add_conv (b, project, y, channels, 1, 1, 1);
  return y == NULL || !is_residual ? y
                                   : cleave_graph_add_binary (b->graph, "Add", add, x, y, b->error);
}

static CleaveResult *
add_blocks (Builder *b, CleaveResult *x)
{
  static const struct
  {
    gint64 expansion, channels;
    guint repeat;
    gint64 stride;
  } groups[] = {
    { 1, 16, 1, 1 }, { 6, 24, 2, 2 },  { 6, 32, 3, 2 },  { 6, 64, 4, 2 },
    { 6, 96, 3, 1 }, { 6, 160, 3, 2 }, { 6, 320, 1, 1 },
  };
  guint number = 0;

  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    for (guint j = 0; j < groups[i].repeat; j++)
      x = add_block (b, ++number, x, groups[i].expansion, groups[i].channels,
                     j == 0 ? groups[i].stride : 1);
  return x;
}

static CleaveResult *
add_classifier (Builder *b, CleaveResult *x)
{
  CleaveTensorType weights = CLEAVE_TYPE (CLEAVE_FLOAT32, 1000, 1280),
                   bias = CLEAVE_TYPE (CLEAVE_FLOAT32, 1000);
  CleaveGemmAttrs attrs = { .alpha = 1, .beta = 1, .transB = TRUE };
  CleaveResult *w = add_weights (b, "classifier", "weight", &weights, 1280);
  CleaveResult *c = add_weights (b, "classifier", "bias", &bias, 100);

  if (x != NULL)
    x = cleave_graph_add_global_pool (b->graph, "GlobalAveragePool", "pool", x, NULL, b->error);
  if (x != NULL)
    x = cleave_graph_add_flatten (b->graph, "flatten", x, 1, b->error);
  return x == NULL || w == NULL || c == NULL
             ? NULL
             : cleave_graph_add_gemm (b->graph, "classifier", x, w, c, &attrs, b->error);
}

CleaveGraph *
cleave_mobilenet_new (guint64 seed, GError **error)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("MobileNetV2 1.0 224");
  Builder b = { graph, seed, error };
  CleaveTensorType image = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 3, 224, 224);
  CleaveResult *x = cleave_graph_add_input (graph, "image", &image, error);

  x = add_clip (&b, "stem", add_conv (&b, "stem", x, 32, 3, 2, 1));
  x = add_blocks (&b, x);
  x = add_clip (&b, "head", add_conv (&b, "head", x, 1280, 1, 1, 1));
  x = add_classifier (&b, x);
  if (x == NULL || !cleave_graph_add_output (graph, "scores", x, error))
    return NULL;
  return g_steal_pointer (&graph);
}
