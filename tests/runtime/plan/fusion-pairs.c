/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests each op that may be a head with each op that may be fused with this head, at all ranks, and
 * with extents of 1 in every dimension. */

#include "fusion-counts.h"
#include "fusion-heads.h"
#include "graphs.h"
#include "interpret.h"
#include "random-ops.h"
#include "run-help.h"

#define MAX_OPERANDS 8
/* Number of random cases for a head whose result has only one element. All other shapes have one
 * case. An operand with one element may be a scalar, may have one number per channel, or may have
 * the shape of the result. So a single case would not cover all code. A case with one element takes
 * little time. */
#define SINGLE_VALUES 20

/* An op whose result has the type of its operand x. The other operands of the op broadcast to x, or
 * have one element for each channel. */
typedef struct
{
  const CleaveOp *op;
  guint n_operands, x; /* number of operands, and which of them is x */
  gboolean by_channel, from_end;
  int layout;
} Consumer;

typedef struct
{
  GArray *fused;
  guint n_cases;
  FusionCounts counts;
} Trying;

/* The functions below add consumers, which may be fused. */

/* Returns the layout attribute; NULL if there is none. */
static const CleaveAttr *
find_layout (const CleaveOp *op)
{
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (g_str_equal (attr->name, "layout") && attr->kind == CLEAVE_ATTR_ENUM)
      return attr;
  return NULL;
}

/* Adds a constant without zeros. */
static CleaveResult *
add_constant (CleaveGraph *graph, const CleaveTensorType *type, guint32 seed)
{
  g_autoptr (CleaveTensor) value = cleave_random_tensor (type, seed, FALSE);
  gint64 n = cleave_shape_n_elements (&type->shape);

  if (type->element == CLEAVE_FLOAT32)
    for (gint64 i = 0; i < n; i++)
      {
        float *x = (float *) cleave_tensor_get_mutable_data (value) + i;

        *x = 0.5f + (*x < 0 ? -*x : *x);
      }
  return cleave_graph_add_constant (graph, NULL, value);
}

/* Returns a shape that broadcasts: some extents are 1, some leading dimensions are missing. */
static CleaveShape
draw_broadcast (GRand *rand, const CleaveShape *shape)
{
  gint32 kind = g_rand_int_range (rand, 0, 4);
  guint missing = kind > 1 ? 0 : (guint) g_rand_int_range (rand, 0, (gint32) shape->rank + 1);
  CleaveShape part = { .rank = shape->rank - missing };

  for (guint d = 0; d < part.rank; d++)
    part.dim[d] = kind == 3 || g_rand_boolean (rand) ? shape->dim[missing + d] : 1;
  return part;
}

static CleaveResult *
add_other (CleaveGraph *graph, GRand *rand, const Consumer *f, const CleaveTensorType *x)
{
  CleaveTensorType type = { x->element, draw_broadcast (rand, &x->shape) };

  if (f->by_channel)
    type.shape = CLEAVE_SHAPE (f->from_end ? x->shape.dim[x->shape.rank - 1] : x->shape.dim[1]);
  if ((f->by_channel && g_rand_int_range (rand, 0, 8) > 0) || g_rand_boolean (rand))
    return add_constant (graph, &type, g_rand_int (rand));
  return fusion_input (graph, rand, &type);
}

/* Adds a consumer of x. `before` is the consumer's other operand; NULL: a new value. Returns NULL
 * if the op refuses these operands. */
static CleaveResult *
add_consumer (
    CleaveGraph *graph, GRand *rand, const Consumer *f, CleaveResult *x, CleaveResult *before)
{
  const CleaveTensorType *type = cleave_result_get_type (x);
  g_autofree gpointer attrs = g_malloc0 (f->op->attrs_size + 1);
  const CleaveAttr *layout = find_layout (f->op);
  CleaveResult *operands[MAX_OPERANDS];
  CleaveNode *node;

  if (f->by_channel && type->shape.rank < 2)
    return NULL;
  cleave_attrs_init (f->op, attrs);
  if (layout != NULL)
    *(int *) (gpointer) ((char *) attrs + layout->offset) = f->layout;
  for (guint i = 0; i < f->n_operands; i++)
    operands[i] = i == f->x ? x : before != NULL ? before : add_other (graph, rand, f, type);
  node = cleave_graph_add (graph, f->op, NULL, operands, f->n_operands, 1,
                           f->op->attrs_size == 0 ? NULL : attrs, NULL);
  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

static gboolean
keeps_type (const Consumer *f)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (0);
  CleaveResult *x =
      fusion_input (graph, rand, &(CleaveTensorType){ CLEAVE_FLOAT32, CLEAVE_SHAPE (2, 3, 5, 7) });
  CleaveResult *y = add_consumer (graph, rand, f, x, NULL);

  return y != NULL &&
         cleave_tensor_type_equal (cleave_result_get_type (y), cleave_result_get_type (x));
}

