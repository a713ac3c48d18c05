/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes random nodes of ops that combine the elements along one or several dimensions, such as
 * Softmax, ReduceSum and Einsum. */

#include "graphs.h"
#include "random-operands.h"

static gint64
random_axis (GRand *rand, const CleaveShape *shape)
{
  return g_rand_int_range (rand, -(gint32) shape->rank, (gint32) shape->rank);
}

static CleaveNode *
make_along_axis (CleaveGraph *graph, GRand *rand, const char *op)
{
  CleaveShape shape = random_shape (rand, 1);
  CleaveAxisAttrs attrs = { random_axis (rand, &shape) };

  return add_to_input (graph, op, random_element (rand, set_FLOAT), &shape, &attrs);
}

static CleaveNode *
make_reduction (CleaveGraph *graph, GRand *rand, const char *op)
{
  CleaveShape shape = random_shape (rand, 0);
  CleaveReduceAttrs attrs = { .keepdims = g_rand_boolean (rand),
                              .noop_with_empty_axes = g_rand_boolean (rand) };

  for (guint d = 0; d < shape.rank; d++)
    if (g_rand_int_range (rand, 0, 3) == 0)
      attrs.axes.v[attrs.axes.n++] = g_rand_boolean (rand) ? d : (gint64) d - shape.rank;
  if (!g_str_equal (op, "ReduceSum"))
    attrs.noop_with_empty_axes = FALSE;
  return add_to_input (graph, op, random_element (rand, set_NUMBER), &shape, &attrs);
}

static CleaveNode *
make_arg (CleaveGraph *graph, GRand *rand, const char *op)
{
  CleaveShape shape = random_shape (rand, 1);
  CleaveArgAttrs attrs = { random_axis (rand, &shape), g_rand_boolean (rand),
                           g_rand_boolean (rand) };

  return add_to_input (graph, op, random_element (rand, set_NUMBER), &shape, &attrs);
}

static CleaveNode *
make_topk (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = random_shape (rand, 1);
  gint64 axis = random_axis (rand, &shape), n = shape.dim[axis < 0 ? axis + shape.rank : axis];
  CleaveTopkAttrs attrs = { g_rand_int_range (rand, 0, (gint32) n) + 1, axis, g_rand_boolean (rand),
                            g_rand_boolean (rand) };
  CleaveResult *x = add_input (graph, random_element (rand, set_NUMBER), &shape);

  return add (graph, "TopK", &x, 1, 2, &attrs);
}

static CleaveNode *
make_cumsum (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = random_shape (rand, 1);
  CleaveCumsumAttrs attrs = { random_axis (rand, &shape), g_rand_boolean (rand),
                              g_rand_boolean (rand) };

  return add_to_input (graph, "CumSum", random_element (rand, set_NUMBER), &shape, &attrs);
}

static CleaveNode *
make_layer_norm (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = random_shape (rand, 1), own = { 0 };
  CleaveElement element = random_element (rand, set_FLOAT);
  gint64 axis = g_rand_int_range (rand, 0, (gint32) shape.rank);
  CleaveLayerNormAttrs attrs = { .axis = axis, .epsilon = 1e-5 };
  CleaveResult *operands[3] = { add_input (graph, element, &shape) };
  guint n = (guint) g_rand_int_range (rand, 2, 4);

  for (guint d = (guint) axis; d < shape.rank; d++)
    own.dim[own.rank++] = shape.dim[d];
  for (guint k = 1; k < n; k++)
    {
      CleaveShape part = random_part (rand, &own);

      operands[k] = add_input (graph, element, &part);
    }
  return add (graph, "LayerNormalization", operands, n, (guint) g_rand_int_range (rand, 1, 4),
              &attrs);
}

static CleaveNode *
make_lp_norm (CleaveGraph *graph, GRand *rand)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT64, CLEAVE_FLOAT16 };
  CleaveShape shape = random_shape (rand, 1);
  CleaveLpNormAttrs attrs = { g_rand_int_range (rand, 0, (gint32) shape.rank),
                              g_rand_int_range (rand, 1, 3) };

  return add_to_input (graph, "LpNormalization", elements[g_rand_int_range (rand, 0, 3)], &shape,
                       &attrs);
}

static CleaveNode *
make_mvn (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = random_shape (rand, 1);
  CleaveAxesAttrs attrs = { { 0 } };

  for (guint d = 0; d < shape.rank; d++)
    if (g_rand_boolean (rand))
      attrs.axes.v[attrs.axes.n++] = g_rand_boolean (rand) ? d : (gint64) d - shape.rank;
  if (attrs.axes.n == 0 && shape.rank < 4)
    attrs.axes = CLEAVE_INTS (-1);
  return add_to_input (graph, "MeanVarianceNormalization", random_element (rand, set_FLOAT), &shape,
                       &attrs);
}

static CleaveNode *
make_det (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = random_shape (rand, 2);

  shape.dim[shape.rank - 1] = shape.dim[shape.rank - 2] = g_rand_int_range (rand, 1, 5);
  return add_to_input (graph, "Det", random_element (rand, set_FLOAT), &shape, NULL);
}

