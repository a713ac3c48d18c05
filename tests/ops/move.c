/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops that move data, run by programs: as views, in place, and in other memory orders. */

#include "graphs.h"
#include "interpret.h"
#include "random-ops.h"
#include "run-help.h"

#include <string.h>

#define N_SEEDS CLEAVE_TRIALS (12)

/* Runs a random node of the op. In every second graph another node reads the result, so that a
 * program may place the result anywhere. In the other graphs, the result is an output. */
static void
run_one (const CleaveRandomOp *op, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (CleaveGraph) graph = cleave_graph_new (op->op);
  CleaveNode *node = op->make (graph, rand);

  for (guint r = 0; r < cleave_node_get_n_results (node); r++)
    {
      CleaveResult *y = cleave_node_get_result (node, r);

      if (seed % 2 == 0 && cleave_result_get_type (y)->element == CLEAVE_FLOAT32)
        y = run_unary (graph, "Relu", y);
      run_output (graph, y);
    }
  run_assert_same (graph, seed);
}

START_TEST (programs_move_data_as_the_interpreter_does)
{
  const CleaveRandomOp *const lists[] = { cleave_random_ops_move, cleave_random_ops_index };

  for (guint l = 0; l < G_N_ELEMENTS (lists); l++)
    for (const CleaveRandomOp *op = lists[l]; op->op != NULL; op++)
      for (guint32 seed = 0; seed < N_SEEDS; seed++)
        run_one (op, seed);
}
END_TEST

/* A function that adds an op to x. A test tries each function with every element type and every
 * rank. The test exports the model, imports it, runs it and exports it again. Each element must
 * keep its bits. */

typedef CleaveResult *(*Build) (CleaveGraph *graph, CleaveResult *x);

static guint
rank_of (const CleaveResult *x)
{
  return cleave_result_get_type (x)->shape.rank;
}

static gint64
extent (const CleaveResult *x, guint d)
{
  return cleave_result_get_type (x)->shape.dim[d];
}

/* Adds a Split, and a Concat of the two results in reverse order. If the Split returned its results
 * in the wrong order, the test would fail. */
static CleaveResult *
build_split (CleaveGraph *graph, CleaveResult *x)
{
  guint axis = rank_of (x) - 1;
  const gint64 sizes[] = { 1, extent (x, axis) - 1 };
  CleaveNode *node = cleave_graph_add_split (graph, "s", x, axis, sizes, 2, NULL);
  CleaveResult *turned[] = { cleave_node_get_result (node, 1), cleave_node_get_result (node, 0) };

  return cleave_graph_add_concat (graph, "c", turned, 2, axis, NULL);
}

static CleaveResult *
build_slice (CleaveGraph *graph, CleaveResult *x)
{
  CleaveSliceAttrs a = { .starts = CLEAVE_INTS (-1),
                         .ends = CLEAVE_INTS (-9),
                         .axes = CLEAVE_INTS (0),
                         .steps = CLEAVE_INTS (-1) };

  return cleave_graph_add_slice (graph, "s", x, &a, NULL);
}

static CleaveResult *
build_concat (CleaveGraph *graph, CleaveResult *x)
{
  CleaveResult *twice[] = { x, x };

  return cleave_graph_add_concat (graph, "c", twice, 2, 0, NULL);
}

static CleaveResult *
build_assemble (CleaveGraph *graph, CleaveResult *x)
{
  CleaveRange whole = cleave_range_whole (&cleave_result_get_type (x)->shape);
  CleaveRange ranges[] = { whole, whole };
  CleaveResult *parts[2];

  ranges[0].dim[0].end = ranges[1].dim[0].begin = 1;
  for (guint i = 0; i < 2; i++)
    parts[i] = cleave_graph_add_slice_range (graph, NULL, x, &ranges[i], NULL);
  return cleave_graph_add_assemble (graph, "a", parts, ranges, 2, NULL);
}

static CleaveResult *
build_identity (CleaveGraph *graph, CleaveResult *x)
{
  return cleave_node_get_result (
      cleave_graph_add (graph, cleave_op_lookup ("Identity"), "i", &x, 1, 1, NULL, NULL), 0);
}

static CleaveResult *
build_pad (CleaveGraph *graph, CleaveResult *x)
{
  CleavePadAttrs a = { .mode = CLEAVE_PAD_EDGE, .pads = { .n = 2 * rank_of (x) } };

  a.pads.v[0] = a.pads.v[a.pads.n - 1] = 1;
  return cleave_test_add (graph, "Pad", "p", (CleaveResult *[]){ x }, 1, &a, NULL);
}

static CleaveResult *
build_transpose (CleaveGraph *graph, CleaveResult *x)
{
  CleaveInts reversed = { .n = rank_of (x) };

  for (guint d = 0; d < reversed.n; d++)
    reversed.v[d] = reversed.n - 1 - d;
  return cleave_graph_add_transpose (graph, "t", x, &reversed, NULL);
}