static void
find_fused_like (const Consumer *like, guint n_places, GArray *fused)
{
  int last_layout = find_layout (like->op) == NULL ? 0 : CLEAVE_LAYOUT_NHWC;

  for (guint x = 0; x < n_places; x++)
    for (int layout = 0; layout <= last_layout; layout++)
      {
        Consumer f = *like;

        f.x = x;
        f.layout = layout;
        if (keeps_type (&f))
          g_array_append_val (fused, f);
      }
}

static void
find_fused_of_op (const CleaveOp *op, GArray *fused)
{
  guint least = MAX (op->min_operands, 1), n_before = fused->len;
  guint most = least + ((op->flags & CLEAVE_OP_VARIADIC) != 0 ? 1 : 0);

  for (guint n = least; n <= MIN (most, MAX_OPERANDS); n++)
    find_fused_like (&(Consumer){ .op = op, .n_operands = n }, n, fused);
  if (fused->len > n_before)
    return;
  for (guint from_end = 0; from_end <= 1; from_end++)
    find_fused_like (
        &(Consumer){ .op = op, .n_operands = least, .by_channel = TRUE, .from_end = from_end == 1 },
        1, fused);
}

/* The functions below run the graphs. */

static void
assert_alike (Trying *trying, const CleaveGraph *graph, guint32 seed)
{
  g_autoptr (GPtrArray) inputs = cleave_random_inputs (graph, seed, seed % 4 == 0);
  g_autoptr (GPtrArray) want = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);

  trying->n_cases++;
  for (guint n_threads = 1; n_threads <= 2; n_threads++)
    {
      const CleaveProgramOptions options = { .n_threads = n_threads };
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, &error);
      g_autoptr (GPtrArray) got = NULL;
      int differs;

      cleave_assert_no_error (error);
      got = run_program (program, graph, inputs);
      differs = cleave_compare_outputs (got, want);
      if (differs >= 0)
        {
          g_autofree char *dump = cleave_graph_print (graph);

          ck_abort_msg ("seed %u, %u threads: output %d differs in\n%s", seed, n_threads, differs,
                        dump);
        }
      fusion_count (&trying->counts, program);
    }
}

static void
trying_init (Trying *trying)
{
  guint n_ops;
  const CleaveOp *const *ops = cleave_op_list (&n_ops);

  *trying = (Trying){ .fused = g_array_new (FALSE, FALSE, sizeof (Consumer)) };
  fusion_counts_init (&trying->counts);
  for (guint i = 0; i < n_ops; i++)
    if ((ops[i]->flags & CLEAVE_OP_NOT_ONNX) == 0)
      find_fused_of_op (ops[i], trying->fused);
}

/* Adds an output to the graph: y itself, or a Concat of y and other values. */
static void
add_end (CleaveGraph *graph, GRand *rand, CleaveResult *y)
{
  const CleaveTensorType *type = cleave_result_get_type (y);
  gint32 axis = g_rand_int_range (rand, -(gint32) type->shape.rank, (gint32) type->shape.rank + 1);
  CleaveTensorType beside = *type;
  CleaveResult *parts[] = { y, NULL, NULL };

  if (axis < 0 || axis >= (gint32) type->shape.rank)
    {
      run_output (graph, y);
      return;
    }
  beside.shape.dim[axis] = g_rand_int_range (rand, 1, 4);
  parts[1] = parts[2] = fusion_input (graph, rand, &beside);
  if (g_rand_boolean (rand))
    {
      parts[0] = parts[1];
      parts[1] = y;
    }
  y = run_concat (graph, parts, 3, axis);
  run_output (graph, y);
}

