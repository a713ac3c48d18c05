/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds a network (chain) of the paper msf-CNN from a table of the network's inverted bottlenecks,
 * with random weights. Leaves out the last convolution, since the paper does not count the memory
 * of its result. */

#include "chains.h"

#include <math.h>

/* An inverted bottleneck: its result channels, its expansion factor, and the stride and the kernel
 * of its depthwise convolution. */
typedef struct
{
  gint64 channels, widening, stride, kernel;
} Block;

typedef struct
{
  const char *name;
  gint64 side;
  gboolean is_mobilenet; /* TRUE: the first block does not expand channels, and the chain ends with
                            448 (1280 * 0.35) channels */
  guint n_blocks;
  Block blocks[17];
} Chain;

static const Chain chains[] = {
  { "mbv2-w035-r144",
    144,
    TRUE,
    17,
    { { 5, 1, 1, 3 },
      { 8, 6, 2, 3 },
      { 8, 6, 1, 3 },
      { 11, 6, 2, 3 },
      { 11, 6, 1, 3 },
      { 11, 6, 1, 3 },
      { 22, 6, 2, 3 },
      { 22, 6, 1, 3 },
      { 22, 6, 1, 3 },
      { 22, 6, 1, 3 },
      { 33, 6, 1, 3 },
      { 33, 6, 1, 3 },
      { 33, 6, 1, 3 },
      { 56, 6, 2, 3 },
      { 56, 6, 1, 3 },
      { 56, 6, 1, 3 },
      { 112, 6, 1, 3 } } },
  { "vww-r80",
    80,
    FALSE,
    14,
    { { 16, 6, 2, 3 },
      { 16, 3, 1, 3 },
      { 16, 3, 1, 3 },
      { 24, 3, 2, 7 },
      { 24, 6, 1, 3 },
      { 24, 5, 1, 5 },
      { 40, 6, 2, 7 },
      { 40, 6, 1, 7 },
      { 48, 6, 1, 3 },
      { 48, 4, 1, 3 },
      { 96, 5, 2, 5 },
      { 96, 5, 1, 3 },
      { 96, 4, 1, 3 },
      { 160, 3, 1, 7 } } },
  { "320kb-r176",
    176,
    FALSE,
    17,
    { { 16, 3, 2, 7 },
      { 16, 5, 1, 3 },
      { 16, 5, 1, 7 },
      { 16, 4, 1, 5 },
      { 24, 5, 2, 5 },
      { 24, 5, 1, 5 },
      { 24, 5, 1, 5 },
      { 40, 5, 2, 3 },
      { 40, 6, 1, 7 },
      { 40, 4, 1, 5 },
      { 48, 5, 1, 5 },
      { 48, 5, 1, 7 },
      { 48, 5, 1, 3 },
      { 96, 6, 2, 3 },
      { 96, 5, 1, 7 },
      { 96, 4, 1, 3 },
      { 160, 5, 1, 7 } } },
};

typedef struct
{
  CleaveGraph *graph;
  GRand *rand;
  CleaveResult *x;
  guint n;
} Builder;

/* Adds uniform random weights, scaled so that values neither grow nor vanish from layer to layer.
 */
static CleaveResult *
add_weights (Builder *b, const char *what, CleaveTensorType type, gint64 fan_in)
{
  g_autofree char *name = g_strdup_printf ("conv_%u.%s", b->n, what);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);
  float *data = cleave_tensor_get_mutable_data (tensor);
  double scale = sqrt (3.0 / (double) fan_in);

  for (gint64 i = 0; i < cleave_shape_n_elements (&type.shape); i++)
    data[i] = (float) g_rand_double_range (b->rand, -scale, scale);
  return cleave_graph_add_constant (b->graph, name, tensor);
}

static void
add_conv (Builder *b, gint64 channels, gint64 kernel, gint64 stride, gboolean is_depthwise)
{
  gint64 before = cleave_result_get_type (b->x)->shape.dim[1];
  gint64 group = is_depthwise ? before : 1, pad = kernel / 2;
  CleaveConvAttrs attrs = { .group = group, .strides = CLEAVE_INTS (stride, stride) };
  g_autofree char *name = g_strdup_printf ("conv_%u", b->n);
  CleaveResult *w, *bias;

  attrs.pads = CLEAVE_INTS (pad, pad, pad, pad);
  w = add_weights (b, "weight",
                   CLEAVE_TYPE (CLEAVE_FLOAT32, channels, before / group, kernel, kernel),
                   before / group * kernel * kernel);
  bias = add_weights (b, "bias", CLEAVE_TYPE (CLEAVE_FLOAT32, channels), 100);
  b->x = cleave_graph_add_conv (b->graph, name, b->x, w, bias, &attrs, NULL);
  b->n++;
}

static void
add_blocks (Builder *b, const Chain *chain)
{
  for (guint i = 0; i < chain->n_blocks; i++)
    {
      const Block *block = &chain->blocks[i];
      gint64 wide = cleave_result_get_type (b->x)->shape.dim[1] * block->widening;

      add_conv (b, wide, 1, 1, FALSE);
      add_conv (b, wide, block->kernel, block->stride, TRUE);
      add_conv (b, block->channels, 1, 1, FALSE);
    }
}

/* Removes the last convolution. Returns its MACs. */
static gint64
drop_last (Builder *b)
{
  CleaveNode *last = cleave_result_get_node (b->x);
  gint64 macs = cleave_node_get_macs (last);

  b->x = cleave_operand_get_result (cleave_node_get_operand (last, 0));
  cleave_graph_remove (b->graph, last);
  return macs;
}

static CleaveGraph *
build (const Chain *chain, gint64 *last_macs)
{
  CleaveGraph *graph = cleave_graph_new (chain->name);
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  CleaveTensorType image = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 3, chain->side, chain->side);
  Builder b = { graph, rand, cleave_graph_add_input (graph, "input", &image, NULL), 0 };

  add_conv (&b, chain->is_mobilenet ? 11 : 16, 3, 2, FALSE);
  if (!chain->is_mobilenet)
    {
      add_conv (&b, 16, 3, 1, TRUE);
      add_conv (&b, 8, 1, 1, FALSE);
    }
  add_blocks (&b, chain);
  if (chain->is_mobilenet)
    add_conv (&b, 448, 1, 1, FALSE);
  *last_macs = drop_last (&b);
  cleave_graph_add_output (graph, "output", b.x, NULL);
  return graph;
}

CleaveGraph *
chain_new (const char *name, gint64 *last_macs)
{
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++)
    if (g_str_equal (name, chains[i].name))
      return build (&chains[i], last_macs);
  return NULL;
}
