/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random graphs whose values share memory. A graph grows by nodes that read random earlier values.
 */

#include "random-graph.h"

#include "dump.h"
#include "graphs.h"

typedef struct
{
  CleaveGraph *graph;
  GRand *rand;
  GPtrArray *values; /* array of CleaveResult: the float32 values that later nodes may read */
} Growing;

static guint
draw (Growing *g, guint n)
{
  return (guint) g_rand_int_range (g->rand, 0, (gint32) n);
}

/* Returns a value, often a recent one, so that the graph gets deep. */
static CleaveResult *
pick (Growing *g)
{
  guint n = g->values->len;

  return g->values->pdata[draw (g, 2) == 0 ? draw (g, n) : n - 1 - draw (g, MIN (n, 4))];
}

static const CleaveShape *
shape_of (const CleaveResult *value)
{
  return &cleave_result_get_type (value)->shape;
}

/* Returns another value whose extents equal the extents of `value` except in dimension `axis`.
 * Returns `value` if there is none. */
static CleaveResult *
pick_like (Growing *g, CleaveResult *value, guint axis)
{
  for (guint try = 0; try < 12; try++)
    {
      CleaveResult *other = pick (g);
      CleaveShape shape = *shape_of (other);

      if (shape.rank != shape_of (value)->rank)
        continue;
      if (axis < shape.rank)
        shape.dim[axis] = shape_of (value)->dim[axis];
      if (cleave_shape_equal (&shape, shape_of (value)))
        return other;
    }
  return value;
}

/* Adds a node; does nothing if the op refuses the operands. */
static void
add (Growing *g,
     const char *op,
     CleaveResult **operands,
     guint n,
     guint n_results,
     gconstpointer attrs)
{
  CleaveNode *node =
      cleave_graph_add (g->graph, cleave_op_lookup (op), NULL, operands, n, n_results, attrs, NULL);

  for (guint r = 0; node != NULL && r < n_results; r++)
    g_ptr_array_add (g->values, cleave_node_get_result (node, r));
}

static void
grow_unary (Growing *g)
{
  static const char *const ops[] = { "Relu", "Neg", "Abs", "Floor", "Identity" };
  CleaveResult *x = pick (g);

  add (g, ops[draw (g, G_N_ELEMENTS (ops))], &x, 1, 1, NULL);
}

static void
grow_binary (Growing *g)
{
  static const char *const ops[] = { "Add", "Mul", "Sub", "Max" };
  CleaveResult *a = pick (g);
  CleaveResult *operands[] = { a, draw (g, 4) == 0 ? pick (g) : pick_like (g, a, CLEAVE_MAX_RANK) };

  add (g, ops[draw (g, G_N_ELEMENTS (ops))], operands, 2, 1, NULL);
}

static void
grow_concat (Growing *g)
{
  CleaveResult *operands[4] = { pick (g) };
  guint rank = shape_of (operands[0])->rank, n = 1 + draw (g, 4);
  CleaveAxisAttrs attrs = { .axis = rank == 0 ? 0 : draw (g, rank) };

  for (guint i = 1; i < n; i++)
    operands[i] = pick_like (g, operands[0], (guint) attrs.axis);
  if (cleave_shape_n_elements (shape_of (operands[0])) < 5000)
    add (g, "Concat", operands, n, 1, &attrs);
}

static CleaveRange
draw_range (Growing *g, const CleaveShape *shape)
{
  CleaveRange range = { .rank = shape->rank };

  for (guint d = 0; d < shape->rank; d++)
    {
      gint64 begin = draw (g, (guint) shape->dim[d]);

      range.dim[d] = (CleaveSpan){ begin, begin + 1 + draw (g, (guint) (shape->dim[d] - begin)) };
    }
  return range;
}

static void
grow_slice (Growing *g)
{
  CleaveResult *x = pick (g);
  CleaveRange range = draw_range (g, shape_of (x));
  CleaveSliceAttrs attrs = { 0 };

  attrs.starts.n = attrs.ends.n = attrs.steps.n = attrs.axes.n = range.rank;
  for (guint d = 0; d < range.rank; d++)
    {
      attrs.axes.v[d] = d;
      attrs.starts.v[d] = range.dim[d].begin;
      attrs.ends.v[d] = range.dim[d].end;
      attrs.steps.v[d] = 1 + draw (g, 4) / 3;
    }
  add (g, "Slice", &x, 1, 1, &attrs);
}