/* Adds consumer i of `y`, the result of a head, and then a few random consumers, each of which
 * reads the result before it. A random consumer may also read an earlier value of this chain.
 * Compares the bits of programs with the bits of cleave_interpret(). Returns FALSE if consumer i
 * cannot read `y`. */
static gboolean
try_pair (Trying *trying, CleaveGraph *graph, GRand *rand, CleaveResult *y, guint i, guint32 seed)
{
  gint32 n = (gint32) trying->fused->len;
  CleaveResult *next, *before;

  if (y == NULL)
    return FALSE;
  next = add_consumer (graph, rand, &g_array_index (trying->fused, Consumer, i), y, NULL);
  if (next == NULL)
    return FALSE;
  for (before = y; next != NULL; before = g_rand_boolean (rand) ? y : before)
    {
      gint32 other = g_rand_int_range (rand, 0, 2 * n);

      y = next;
      next = other >= n
                 ? NULL
                 : add_consumer (graph, rand, &g_array_index (trying->fused, Consumer, other), y,
                                 g_rand_boolean (rand) ? before : NULL);
    }
  add_end (graph, rand, y);
  assert_alike (trying, graph, seed);
  return TRUE;
}

/* Returns a shape. Dimensions whose bit is set in `ones` have the extent 1. Other extents are 2,
 * odd, or 24 (a multiple of the length of a vector register). */
static CleaveShape
draw_shape (GRand *rand, guint rank, guint ones)
{
  static const gint64 extents[] = { 2, 3, 5, 7, 13, 24 };
  CleaveShape shape = { .rank = rank };
  gint64 n = 1;

  for (guint i = 0; i < rank; i++)
    {
      /* Draws the extents of dimensions 1, 0, rank - 1, …, 2 in this order. So dimension 1, the
       * channels, may get any extent. */
      guint d = (rank + 1 - i) % rank;
      gint32 n_choices = n > 100 ? 2 : G_N_ELEMENTS (extents);

      shape.dim[d] = (ones >> d & 1) != 0 ? 1 : extents[g_rand_int_range (rand, 0, n_choices)];
      n *= shape.dim[d];
    }
  return shape;
}

/* Returns at random whether to try a consumer. Consumers with several operands are tried more
 * often, since consumers with one operand are similar to each other. */
static gboolean
is_chosen (GRand *rand, const Consumer *f)
{
  return g_rand_int_range (rand, 0, f->by_channel ? 1 : f->n_operands > 1 ? 14 : 50) == 0;
}

static void
try_shape (Trying *trying, const FusionHead *head, guint rank, guint ones, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  for (guint i = 0; i < trying->fused->len; i++)
    if (is_chosen (rand, &g_array_index (trying->fused, Consumer, i)))
      {
        g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
        CleaveShape shape = draw_shape (rand, rank, ones);

        try_pair (trying, graph, rand, head->make (graph, rand, &shape), i, seed);
      }
}

/* Tries some fused consumers after a node of any op. */
static void
try_node (Trying *trying, const CleaveRandomOp *op, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  for (guint n = 0; n < 4; n++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveNode *node = op->make (graph, rand);
      guint i = (guint) g_rand_int_range (rand, 0, (gint32) trying->fused->len);

      try_pair (trying, graph, rand, cleave_node_get_result (node, 0), i, seed);
    }
}

START_TEST (pairs_have_the_bits_of_single_ops)
{
  Trying trying;
  guint32 seed = 0;

  trying_init (&trying);
  for (guint rank = 1; rank <= (CLEAVE_SANITIZED ? 4 : 5); rank++)
    for (guint ones = 0; ones < 1u << rank; ones++)
      for (guint head = 0; head < fusion_n_heads; head++)
        for (guint again = ones + 1 == 1u << rank ? SINGLE_VALUES : 1; again > 0; again--)
          try_shape (&trying, &fusion_heads[head], rank, ones, ++seed);
  for (guint l = 0; cleave_random_op_lists[l] != NULL; l++)
    for (const CleaveRandomOp *op = cleave_random_op_lists[l]; op->op != NULL; op++)
      try_node (&trying, op, ++seed);
  g_print ("%u cases\n", trying.n_cases);
  fusion_counts_assert (&trying.counts);
  fusion_counts_clear (&trying.counts);
  g_array_unref (trying.fused);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "pairs", pairs_have_the_bits_of_single_ops, NULL);
}

CLEAVE_TEST_SUITE ("fusion-pairs", add_tests)
