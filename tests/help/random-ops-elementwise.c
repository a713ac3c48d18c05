/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes random nodes of element-wise ops, and of ops along axes such as Softmax and ReduceSum. For
 * an op of elementwise.def, macros choose the function by the kind of the op, such as
 * make_BINARY(), and the element types.
 *
 * Over 400 lines: each op has a function of its own. */

#include "../../lib/ops/elementwise-math.h"
#include "graphs.h"
#include "random-ops.h"

/* The macros below are the sets of element types that elementwise.def names. */

#define FLOATS CLEAVE_FLOAT32, CLEAVE_FLOAT64, CLEAVE_FLOAT16, CLEAVE_BFLOAT16
#define SIGNED_WHOLES CLEAVE_INT8, CLEAVE_INT16, CLEAVE_INT32, CLEAVE_INT64
#define SIGNEDS FLOATS, SIGNED_WHOLES
#define UNSIGNEDS CLEAVE_UINT8, CLEAVE_UINT16, CLEAVE_UINT32, CLEAVE_UINT64

static const CleaveElement set_FLOAT[] = { FLOATS, CLEAVE_NONE };
static const CleaveElement set_SIGNED[] = { SIGNEDS, CLEAVE_NONE };
static const CleaveElement set_UNSIGNED[] = { UNSIGNEDS, CLEAVE_NONE };
static const CleaveElement set_WHOLE[] = { SIGNED_WHOLES, UNSIGNEDS, CLEAVE_NONE };
static const CleaveElement set_NUMBER[] = { SIGNEDS, UNSIGNEDS, CLEAVE_NONE };
static const CleaveElement set_BOOL[] = { CLEAVE_BOOL, CLEAVE_NONE };
static const CleaveElement set_ANY[] = { SIGNEDS, UNSIGNEDS, CLEAVE_BOOL, CLEAVE_NONE };

/* Returns an element type of the set. About every second result is the first type of the set, such
 * as float32. */
static CleaveElement
random_element (GRand *rand, const CleaveElement *set)
{
  gint32 n = 0;

  while (set[n] != CLEAVE_NONE)
    n++;
  return g_rand_boolean (rand) ? set[0] : set[g_rand_int_range (rand, 0, n)];
}

/* Returns a small shape of any rank. At times, the last dimension of a shape of rank 1 or 2 has
 * more elements than kernels process at once. */
static CleaveShape
random_shape (GRand *rand, guint min_rank)
{
  CleaveShape shape = { .rank = (guint) g_rand_int_range (rand, (gint32) min_rank, 6) };

  for (guint d = 0; d < shape.rank; d++)
    shape.dim[d] = g_rand_int_range (rand, 1, 6);
  if (shape.rank > 0 && shape.rank < 3 && g_rand_int_range (rand, 0, 4) == 0)
    shape.dim[shape.rank - 1] = g_rand_int_range (rand, 200, 600);
  return shape;
}

/* Returns a shape that broadcasts to `shape`. */
static CleaveShape
random_part (GRand *rand, const CleaveShape *shape)
{
  guint missing = g_rand_int_range (rand, 0, 3) > 0
                      ? 0
                      : (guint) g_rand_int_range (rand, 0, (gint32) shape->rank + 1);
  CleaveShape part = { .rank = shape->rank - missing };

  for (guint d = 0; d < part.rank; d++)
    part.dim[d] = g_rand_int_range (rand, 0, 4) == 0 ? 1 : shape->dim[missing + d];
  return part;
}

static CleaveResult *
add_input (CleaveGraph *graph, CleaveElement element, const CleaveShape *shape)
{
  g_autofree char *name = g_strdup_printf ("x%u", cleave_graph_get_n_inputs (graph));

  return cleave_graph_add_input (graph, name, &(CleaveTensorType){ element, *shape }, NULL);
}

static CleaveNode *
add (CleaveGraph *graph,
     const char *op,
     CleaveResult *const *operands,
     guint n_operands,
     guint n_results,
     gconstpointer attrs)
{
  return cleave_graph_add (graph, cleave_op_lookup (op), NULL, operands, n_operands, n_results,
                           attrs, NULL);
}