static CleaveResult *
build_reshape (CleaveGraph *graph, CleaveResult *x)
{
  CleaveInts flat = CLEAVE_INTS (-1, 1);

  return cleave_graph_add_reshape (graph, "r", build_transpose (graph, x), &flat, NULL);
}

static CleaveResult *
build_flatten (CleaveGraph *graph, CleaveResult *x)
{
  return cleave_graph_add_flatten (graph, "f", x, 1, NULL);
}

static CleaveResult *
build_squeeze (CleaveGraph *graph, CleaveResult *x)
{
  CleaveInts axes = CLEAVE_INTS (0);
  CleaveRange first = cleave_range_whole (&cleave_result_get_type (x)->shape);

  first.dim[0].end = 1;
  x = cleave_graph_add_slice_range (graph, "s", x, &first, NULL);
  x = cleave_test_add (graph, "Squeeze", "q", (CleaveResult *[]){ x }, 1,
                       &(CleaveAxesAttrs){ axes }, NULL);
  return cleave_test_add (graph, "Unsqueeze", "u", (CleaveResult *[]){ x }, 1,
                          &(CleaveAxesAttrs){ axes }, NULL);
}

static CleaveResult *
build_expand (CleaveGraph *graph, CleaveResult *x)
{
  CleaveRange first = cleave_range_whole (&cleave_result_get_type (x)->shape);
  CleaveInts shape = { .n = first.rank };

  first.dim[0].end = 1;
  for (guint d = 0; d < first.rank; d++)
    shape.v[d] = extent (x, d);
  return cleave_test_add (
      graph, "Expand", "e",
      (CleaveResult *[]){ cleave_graph_add_slice_range (graph, "s", x, &first, NULL) }, 1,
      &(CleaveReshapeAttrs){ .shape = shape }, NULL);
}

static CleaveResult *
build_tile (CleaveGraph *graph, CleaveResult *x)
{
  CleaveTileAttrs a = { .repeats = { .n = rank_of (x) } };

  for (guint d = 0; d < a.repeats.n; d++)
    a.repeats.v[d] = d == 0 ? 2 : 1;
  return cleave_node_get_result (
      cleave_graph_add (graph, cleave_op_lookup ("Tile"), "t", &x, 1, 1, &a, NULL), 0);
}

static CleaveResult *
build_gather (CleaveGraph *graph, CleaveResult *x)
{
  static const gint64 turned[] = { 1, 0, -1 };
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, 3);
  g_autoptr (CleaveTensor) indices = cleave_tensor_new (&type, NULL);

  memcpy (cleave_tensor_get_mutable_data (indices), turned, sizeof turned);
  return cleave_test_add (graph, "Gather", "g",
                          (CleaveResult *[]){ x, cleave_graph_add_constant (graph, "n", indices) },
                          2, &(CleaveAxisAttrs){ rank_of (x) - 1 }, NULL);
}

static CleaveResult *
build_depth (CleaveGraph *graph, CleaveResult *x)
{
  CleaveInts shape = CLEAVE_INTS (1, 4, -1, 2);
  CleaveDepthAttrs a = { .blocksize = 2 };

  if (rank_of (x) != 4)
    return NULL;
  x = cleave_graph_add_reshape (graph, "r", x, &shape, NULL);
  x = cleave_test_add (graph, "DepthToSpace", "d", (CleaveResult *[]){ x }, 1, &a, NULL);
  return cleave_node_get_result (
      cleave_graph_add (graph, cleave_op_lookup ("SpaceToDepth"), "u", &x, 1, 1, &a, NULL), 0);
}

static const struct
{
  const char *name;
  Build build;
} movers[] = {
  { "Split", build_split },         { "Slice", build_slice },        { "Concat", build_concat },
  { "Assemble", build_assemble },   { "Identity", build_identity },  { "Pad", build_pad },
  { "Transpose", build_transpose }, { "Reshape", build_reshape },    { "Flatten", build_flatten },
  { "Squeeze", build_squeeze },     { "Expand", build_expand },      { "Tile", build_tile },
  { "Gather", build_gather },       { "DepthToSpace", build_depth },
};

static CleaveGraph *
make_mover (Build build, CleaveElement element, guint rank)
{
  CleaveGraph *graph = cleave_graph_new ("mover");
  CleaveTensorType type = { element, { rank, { 0 } } };
  CleaveResult *y;

  for (guint d = 0; d < rank; d++)
    type.shape.dim[d] = d == 0 || d + 1 == rank ? 3 : d % 2 == 0 ? 1 : 2;
  if (rank == 4)
    type.shape.dim[0] = 4;
  y = build (graph, cleave_graph_add_input (graph, "x", &type, NULL));
  if (y == NULL)
    g_clear_pointer (&graph, cleave_graph_unref);
  else
    cleave_graph_add_output (graph, "y", y, NULL);
  return graph;
}