static void
grow_split (Growing *g)
{
  CleaveResult *x = pick (g);
  guint rank = shape_of (x)->rank, axis = rank == 0 ? 0 : draw (g, rank);
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  CleaveSplitAttrs attrs = { .axis = axis, .sizes = sizes };
  gint64 first;

  if (rank == 0 || shape_of (x)->dim[axis] < 2)
    return;
  first = 1 + draw (g, (guint) shape_of (x)->dim[axis] - 1);
  g_array_append_val (sizes, first);
  first = shape_of (x)->dim[axis] - first;
  g_array_append_val (sizes, first);
  add (g, "Split", &x, 1, 2, &attrs);
}

static void
grow_transpose (Growing *g)
{
  CleaveResult *x = pick (g);
  CleaveTransposeAttrs attrs = { .perm.n = shape_of (x)->rank };

  for (guint d = 0; d < attrs.perm.n; d++)
    {
      guint at = draw (g, d + 1);

      attrs.perm.v[d] = attrs.perm.v[at];
      attrs.perm.v[at] = d;
    }
  add (g, "Transpose", &x, 1, 1, &attrs);
}

/* Adds a Reshape that merges two adjacent dimensions, or divides a dimension into two. */
static void
grow_reshape (Growing *g)
{
  CleaveResult *x = pick (g);
  const CleaveShape *shape = shape_of (x);
  guint at = shape->rank == 0 ? 0 : draw (g, shape->rank), n = 0;
  gboolean join = draw (g, 2) == 0;
  CleaveReshapeAttrs attrs = { 0 };

  for (guint d = 0; d < shape->rank; d++)
    if (join && d == at && d + 1 < shape->rank)
      {
        attrs.shape.v[n++] = shape->dim[d] * shape->dim[d + 1];
        d++;
      }
    else if (!join && d == at && shape->rank < 5)
      {
        gint64 factor = shape->dim[d] % 3 == 0 ? 3 : shape->dim[d] % 2 == 0 ? 2 : 1;

        attrs.shape.v[n++] = factor;
        attrs.shape.v[n++] = shape->dim[d] / factor;
      }
    else
      attrs.shape.v[n++] = shape->dim[d];
  attrs.shape.n = n;
  add (g, "Reshape", &x, 1, 1, &attrs);
}

static CleaveResult *
add_weights (Growing *g, CleaveShape shape)
{
  CleaveTensorType type = { CLEAVE_FLOAT32, shape };
  g_autoptr (CleaveTensor) value = cleave_random_tensor (&type, g_rand_int (g->rand), FALSE);

  return cleave_graph_add_constant (g->graph, NULL, value);
}

static void
grow_conv (Growing *g)
{
  CleaveResult *x = pick (g);
  CleaveConvAttrs attrs = { .layout = draw (g, 4) == 0 ? CLEAVE_LAYOUT_NHWC : CLEAVE_LAYOUT_NCHW,
                            .pads = CLEAVE_INTS (1, 0, 1, 0) };
  const CleaveShape *shape = shape_of (x);
  CleaveResult *operands[2] = { x };
  gboolean by_winograd = draw (g, 3) == 0;
  gint64 channels;

  if (shape->rank != 4)
    return;
  channels = shape->dim[attrs.layout == CLEAVE_LAYOUT_NHWC ? 3 : 1];
  attrs.group = draw (g, 3) == 0 ? channels : 1;
  if (by_winograd)
    {
      attrs.pads = CLEAVE_INTS (1, 1, 1, 1);
      attrs.winograd = (CleaveInts){ 2, { 0, 0 } };
    }
  operands[1] =
      add_weights (g, CLEAVE_SHAPE (attrs.group == 1 ? 1 + draw (g, 6) : channels,
                                    attrs.group == 1 ? channels : 1, 3, by_winograd ? 3 : 1));
  add (g, "Conv", operands, 2, 1, &attrs);
}

static void
grow_matmul (Growing *g)
{
  CleaveResult *x = pick (g);
  const CleaveShape *shape = shape_of (x);
  CleaveResult *operands[2] = { x };

  if (shape->rank < 2)
    return;
  operands[1] = add_weights (g, CLEAVE_SHAPE (shape->dim[shape->rank - 1], 1 + draw (g, 6)));
  add (g, "MatMul", operands, 2, 1, NULL);
}

