/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random graphs and nodes for several suites. A graph grows by nodes that read random earlier
 * values. */

#include "graphs.h"

#include "interpret.h"
#include "test.h"

#include <string.h>

CleaveResult *
cleave_test_input (CleaveGraph *graph, const char *name, CleaveShape shape)
{
  CleaveTensorType type = { CLEAVE_FLOAT32, shape };
  CleaveResult *input = cleave_graph_add_input (graph, name, &type, NULL);

  ck_assert_ptr_nonnull (input);
  return input;
}

CleaveResult *
cleave_test_weights (CleaveGraph *graph, const char *name, CleaveShape shape)
{
  CleaveTensorType type = { CLEAVE_FLOAT32, shape };
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, g_str_hash (name), FALSE);

  return cleave_graph_add_constant (graph, name, tensor);
}

CleaveResult *
cleave_test_add (CleaveGraph *graph,
                 const char *op,
                 const char *name,
                 CleaveResult *const *operands,
                 guint n_operands,
                 gconstpointer attrs,
                 GError **error)
{
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup (op), name, operands, n_operands, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

CleaveNode *
cleave_test_add_recurrent (CleaveGraph *graph,
                           const char *op,
                           const char *name,
                           CleaveResult *const *operands,
                           guint n_operands,
                           const CleaveRecurrentAttrs *attrs,
                           GError **error)
{
  return cleave_graph_add (graph, cleave_op_lookup (op), name, operands, n_operands,
                           g_str_equal (op, "LSTM") ? 3 : 2, attrs, error);
}

CleaveGraph *
cleave_test_figure (void)
{
  CleaveGraph *graph = cleave_graph_new ("figure");
  CleaveConvAttrs conv = { .layout = CLEAVE_LAYOUT_NHWC,
                           .strides = CLEAVE_INTS (2, 2),
                           .pads = CLEAVE_INTS (1, 1, 0, 0) };
  CleavePoolAttrs pool = { .layout = CLEAVE_LAYOUT_NHWC,
                           .kernel_shape = CLEAVE_INTS (3, 3),
                           .strides = CLEAVE_INTS (2, 2),
                           .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (5, 16, 16, 4));
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (16, 4, 3, 3));
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_conv (graph, "conv", x, w, NULL, &conv, &error);

  cleave_assert_no_error (error);
  y = cleave_graph_add_unary (graph, "Relu", "relu", y, NULL, &error);
  y = cleave_graph_add_pool (graph, "MaxPool", "pool", y, &pool, &error);
  cleave_assert_no_error (error);
  cleave_graph_add_output (graph, "y", y, NULL);
  return graph;
}

/* The state of cleave_random_graph(). All values have rank 4. If a constructor refuses a node, the
 * graph grows without the node. */

typedef struct
{
  CleaveGraph *graph;
  GRand *rand;
  GPtrArray *values;
  CleaveLayout layout;
} Maker;

static gint64
pick (Maker *maker, gint32 min, gint32 max)
{
  return g_rand_int_range (maker->rand, min, max + 1);
}

/* Returns a random value of the graph, more likely a recent one, so that the graph gets deep. */
static CleaveResult *
pick_value (Maker *maker)
{
  guint n = maker->values->len;
  guint back = (guint) pick (maker, 0, (gint32) n - 1);
  guint near = (guint) pick (maker, 0, 2);

  if (pick (maker, 0, 2) > 0)
    back = MIN (back, near);
  return g_ptr_array_index (maker->values, n - 1 - back);
}

/* Returns another value with the shape of `like`, or `like` if there is none. */
static CleaveResult *
pick_like (Maker *maker, CleaveResult *like)
{
  for (guint i = 0; i < 6; i++)
    {
      CleaveResult *other = pick_value (maker);

      if (other != like &&
          cleave_tensor_type_equal (cleave_result_get_type (other), cleave_result_get_type (like)))
        return other;
    }
  return like;
}

static const gint64 *
dims_of (CleaveResult *x)
{
  return cleave_result_get_type (x)->shape.dim;
}

static guint
channel_dim (const Maker *maker)
{
  return maker->layout == CLEAVE_LAYOUT_NHWC ? 3 : 1;
}