/* Adds an input, and an op whose only operand is the input. */
static CleaveNode *
add_to_input (CleaveGraph *graph,
              const char *op,
              CleaveElement element,
              const CleaveShape *shape,
              gconstpointer attrs)
{
  CleaveResult *x = add_input (graph, element, shape);

  return add (graph, op, &x, 1, 1, attrs);
}

/* Attributes of the ops of elementwise.def. */

typedef union
{
  CleaveElementwiseAttrs numbers;
  CleaveClipAttrs clip;
  CleaveIsInfAttrs is_inf;
  CleaveShrinkAttrs shrink;
  CleaveModAttrs mod;
  CleaveBitShiftAttrs shift;
} Attrs;

typedef gconstpointer (*MakeAttrs) (GRand *rand, Attrs *attrs);

static gconstpointer
attrs_CleaveNoAttrs (GRand *rand, Attrs *attrs)
{
  return NULL;
}

#define attrs_CleaveFold attrs_CleaveNoAttrs

static gconstpointer
attrs_CleaveElementwiseAttrs (GRand *rand, Attrs *attrs)
{
  attrs->numbers =
      (CleaveElementwiseAttrs){ g_rand_double (rand), g_rand_double (rand), g_rand_double (rand) };
  return g_rand_boolean (rand) ? attrs : NULL;
}

static gconstpointer
attrs_CleaveClipAttrs (GRand *rand, Attrs *attrs)
{
  attrs->clip =
      (CleaveClipAttrs){ g_rand_double_range (rand, -2, 1), g_rand_double_range (rand, 0, 100) };
  return g_rand_boolean (rand) ? attrs : NULL;
}

static gconstpointer
attrs_CleaveIsInfAttrs (GRand *rand, Attrs *attrs)
{
  attrs->is_inf = (CleaveIsInfAttrs){ g_rand_boolean (rand), g_rand_boolean (rand) };
  return attrs;
}

static gconstpointer
attrs_CleaveShrinkAttrs (GRand *rand, Attrs *attrs)
{
  attrs->shrink = (CleaveShrinkAttrs){ g_rand_double_range (rand, -1, 3), g_rand_double (rand) };
  return g_rand_boolean (rand) ? attrs : NULL;
}

static gconstpointer
attrs_CleaveModAttrs (GRand *rand, Attrs *attrs)
{
  attrs->mod = (CleaveModAttrs){ g_rand_boolean (rand) };
  return attrs;
}

static gconstpointer
attrs_CleaveBitShiftAttrs (GRand *rand, Attrs *attrs)
{
  attrs->shift =
      (CleaveBitShiftAttrs){ g_rand_boolean (rand) ? CLEAVE_SHIFT_LEFT : CLEAVE_SHIFT_RIGHT };
  return attrs;
}

static CleaveNode *
make_UNARY (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0);
  Attrs attrs;

  return add_to_input (graph, op, random_element (rand, set), &shape, make_attrs (rand, &attrs));
}

#define make_TEST make_UNARY

/* Adds an op with two operands. One or both operands may be broadcast, or both may be the same
 * value. */
static CleaveNode *
make_BINARY (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0), a = random_part (rand, &shape),
              b = random_part (rand, &shape);
  CleaveElement element = random_element (rand, set);
  CleaveResult *operands[2] = { add_input (graph, element, &a) };
  Attrs attrs;

  operands[1] = g_rand_int_range (rand, 0, 8) == 0 ? operands[0] : add_input (graph, element, &b);
  return add (graph, op, operands, 2, 1, make_attrs (rand, &attrs));
}

#define make_COMPARE make_BINARY

static CleaveNode *
make_SLOPE (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0), slope = random_part (rand, &shape);
  CleaveElement element = random_element (rand, set);
  CleaveResult *operands[] = { add_input (graph, element, &shape),
                               add_input (graph, element, &slope) };

  return add (graph, op, operands, 2, 1, NULL);
}