/* Adds Slices of one value, a node on each, and an Assemble of the results. Some Slices overlap. */
static void
grow_assemble (Growing *g)
{
  CleaveResult *x = pick (g), *parts[3];
  guint rank = shape_of (x)->rank, axis = rank == 0 ? 0 : draw (g, rank), n = 2 + draw (g, 2);
  gint64 extent = rank == 0 ? 0 : shape_of (x)->dim[axis];
  CleaveRange ranges[3];
  guint overlap = draw (g, 3) == 0;

  if (extent < 6)
    return;
  for (guint i = 0; i < n; i++)
    {
      ranges[i] = cleave_range_whole (shape_of (x));
      ranges[i].dim[axis] =
          (CleaveSpan){ extent * i / n,
                        MIN (extent, extent * (i + 1) / n + overlap * (1 + draw (g, 2))) };
      parts[i] = cleave_graph_add_slice_range (g->graph, NULL, x, &ranges[i], NULL);
      parts[i] = cleave_graph_add_unary (g->graph, "Neg", NULL, parts[i], NULL, NULL);
      if (draw (g, 4) == 0)
        g_ptr_array_add (g->values, parts[i]);
    }
  x = cleave_graph_add_assemble (g->graph, NULL, parts, ranges, n, NULL);
  g_assert (x != NULL);
  g_ptr_array_add (g->values, x);
}

/* Adds a TopK. A Relu reads its values and a Neg its indices, so that both may run in place. The
 * result of the Neg is an output. */
static void
grow_topk (Growing *g)
{
  CleaveResult *x = pick (g);
  guint rank = shape_of (x)->rank, axis = rank == 0 ? 0 : draw (g, rank);
  CleaveTopkAttrs attrs = { .axis = axis, .largest = TRUE, .sorted = TRUE };
  g_autofree char *name = g_strdup_printf ("i%u", g->values->len);
  CleaveResult *indices;
  CleaveNode *node;

  if (rank == 0)
    return;
  attrs.k = 1 + draw (g, (guint) shape_of (x)->dim[axis]);
  node = cleave_graph_add (g->graph, cleave_op_lookup ("TopK"), NULL, &x, 1, 2, &attrs, NULL);
  x = cleave_node_get_result (node, 0);
  g_ptr_array_add (g->values, cleave_graph_add_unary (g->graph, "Relu", NULL, x, NULL, NULL));
  indices = cleave_node_get_result (node, 1);
  indices = cleave_graph_add_unary (g->graph, "Neg", NULL, indices, NULL, NULL);
  cleave_graph_add_output (g->graph, name, indices, NULL);
}

static void
add_inputs (Growing *g)
{
  static const CleaveShape shapes[] = {
    { 4, { 1, 4, 6, 6 } }, { 4, { 2, 3, 6, 4 } }, { 2, { 6, 8 } }, { 4, { 1, 4, 6, 6 } }
  };
  guint n = 1 + draw (g, G_N_ELEMENTS (shapes));

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("x%u", i);
      CleaveTensorType type = { CLEAVE_FLOAT32, shapes[i] };

      g_ptr_array_add (g->values, cleave_graph_add_input (g->graph, name, &type, NULL));
    }
  g_ptr_array_add (g->values, add_weights (g, shapes[draw (g, 3)]));
}

/* Makes each value without a reader an output, and at times other values too. */
static void
add_outputs (Growing *g)
{
  for (guint i = 0; i < g->values->len; i++)
    {
      g_autofree char *name = g_strdup_printf ("y%u", i);
      CleaveResult *value = g->values->pdata[i];

      if (cleave_result_get_n_uses (value) == 0 ? draw (g, 8) != 0 : draw (g, 12) == 0)
        cleave_graph_add_output (g->graph, name, value, NULL);
    }
}

CleaveGraph *
random_graph (guint32 seed, guint n_nodes)
{
  static void (*const grow[]) (Growing *) = {
    grow_unary,  grow_unary, grow_binary, grow_binary,    grow_concat,
    grow_concat, grow_slice, grow_split,  grow_transpose, grow_reshape,
    grow_conv,   grow_conv,  grow_matmul, grow_assemble,  grow_topk,
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  Growing g = { cleave_graph_new (NULL), rand, values };

  add_inputs (&g);
  for (guint try = 0; try < 4 * n_nodes && cleave_graph_get_n_nodes (g.graph) < n_nodes; try++)
    grow[draw (&g, G_N_ELEMENTS (grow))](&g);
  add_outputs (&g);
  return g.graph;
}

CleaveGraph *
random_split_graph (guint32 seed)
{
  static const char *const pipelines[] = { "clean-up", "split{all dims=0 num-chunks=2},clean-up",
                                           "split{all dims=-1 num-chunks=3}",
                                           "split-for-threads{threads=4},clean-up" };
  CleaveGraph *graph = seed % 2 == 0 ? random_graph (seed, 25) : cleave_random_graph (seed, 25);
  g_autoptr (CleavePipeline) pipeline =
      cleave_pipeline_parse (pipelines[seed / 2 % G_N_ELEMENTS (pipelines)], NULL);

  cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL);
  return graph;
}