static CleaveResult *
make_unary (Maker *maker, CleaveResult *x)
{
  static const char *const ops[] = { "Relu",      "Tanh",     "Neg",    "Abs",
                                     "LeakyRelu", "Identity", "Sigmoid" };
  const CleaveOp *op = cleave_op_lookup (ops[pick (maker, 0, G_N_ELEMENTS (ops) - 1)]);
  CleaveNode *node = cleave_graph_add (maker->graph, op, NULL, &x, 1, 1, NULL, NULL);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

static CleaveResult *
make_binary (Maker *maker, CleaveResult *x)
{
  static const char *const ops[] = { "Add", "Sub", "Mul", "Max", "Min" };
  const char *op = ops[pick (maker, 0, G_N_ELEMENTS (ops) - 1)];
  CleaveShape one = CLEAVE_SHAPE (1, 1, 1, 1);
  CleaveResult *y = pick_like (maker, x);

  /* in one case of five, the second operand is a constant that broadcasts to x */
  if (pick (maker, 0, 4) == 0)
    {
      guint d = (guint) pick (maker, 0, 3);

      one.dim[d] = dims_of (x)[d];
      y = cleave_test_weights (maker->graph, "scale", one);
    }
  return pick (maker, 0, 1) == 0 ? cleave_graph_add_binary (maker->graph, op, NULL, x, y, NULL)
                                 : cleave_graph_add_binary (maker->graph, op, NULL, y, x, NULL);
}

static CleaveResult *
make_conv (Maker *maker, CleaveResult *x)
{
  gint64 channels = dims_of (x)[channel_dim (maker)];
  gint64 group = pick (maker, 0, 2) == 0                        ? channels
                 : channels % 2 == 0 && pick (maker, 0, 2) == 0 ? 2
                                                                : 1;
  gint64 out = group * pick (maker, 1, group > 2 ? 2 : 4);
  gint64 kh = pick (maker, 1, 3), kw = pick (maker, 1, 3);
  CleaveConvAttrs attrs = { .layout = maker->layout,
                            .group = group,
                            .strides = CLEAVE_INTS (pick (maker, 1, 2), pick (maker, 1, 2)),
                            .dilations = CLEAVE_INTS (pick (maker, 1, 2), 1),
                            .pads = CLEAVE_INTS (pick (maker, 0, 2), pick (maker, 0, 2),
                                                 pick (maker, 0, 2), pick (maker, 0, 2)) };
  CleaveResult *w =
      cleave_test_weights (maker->graph, "w", CLEAVE_SHAPE (out, channels / group, kh, kw));
  CleaveResult *b =
      pick (maker, 0, 1) == 0 ? NULL : cleave_test_weights (maker->graph, "b", CLEAVE_SHAPE (out));

  if (pick (maker, 0, 1) == 0) /* half of the convolutions have stride 1 and pads that keep the
                                * extents, as in most networks */
    attrs.strides = attrs.dilations = CLEAVE_INTS (1, 1),
    attrs.pads = CLEAVE_INTS (kh / 2, kw / 2, kh / 2, kw / 2);
  return cleave_graph_add_conv (maker->graph, NULL, x, w, b, &attrs, NULL);
}

static CleaveResult *
make_pool (Maker *maker, CleaveResult *x)
{
  static const char *const ops[] = { "MaxPool", "AveragePool" };
  gint64 k = pick (maker, 2, 3);
  CleavePoolAttrs attrs = { .layout = maker->layout,
                            .kernel_shape = CLEAVE_INTS (k, pick (maker, 1, 3)),
                            .strides = CLEAVE_INTS (pick (maker, 1, 2), 1),
                            .pads = CLEAVE_INTS (pick (maker, 0, 1), 0, pick (maker, 0, 1), 0),
                            .ceil_mode = pick (maker, 0, 3) == 0,
                            .count_include_pad = (gboolean) pick (maker, 0, 1) };

  return cleave_graph_add_pool (maker->graph, ops[pick (maker, 0, 1)], NULL, x, &attrs, NULL);
}

static CleaveResult *
make_norm (Maker *maker, CleaveResult *x)
{
  CleaveNormAttrs attrs = { .layout = maker->layout };
  CleaveShape channels = CLEAVE_SHAPE (dims_of (x)[channel_dim (maker)]);
  CleaveResult *a = cleave_test_weights (maker->graph, "norm", channels);

  return cleave_test_add (maker->graph, "BatchNormalization", NULL,
                          (CleaveResult *[]){ x, a, a, a, a }, 5, &attrs, NULL);
}

static CleaveResult *
make_concat (Maker *maker, CleaveResult *x)
{
  CleaveResult *parts[] = { x, pick_value (maker), pick_value (maker) };

  return cleave_graph_add_concat (maker->graph, NULL, parts, (guint) pick (maker, 2, 3),
                                  pick (maker, 1, 3), NULL);
}

static CleaveResult *
make_slice (Maker *maker, CleaveResult *x)
{
  CleaveSliceAttrs attrs = { .starts.n = 4, .ends.n = 4, .steps.n = 4 };

  for (guint d = 0; d < 4; d++)
    {
      gint64 n = dims_of (x)[d];

      attrs.starts.v[d] = pick (maker, 0, (gint32) MIN (n - 1, 2));
      attrs.ends.v[d] = pick (maker, (gint32) attrs.starts.v[d] + 1, (gint32) n);
      attrs.steps.v[d] = pick (maker, 0, 5) == 0 ? 2 : 1;
    }
  return cleave_graph_add_slice (maker->graph, NULL, x, &attrs, NULL);
}

/* Splits x in two. Adds result 0 to the values that later nodes may read, and returns result 1. */
static CleaveResult *
make_split (Maker *maker, CleaveResult *x)
{
  gint64 axis = pick (maker, 1, 3), n = dims_of (x)[axis];
  gint64 first = pick (maker, 1, (gint32) MAX (n - 1, 1));
  const gint64 sizes[] = { first, n - first };
  CleaveNode *node;

  if (n < 2)
    return NULL;
  node = cleave_graph_add_split (maker->graph, NULL, x, axis, sizes, 2, NULL);
  g_ptr_array_add (maker->values, cleave_node_get_result (node, 0));
  return cleave_node_get_result (node, 1);
}

static CleaveResult *
make_pad (Maker *maker, CleaveResult *x)
{
  CleavePadAttrs attrs = { .mode = (CleavePadMode) pick (maker, 0, 2),
                           .pads = CLEAVE_INTS (0, 0, pick (maker, -1, 2), pick (maker, 0, 1), 0, 0,
                                                pick (maker, 0, 2), pick (maker, -1, 1)) };

  return cleave_test_add (maker->graph, "Pad", NULL, (CleaveResult *[]){ x }, 1, &attrs, NULL);
}

static CleaveResult *
make_transpose (Maker *maker, CleaveResult *x)
{
  static const CleaveInts perms[] = { { 4, { 0, 1, 3, 2 } },
                                      { 4, { 0, 2, 1, 3 } },
                                      { 4, { 0, 3, 2, 1 } } };

  return cleave_graph_add_transpose (maker->graph, NULL, x, &perms[pick (maker, 0, 2)], NULL);
}

static CleaveResult *
make_reshape (Maker *maker, CleaveResult *x)
{
  const gint64 *n = dims_of (x);
  CleaveInts shape = CLEAVE_INTS (n[0], n[1], n[3], n[2]);

  if (pick (maker, 0, 1) == 0 && n[2] % 2 == 0)
    shape = CLEAVE_INTS (n[0], n[1], n[2] / 2, n[3] * 2);
  else if (pick (maker, 0, 1) == 0 && n[3] % 2 == 0)
    shape = CLEAVE_INTS (n[0], n[1], n[2] * 2, n[3] / 2);
  return cleave_graph_add_reshape (maker->graph, NULL, x, &shape, NULL);
}

static CleaveResult *
make_matmul (Maker *maker, CleaveResult *x)
{
  CleaveResult *w =
      cleave_test_weights (maker->graph, "m", CLEAVE_SHAPE (dims_of (x)[3], pick (maker, 1, 6)));

  return cleave_graph_add_matmul (maker->graph, NULL, x, w, NULL);
}

static CleaveResult *
make_softmax (Maker *maker, CleaveResult *x)
{
  const CleaveOp *op = cleave_op_lookup ("Softmax");
  CleaveAxisAttrs attrs = { pick (maker, 1, 3) };
  CleaveNode *node =
      op == NULL ? NULL : cleave_graph_add (maker->graph, op, NULL, &x, 1, 1, &attrs, NULL);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

static CleaveResult *
make_resize (Maker *maker, CleaveResult *x)
{
  CleaveResizeAttrs attrs = { .mode = (CleaveResizeMode) pick (maker, 0, 1),
                              .scales = CLEAVE_DOUBLES (1, 1, 2, 2),
                              .cubic_coeff_a = -0.75 };

  if (dims_of (x)[2] > 6 || maker->layout == CLEAVE_LAYOUT_NHWC)
    return NULL;
  return cleave_test_add (maker->graph, "Resize", NULL, (CleaveResult *[]){ x }, 1, &attrs, NULL);
}

static CleaveResult *
make_global_pool (Maker *maker, CleaveResult *x)
{
  CleaveGlobalPoolAttrs attrs = { .layout = maker->layout };
  CleaveResult *pooled =
      cleave_graph_add_global_pool (maker->graph, "GlobalAveragePool", NULL, x, &attrs, NULL);

  /* Scales the channels, as in channel attention. */
  return pooled == NULL ? NULL
                        : cleave_graph_add_binary (maker->graph, "Mul", NULL, x, pooled, NULL);
}

typedef CleaveResult *(*Make) (Maker *maker, CleaveResult *x);

static const Make makes[] = {
  make_unary,  make_unary,       make_binary,    make_binary,  make_binary, make_conv,
  make_conv,   make_conv,        make_pool,      make_norm,    make_concat, make_slice,
  make_split,  make_pad,         make_transpose, make_reshape, make_matmul, make_softmax,
  make_resize, make_global_pool, make_concat,    make_split,
};

static void
add_outputs (Maker *maker)
{
  for (guint i = 0, n = 0; i < maker->values->len; i++)
    {
      CleaveResult *value = g_ptr_array_index (maker->values, i);
      g_autofree char *name = g_strdup_printf ("out%u", n);

      if (cleave_result_get_n_uses (value) > 0 && (i == 0 || pick (maker, 0, 9) > 0))
        continue;
      cleave_graph_add_output (maker->graph, name, value, NULL);
      n++;
    }
}

CleaveGraph *
cleave_random_graph (guint32 seed, guint n)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  Maker maker = { cleave_graph_new ("random"), rand, values, CLEAVE_LAYOUT_NCHW };

  maker.layout = pick (&maker, 0, 2) == 0 ? CLEAVE_LAYOUT_NHWC : CLEAVE_LAYOUT_NCHW;
  for (guint i = 0; i < 1 + seed % 2; i++)
    {
      CleaveShape shape = CLEAVE_SHAPE (pick (&maker, 1, 2), pick (&maker, 2, 6),
                                        pick (&maker, 4, 9), pick (&maker, 4, 9));

      g_ptr_array_add (values, cleave_test_input (maker.graph, i == 0 ? "x" : "x1", shape));
    }
  while (values->len < n)
    {
      CleaveResult *made =
          makes[pick (&maker, 0, G_N_ELEMENTS (makes) - 1)](&maker, pick_value (&maker));

      gint64 size =
          made == NULL ? 0 : cleave_shape_n_elements (&cleave_result_get_type (made)->shape);

      if (size > 0 && size < 4000)
        g_ptr_array_add (values, made);
    }
  add_outputs (&maker);
  cleave_pass_remove_dead (maker.graph, NULL, NULL, NULL);
  return maker.graph;
}

GPtrArray *
cleave_random_inputs (const CleaveGraph *graph, guint32 seed, gboolean special)
{
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    g_ptr_array_add (
        inputs, cleave_random_tensor (cleave_result_get_type (cleave_graph_get_input (graph, i)),
                                      seed + i, special));
  return inputs;
}

int
cleave_compare_outputs (const GPtrArray *a, const GPtrArray *b)
{
  ck_assert_uint_eq (a->len, b->len);
  for (guint i = 0; i < a->len; i++)
    if (!cleave_tensor_equal (g_ptr_array_index (a, i), g_ptr_array_index (b, i)))
      return (int) i;
  return -1;
}

guint
cleave_count_nodes (const CleaveGraph *graph, const char *op)
{
  guint n = 0;

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    n += strcmp (cleave_op_get_name (cleave_node_get_op (node)), op) == 0;
  return n;
}

char *
cleave_describe_split (const CleaveSplitReport *report, const char *node)
{
  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    {
      const CleaveSplitNode *split = cleave_split_report_get_split (report, i);
      g_autoptr (GString) out = g_string_new (NULL);

      if (strcmp (split->name, node) != 0)
        continue;
      for (guint p = 0; p < split->n_pieces; p++)
        {
          g_autofree char *range = cleave_range_to_string (&split->ranges[p]);

          ck_assert_str_eq (split->piece_names[p], cleave_node_get_name (split->pieces[p]));
          g_string_append_printf (out, "%s%s %s", p == 0 ? "" : " ", split->piece_names[p], range);
        }
      return g_string_free (g_steal_pointer (&out), FALSE);
    }
  for (guint i = 0; i < cleave_split_report_get_n_not_split (report); i++)
    {
      const CleaveUnsplitNode *stay = cleave_split_report_get_not_split (report, i);

      if (strcmp (stay->name, node) == 0)
        return g_strdup_printf ("%s: %s", cleave_not_split_get_name (stay->reason), stay->message);
    }
  return NULL;
}