static GPtrArray *
run_on (const CleaveGraph *graph, CleaveTensor *x)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();

  g_ptr_array_add (inputs, x);
  return run_graph (graph, inputs, 1);
}

static CleaveTensor *
new_input (const CleaveGraph *graph)
{
  return cleave_tensor_new (cleave_result_get_type (cleave_graph_get_input (graph, 0)), NULL);
}

/* Runs the op on the numbers 0, 1, 2, … and returns the outputs. Each element of an output is then
 * the index of its source. */
static GPtrArray *
find_sources (Build build, guint rank)
{
  g_autoptr (CleaveGraph) graph = make_mover (build, CLEAVE_INT64, rank);
  g_autoptr (CleaveTensor) x = new_input (graph);
  gint64 *numbers = cleave_tensor_get_mutable_data (x);

  for (gint64 i = 0; i < cleave_shape_n_elements (&cleave_tensor_get_type (x)->shape); i++)
    numbers[i] = i;
  return cleave_interpret (graph, &x);
}

/* Returns an input whose bytes any operation on floats would change: NaNs with payloads, -0, and
 * numbers with arbitrary bits. */
static CleaveTensor *
make_bits (const CleaveGraph *graph)
{
  CleaveTensor *x = new_input (graph);
  const CleaveTensorType *type = cleave_tensor_get_type (x);
  gint64 size = (gint64) cleave_element_size (type->element);
  guint8 *bytes = cleave_tensor_get_mutable_data (x);

  for (gint64 i = 0; i < cleave_tensor_type_n_bytes (type); i++)
    {
      gint64 element = i / size, byte = i % size;

      bytes[i] = (guint8) (i * 37 + 11);
      if (type->element == CLEAVE_BOOL)
        bytes[i] = element % 3 == 0;
      else if (element % 4 == 0) /* a NaN, which is a signaling NaN in some types */
        bytes[i] = byte == size - 1 ? 0x7f : byte == size - 2 ? 0xb1 : (guint8) (element + 1);
      else if (element % 4 == 1) /* -0 */
        bytes[i] = byte == size - 1 ? 0x80 : 0;
    }
  return x;
}

static void
check_bits (CleaveTensor *x, CleaveTensor *y, CleaveTensor *sources, const char *what)
{
  gsize size = cleave_element_size (cleave_tensor_get_type (x)->element);
  const guint8 *from = cleave_tensor_get_data (x), *to = cleave_tensor_get_data (y);
  const gint64 *at = cleave_tensor_get_data (sources);

  for (gint64 i = 0; i < cleave_shape_n_elements (&cleave_tensor_get_type (y)->shape); i++)
    ck_assert_msg (memcmp (to + (gsize) i * size, from + (gsize) at[i] * size, size) == 0,
                   "%s: element %d", what, (int) i);
}

static gboolean
check_mover (guint index, CleaveElement element, guint rank)
{
  g_autoptr (CleaveGraph) graph = make_mover (movers[index].build, element, rank);
  g_autofree char *what = g_strdup_printf ("%s of %s, rank %u", movers[index].name,
                                           cleave_element_get_name (element), rank);
  g_autoptr (GBytes) bytes = NULL, bytes_again = NULL;
  g_autoptr (CleaveGraph) again = NULL;
  g_autoptr (CleaveTensor) x = NULL;
  g_autoptr (GPtrArray) y = NULL, sources = NULL;
  g_autoptr (GError) error = NULL;

  if (graph == NULL)
    return FALSE;
  bytes = cleave_onnx_serialize (graph, &error);
  ck_assert_msg (bytes != NULL, "%s: %s", what, error == NULL ? "" : error->message);
  again = cleave_onnx_parse (bytes, NULL, NULL, &error);
  ck_assert_msg (again != NULL, "%s: %s", what, error == NULL ? "" : error->message);
  bytes_again = cleave_onnx_serialize (again, NULL);
  ck_assert_msg (g_bytes_equal (bytes, bytes_again), "%s: written otherwise", what);
  x = make_bits (again);
  y = run_on (again, x);
  sources = find_sources (movers[index].build, rank);
  check_bits (x, y->pdata[0], sources->pdata[0], what);
  return TRUE;
}

START_TEST (all_element_types_at_all_ranks_keep_their_bits)
{
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (movers); i++)
    for (CleaveElement element = CLEAVE_NONE + 1; element < CLEAVE_N_ELEMENTS; element++)
      for (guint rank = 1; rank <= CLEAVE_MAX_RANK; rank++)
        n += check_mover (i, element, rank) ? 1 : 0;
  ck_assert_uint_eq (n, 13 * (8 * (G_N_ELEMENTS (movers) - 1) + 1));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "programs", programs_move_data_as_the_interpreter_does, NULL);
  cleave_add_case (suite, "types", all_element_types_at_all_ranks_keep_their_bits, NULL);
}

CLEAVE_TEST_SUITE ("move", add_tests)