static CleaveNode *
make_POWER (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0), a = random_part (rand, &shape),
              b = random_part (rand, &shape);
  CleaveResult *x = add_input (graph, random_element (rand, set), &a);
  CleaveResult *y = add_input (graph, random_element (rand, set), &b);

  return add (graph, op, (CleaveResult *[]){ x, y }, 2, 1, NULL);
}

static CleaveNode *
make_REMAINDER (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0), a = random_part (rand, &shape),
              b = random_part (rand, &shape);
  CleaveElement element = random_element (rand, set);
  CleaveModAttrs attrs = { cleave_element_is_float (element) || g_rand_boolean (rand) };
  CleaveResult *x = add_input (graph, element, &a), *y = add_input (graph, element, &b);

  return add (graph, op, (CleaveResult *[]){ x, y }, 2, 1, &attrs);
}

static CleaveNode *
make_FOLD (
    CleaveGraph *graph, GRand *rand, const char *op, const CleaveElement *set, MakeAttrs make_attrs)
{
  CleaveShape shape = random_shape (rand, 0);
  CleaveElement element = random_element (rand, set);
  guint n = (guint) g_rand_int_range (rand, 1, 5);
  CleaveResult *operands[4];

  for (guint k = 0; k < n; k++)
    {
      CleaveShape part = random_part (rand, &shape);

      operands[k] = add_input (graph, element, &part);
    }
  return add (graph, op, operands, n, 1, NULL);
}

/* clang-format off */
#define X(kind, word, name, elements, flag, P, table, formula)                                     \
  static CleaveNode *make_##word (CleaveGraph *graph, GRand *rand)                                 \
  {                                                                                                \
    return make_##kind (graph, rand, name, set_##elements, attrs_##P);                             \
  }
#include "../../lib/ops/elementwise.def"
#undef X
/* clang-format on */

/* The functions below add the element-wise ops that elementwise.def does not list. */

static CleaveNode *
make_where (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = random_shape (rand, 0);
  CleaveElement element = random_element (rand, set_ANY);
  CleaveShape c = random_part (rand, &shape), x = random_part (rand, &shape),
              y = random_part (rand, &shape);
  CleaveResult *operands[] = { add_input (graph, CLEAVE_BOOL, &c), add_input (graph, element, &x),
                               add_input (graph, element, &y) };

  return add (graph, "Where", operands, 3, 1, NULL);
}

static CleaveNode *
make_cast (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = random_shape (rand, 0);
  CleaveCastAttrs attrs = { random_element (rand, set_ANY) };

  return add_to_input (graph, "Cast", random_element (rand, set_ANY), &shape, &attrs);
}

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
#define OTHERS(X)                                            \
  X (softmax, "Softmax", make_along_axis)                    \
  X (log_softmax, "LogSoftmax", make_along_axis)             \
  X (hardmax, "Hardmax", make_along_axis)                    \
  X (reduce_sum, "ReduceSum", make_reduction)                \
  X (reduce_mean, "ReduceMean", make_reduction)              \
  X (reduce_max, "ReduceMax", make_reduction)                \
  X (reduce_min, "ReduceMin", make_reduction)                \
  X (reduce_prod, "ReduceProd", make_reduction)              \
  X (reduce_l1, "ReduceL1", make_reduction)                  \
  X (reduce_sum_square, "ReduceSumSquare", make_reduction)   \
  X (reduce_l2, "ReduceL2", make_reduction)                  \
  X (reduce_log_sum, "ReduceLogSum", make_reduction)         \
  X (reduce_log_sum_exp, "ReduceLogSumExp", make_reduction)  \
  X (arg_max, "ArgMax", make_arg)                            \
  X (arg_min, "ArgMin", make_arg)

#define X(word, name, make)                                       \
  static CleaveNode *make_##word (CleaveGraph *graph, GRand *rand) \
  {                                                               \
    return make (graph, rand, name);                              \
  }
OTHERS (X)
#undef X

const CleaveRandomOp cleave_random_ops_elementwise[] = {
#define X(kind, word, name, elements, flag, P, table, formula) { name, make_##word },
#include "../../lib/ops/elementwise.def"
#undef X
#define X(word, name, make) { name, make_##word },
OTHERS (X)
#undef X
  { "Where", make_where },
  { "Cast", make_cast },
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