/* The labels of an Einsum: five labels with an extent each, and an ellipsis of up to two
 * dimensions. An operand may have a label twice, and an extent of 1 where it broadcasts. */
typedef struct
{
  gint64 extent[7];
  GString *equation;
  gboolean seen[5];
} RandomEquation;

static CleaveResult *
add_einsum_operand (CleaveGraph *graph, GRand *rand, CleaveElement element, RandomEquation *e)
{
  CleaveShape shape = { 0 };
  guint n = (guint) g_rand_int_range (rand, 0, 4);

  for (guint d = 0; d < n; d++)
    {
      guint label = (guint) g_rand_int_range (rand, 0, 5);

      e->seen[label] = TRUE;
      g_string_append_c (e->equation, (char) ('a' + label));
      shape.dim[shape.rank++] = g_rand_int_range (rand, 0, 8) == 0 ? 1 : e->extent[label];
    }
  if (g_rand_boolean (rand))
    {
      guint n_ellipsis = (guint) g_rand_int_range (rand, 0, 3);

      g_string_append (e->equation, "...");
      for (guint i = n_ellipsis; i-- > 0;)
        shape.dim[shape.rank++] = g_rand_int_range (rand, 0, 4) == 0 ? 1 : e->extent[5 + i];
    }
  return add_input (graph, element, &shape);
}

static CleaveNode *
make_einsum (CleaveGraph *graph, GRand *rand)
{
  RandomEquation e = { .equation = g_string_new (NULL) };
  CleaveElement element = random_element (rand, set_NUMBER);
  guint n = (guint) g_rand_int_range (rand, 1, 4), order = (guint) g_rand_int_range (rand, 0, 5);
  CleaveResult *operands[3], *y;

  for (guint l = 0; l < G_N_ELEMENTS (e.extent); l++)
    e.extent[l] = g_rand_int_range (rand, 1, 5);
  for (guint k = 0; k < n; k++)
    {
      g_string_append (e.equation, k == 0 ? "" : ", ");
      operands[k] = add_einsum_operand (graph, rand, element, &e);
    }
  if (g_rand_int_range (rand, 0, 4) > 0)
    {
      g_string_append (e.equation, g_rand_int_range (rand, 0, 3) > 0 ? "->..." : "->");
      for (guint l = 0; l < 5; l++)
        if (e.seen[(l + order) % 5] && g_rand_int_range (rand, 0, 3) > 0)
          g_string_append_c (e.equation, (char) ('a' + (l + order) % 5));
    }
  y = cleave_test_add (graph, "Einsum", NULL, operands, n,
                       &(CleaveEinsumAttrs){ (char *) e.equation->str }, NULL);
  g_string_free (e.equation, TRUE);
  return y == NULL ? NULL : cleave_result_get_node (y);
}

static CleaveNode *
make_lrn (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = random_shape (rand, 2);
  CleaveLrnAttrs attrs = { .layout =
                               g_rand_boolean (rand) ? CLEAVE_LAYOUT_NCHW : CLEAVE_LAYOUT_NHWC,
                           .alpha = g_rand_double (rand),
                           .beta = 0.75,
                           .bias = 1,
                           .size = g_rand_int_range (rand, 1, 6) };

  return add_to_input (graph, "LRN", random_element (rand, set_FLOAT), &shape, &attrs);
}

/* clang-format off */
#define ALONG_AXES(X)                                      \
  X (softmax, "Softmax", make_along_axis)                  \
  X (log_softmax, "LogSoftmax", make_along_axis)           \
  X (hardmax, "Hardmax", make_along_axis)                  \
  X (reduce_sum, "ReduceSum", make_reduction)              \
  X (reduce_mean, "ReduceMean", make_reduction)            \
  X (reduce_max, "ReduceMax", make_reduction)              \
  X (reduce_min, "ReduceMin", make_reduction)              \
  X (reduce_prod, "ReduceProd", make_reduction)            \
  X (reduce_l1, "ReduceL1", make_reduction)                \
  X (reduce_sum_square, "ReduceSumSquare", make_reduction) \
  X (reduce_l2, "ReduceL2", make_reduction)                \
  X (reduce_log_sum, "ReduceLogSum", make_reduction)       \
  X (reduce_log_sum_exp, "ReduceLogSumExp", make_reduction)\
  X (arg_max, "ArgMax", make_arg)                          \
  X (arg_min, "ArgMin", make_arg)

#define X(word, name, make)                                        \
  static CleaveNode *make_##word (CleaveGraph *graph, GRand *rand) \
  {                                                                \
    return make (graph, rand, name);                               \
  }
ALONG_AXES (X)
#undef X

const CleaveRandomOp cleave_random_ops_axes[] = {
#define X(word, name, make) { name, make_##word },
ALONG_AXES (X)
#undef X
  { "TopK", make_topk },
  { "CumSum", make_cumsum },
  { "LayerNormalization", make_layer_norm },
  { "LpNormalization", make_lp_norm },
  { "LRN", make_lrn },
  { "MeanVarianceNormalization", make_mvn },
  { "Det", make_det },
  { "Einsum", make_einsum },
  { NULL, NULL },
};
/* clang-format on */
