/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops that follow a head and are applied in its registers. */

#include "../../../lib/runtime/program-private.h"

#include "kernel-cases.h"
#include "run-help.h"

#include <math.h>

/* Adds a head with the operand x: a node whose kernel can have epilogues. */
static CleaveResult *
add_head (CleaveGraph *graph, CleaveResult *x, guint kind)
{
  gint64 n = cleave_result_get_type (x)->shape.dim[1];

  switch (kind)
    {
    case 0:
      return run_binary (graph, "Sub", x, run_constant (graph, &CLEAVE_SHAPE (1), 9));
    case 1:
      return run_depthwise (graph, x);
    case 2:
      return run_conv (graph, x, n, 1, CLEAVE_LAYOUT_NCHW);
    default: /* a convolution with 1,080 products in each sum */
      return run_conv (graph, run_conv (graph, x, 120, 1, CLEAVE_LAYOUT_NCHW), n, 3,
                       CLEAVE_LAYOUT_NCHW);
    }
}

/* Returns a scalar, which may be a special value such as NaN. */
static CleaveResult *
draw_one (CleaveGraph *graph, GRand *rand)
{
  const float values[] = { 0.7f, -3, 6, 0, -0.0f, INFINITY, NAN };
  gint n = g_rand_int_range (rand, 0, 4) == 0 ? G_N_ELEMENTS (values) : 3;
  float value = values[g_rand_int_range (rand, 0, n)];
  CleaveTensorType type = { CLEAVE_FLOAT32, { g_rand_boolean (rand) ? 1 : 0, { 1 } } };
  g_autoptr (CleaveTensor) one = cleave_tensor_new_copy (&type, &value, NULL);

  return cleave_graph_add_constant (graph, NULL, one);
}

/* Adds a random function of y. Some functions have a scalar operand. */
static CleaveResult *
add_function (CleaveGraph *graph, GRand *rand, CleaveResult *y)
{
  const char *const ops[] = { "Sigmoid", "Tanh", "Erf", "Neg", "HardSwish", "Sin" };
  const float exponents[] = { 2, 3, 0.5f, 1.7f };
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1);
  g_autoptr (CleaveTensor) exponent =
      cleave_tensor_new_copy (&type, &exponents[g_rand_int_range (rand, 0, 4)], NULL);

  if (g_rand_int_range (rand, 0, 3) == 0)
    return run_binary (graph, "Pow", y, cleave_graph_add_constant (graph, NULL, exponent));
  return run_unary (graph, ops[g_rand_int_range (rand, 0, G_N_ELEMENTS (ops))], y);
}

static CleaveResult *
add_epilogue_op (CleaveGraph *graph, GRand *rand, CleaveResult *y, CleaveResult *other)
{
  const char *const ops[] = { "Add", "Mul", "Sub", "Div" };
  const CleaveClipAttrs clip = { -0.5, 2 };
  const char *op = ops[g_rand_int_range (rand, 0, 4)];
  CleaveResult *w = g_rand_boolean (rand) ? other : draw_one (graph, rand);

  switch (g_rand_int_range (rand, 0, 6))
    {
    case 5:
      return add_function (graph, rand, y);
    case 4:
      return run_normalize_for_good (graph, y);
    case 0:
      return run_unary (graph, "Relu", y);
    case 1:
      return run_add (graph, "Clip", &y, 1, &clip);
    case 2:
      return run_binary (graph, op, w, y);
    default:
      return run_binary (graph, op, y, w);
    }
}

/* Adds an expression pattern: a node with two operands, y and a value computed from y, in either
 * order. */
static CleaveResult *
add_pattern (CleaveGraph *graph, GRand *rand, CleaveResult *y, CleaveResult *other)
{
  const char *const ops[] = { "Add", "Mul", "Sub", "Div" };
  const char *op = ops[g_rand_int_range (rand, 0, 4)];
  CleaveResult *t = y;

  for (gint n = g_rand_int_range (rand, 1, 5); n > 0; n--)
    t = add_epilogue_op (graph, rand, t, other);
  if (g_rand_int_range (rand, 0, 8) == 0) /* makes an intermediate value necessary outside the
                                           * pattern, so that a kernel must store the value */
    run_output (graph, run_unary (graph, "Neg", g_rand_boolean (rand) ? t : y));
  return g_rand_boolean (rand) ? run_binary (graph, op, y, t) : run_binary (graph, op, t, y);
}

/* Runs a head of any kind, and ops that follow the head. If `patterns`, the ops form expression
 * patterns. Asserts that the bits equal the bits of cleave_interpret(). */
static void
assert_follow_alike (guint32 seed, gboolean patterns)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveShape shape = CLEAVE_SHAPE (g_rand_int_range (rand, 1, 3), g_rand_int_range (rand, 1, 50),
                                    g_rand_int_range (rand, 1, 12), g_rand_int_range (rand, 1, 30));
  CleaveResult *x = run_input (graph, &shape), *other = run_input (graph, &shape);
  CleaveResult *y = add_head (graph, x, seed % 4);

  for (gint n = g_rand_int_range (rand, 1, 6); n > 0; n--)
    y = patterns && g_rand_boolean (rand) ? add_pattern (graph, rand, y, other)
                                          : add_epilogue_op (graph, rand, y, other);
  run_output (graph, y);
  run_assert_same (graph, seed);
}

START_TEST (epilogues_have_the_bits_of_fused_consumers)
{
  for (guint32 seed = 0; seed < KERNEL_TRIALS (120); seed++)
    assert_follow_alike (seed, FALSE);
}
END_TEST

START_TEST (patterns_have_the_bits_of_fused_consumers)
{
  for (guint32 seed = 0; seed < KERNEL_TRIALS (160); seed++)
    assert_follow_alike (seed, TRUE);
}
END_TEST

#define ANY G_MAXUINT

/* Returns FALSE if a task runs a reference kernel, or if its op has MACs and its fast kernel has no
 * epilogues. At a level without a GEMM, the kernel of products has no epilogues. */
static gboolean
is_fast (const CleaveTask *task)
{
  if (task->kind != CLEAVE_STEP_COMPUTE)
    return TRUE;
  return task->family != NULL &&
         (task->instance.call.op->macs == NULL || task->family->does_epilogue != NULL);
}

/* Asserts the number of epilogue ops and of expression patterns in a program of the graph, unless a
 * task runs a kernel without epilogues. */
static void
assert_epilogue (const CleaveGraph *graph, guint n_threads, guint n_epilogue_ops, guint n_patterns)
{
  CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
  gboolean all_fast = TRUE;
  guint epilogue = 0, patterns = 0;

  for (guint i = 0; i < program->n_tasks; i++)
    {
      const CleaveTask *task = &program->tasks[i];

      all_fast = all_fast && is_fast (task);
      epilogue += task->instance.n_epilogue_ops;
      for (guint k = 0; k < task->instance.n_epilogue_ops; k++)
        patterns += task->instance.fused[k].epilogue_op.begins_pattern ? 1 : 0;
    }
  ck_assert (!all_fast || n_epilogue_ops == ANY || epilogue == n_epilogue_ops);
  ck_assert (!all_fast || patterns == n_patterns);
}

/* A residual addition and a Relu become epilogue ops. A value that another node reads too is stored
 * before the next op. */
START_TEST (heads_apply_epilogue_ops)
{
  for (guint kind = 0; kind < 2; kind++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveShape shape = CLEAVE_SHAPE (1, 24, 9, 9);
      CleaveResult *x = run_input (graph, &shape);
      CleaveResult *y = add_head (graph, x, kind);

      y = run_unary (graph, "Relu", run_binary (graph, "Add", y, run_input (graph, &shape)));
      run_output (graph, run_unary (graph, "Relu", run_binary (graph, "Mul", y, y)));
      run_assert_same (graph, kind);
      assert_epilogue (graph, 1, 2, 0);
    }
}
END_TEST

/* The intermediate values of a pattern are never stored, so their locations may overlap the
 * operands of the head. */
START_TEST (heads_apply_expression_patterns)
{
  for (guint kind = 0; kind < 8; kind++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveShape shape = CLEAVE_SHAPE (1, 24, 9, 9);
      CleaveResult *x = add_head (graph, run_input (graph, &shape), kind % 4);

      for (guint i = 0; i < 3; i++)
        x = run_hard_swish (graph, add_head (graph, x, kind % 4), kind >= 4);
      run_output (graph, x);
      run_assert_same (graph, kind);
      assert_epilogue (graph, 1, kind % 4 == 0 ? 15 : 12, 3);
    }
}
END_TEST

/* A BatchNormalization has constants for each channel. A head that computes pixel by pixel applies
 * the BatchNormalization, also within an expression pattern. An element-wise head computes elements
 * without knowing their channels, so it does not apply the BatchNormalization. The depthwise kernel
 * has other code for channels that fill at most one vector. For few channels, the test compares
 * only the bits of the outputs, and does not count the ops that the head applies. */
START_TEST (heads_normalize)
{
  for (gint64 n_channels = 1; n_channels <= 40; n_channels += 3)
    for (guint kind = 0; kind < 4; kind++)
      {
        g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
        CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, n_channels, 7, 5));
        CleaveResult *y = run_normalize_for_good (graph, add_head (graph, x, kind));

        y = run_binary (graph, "Mul", y,
                        run_normalize_for_good (graph, run_unary (graph, "Relu", y)));
        run_output (graph, y);
        run_assert_same (graph, kind);
        if (n_channels >= 16 || (kind == 1 && n_channels >= 4))
          assert_epilogue (graph, 1, kind == 0 ? 0 : 4, kind == 0 ? 0 : 1);
      }
}
END_TEST

/* A head that is a product applies a BatchNormalization only if the channels are the columns of the
 * product. That is the case for a product of rank 2 only, since dimension 1 has the channels. */
START_TEST (heads_normalize_along_their_columns)
{
  static const struct
  {
    CleaveShape a, b;
    guint n_epilogue_ops;
  } cases[] = { { { 4, { 1, 1, 64, 64 } }, { 3, { 1, 64, 13 } }, 0 },
                { { 3, { 1, 64, 13 } }, { 2, { 13, 1 } }, 0 },
                { { 3, { 5, 1, 13 } }, { 3, { 5, 13, 24 } }, 0 },
                { { 3, { 1, 24, 13 } }, { 1, { 13 } }, 0 },
                { { 2, { 5, 13 } }, { 2, { 13, 24 } }, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *y = run_binary (graph, "MatMul", run_input (graph, &cases[i].a),
                                    run_input (graph, &cases[i].b));

      y = run_unary (graph, "Relu", run_normalize_for_good (graph, y));
      run_output (graph, y);
      run_assert_same (graph, i);
      assert_epilogue (graph, 1, cases[i].n_epilogue_ops, 0);
    }
}
END_TEST

/* A head applies a following BatchNormalization only if scale, bias, mean and variance are
 * constants. If one of these operands is an input of the graph, the head cannot store the operand's
 * address, since the caller may bind a tensor at any address. */
START_TEST (heads_do_not_normalize_by_inputs)
{
  for (guint operand = 1; operand < 5; operand++)
    {
      const CleaveShape n = CLEAVE_SHAPE (24);
      const CleaveNormAttrs attrs = { .epsilon = 1e-3 };
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 24, 7, 5)), *operands[5];

      operands[0] = add_head (graph, x, 1);
      for (guint i = 1; i < 5; i++)
        operands[i] = i == operand ? run_input (graph, &n) : run_constant (graph, &n, i);
      run_output (graph, run_add (graph, "BatchNormalization", operands, 5, &attrs));
      run_assert_same (graph, operand);
      assert_epilogue (graph, 1, 0, 0);
    }
}
END_TEST

static gint64
count_weights (gint64 n_strips, const char *dims)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks (dims, &n_strips, 1);
  g_autoptr (CleaveSplitReport) report = NULL;
  CleaveRecursion recursion = { .depth = 4 };
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 48, 16, 16));

  x = run_normalize_for_good (graph, run_depthwise (graph, x));
  run_output (graph, x);
  report =
      cleave_split_node_recursively (cleave_result_get_node (x), split, NULL, &recursion, NULL);
  ck_assert (report != NULL);
  run_assert_same (graph, (guint32) n_strips);
  return run_get_stats (graph, 2).weight_bytes;
}

/* The kernel of a BatchNormalization computes a factor for each channel in advance, and the factors
 * are weights of the program. All pieces of rows share one array with all factors. Each piece of
 * channels has an array with the factors of its own channels. So a split does not increase the
 * bytes of weights. */
START_TEST (pieces_share_factors)
{
  ck_assert_int_eq (count_weights (4, "H"), count_weights (1, "H"));
  ck_assert_int_eq (count_weights (3, "C"), count_weights (1, "C"));
}
END_TEST

/* The result of a head is an operand of a join, so the distance between its pixels in memory is
 * larger. The head still applies a BatchNormalization. */
START_TEST (heads_normalize_operands_of_a_join)
{
  for (gint64 axis = 1; axis < 4; axis++)
    for (guint kind = 1; kind < 4; kind++)
      {
        g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
        CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 24, 7, 5)), *parts[3];
        CleaveResult *narrow = run_input (graph, &CLEAVE_SHAPE (2, axis == 1 ? 17 : 24, 7, 5));

        for (guint i = 0; i < 3; i++)
          parts[i] = run_normalize_for_good (graph, add_head (graph, i == 1 ? narrow : x, kind));
        run_output (graph, run_unary (graph, "Sigmoid", run_concat (graph, parts, 3, axis)));
        run_assert_same (graph, kind);
        assert_epilogue (graph, 1, 3, 0);
      }
}
END_TEST

/* The added value and the sum are operands of a join, so the distance between their pixels in
 * memory is larger. The head still applies the addition. */
START_TEST (heads_add_to_operands_of_a_join)
{
  for (guint kind = 1; kind < 4; kind++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 24, 7, 5)), *parts[2];
      CleaveResult *whole = run_input (graph, &CLEAVE_SHAPE (2, 48, 7, 5));

      whole = run_conv (graph, whole, 48, 1, CLEAVE_LAYOUT_NCHW);
      for (gint64 i = 0; i < 2; i++)
        parts[i] = run_binary (
            graph, "Add", add_head (graph, x, kind),
            run_slice (
                graph, whole,
                (CleaveRange){ 4, { { 0, 2 }, { 24 * i, 24 * i + 24 }, { 0, 7 }, { 0, 5 } } }));
      run_output (graph, run_unary (graph, "Sigmoid", run_concat (graph, parts, 2, 1)));
      run_assert_same (graph, kind);
      assert_epilogue (graph, 1, kind == 3 ? ANY : 2, 0);
    }
}
END_TEST

/* A head applies a pattern in registers and stores only the final values, even if the pixels of the
 * head's result and of the pattern's result have different strides. */
START_TEST (heads_apply_patterns_in_operands_of_a_join)
{
  for (guint kind = 1; kind < 4; kind++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 24, 7, 5)), *parts[2];

      for (gint64 i = 0; i < 2; i++)
        {
          CleaveResult *y = add_head (graph, x, kind);

          parts[i] = run_binary (graph, "Mul", y, run_unary (graph, "Sigmoid", y));
        }
      run_output (graph,
                  run_conv (graph, run_concat (graph, parts, 2, 1), 16, 3, CLEAVE_LAYOUT_NCHW));
      run_assert_same (graph, kind);
      assert_epilogue (graph, 1, 4, 2);
    }
}
END_TEST

/* The location of an intermediate value of a pattern is never accessed, so it causes no waits
 * between the strips of two threads. */
START_TEST (patterns_do_not_wait_for_memory)
{
  for (gint64 n_strips = 4; n_strips <= 16; n_strips += 4)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("H", &n_strips, 1);
      g_autoptr (CleaveSplitReport) report = NULL;
      CleaveRecursion recursion = { .depth = 40 };
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 16, 64, 8));

      for (guint i = 0; i < 6; i++)
        x = run_hard_swish (graph, run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW), FALSE);
      run_output (graph, x);
      report =
          cleave_split_node_recursively (cleave_result_get_node (x), split, NULL, &recursion, NULL);
      ck_assert (report != NULL);
      run_assert_same (graph, (guint32) n_strips);
      assert_epilogue (graph, 2, ANY, 6 * (guint) n_strips);
    }
}
END_TEST

/* The kernel stores only the result of x * sigmoid (x) and of a Gelu, in the place of x. */
START_TEST (functions_are_patterns)
{
  for (guint kind = 1; kind < 4; kind++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = add_head (graph, run_input (graph, &CLEAVE_SHAPE (1, 24, 9, 9)), kind);
      CleaveResult *y =
          add_head (graph, run_binary (graph, "Mul", x, run_unary (graph, "Sigmoid", x)), kind);
      CleaveResult *one = run_constant (graph, &CLEAVE_SHAPE (1), 3);
      CleaveResult *t = run_unary (graph, "Erf", run_binary (graph, "Div", y, one));

      run_output (graph, run_binary (graph, "Mul", y, run_binary (graph, "Add", t, one)));
      run_assert_same (graph, kind);
      assert_epilogue (graph, 1, 6, 2);
    }
}
END_TEST

/* Adds x * function (x). `which` is a bit mask of changes. 1: the function reads x times a
 * constant. 2: a constant is added to the result of the function. 4: a later node also reads x. */
static CleaveResult *
add_gate (CleaveGraph *graph, CleaveResult *x, const char *function, guint which)
{
  CleaveResult *t = x, *one = run_constant (graph, &CLEAVE_SHAPE (1), 3);

  if ((which & 1) != 0)
    t = run_binary (graph, "Mul", t, one);
  t = run_unary (graph, function, t);
  if ((which & 2) != 0)
    t = run_binary (graph, "Add", t, one);
  t = run_binary (graph, "Mul", x, t);
  return (which & 4) != 0 ? run_binary (graph, "Add", t, x) : t;
}

START_TEST (gates_have_the_bits_of_their_ops)
{
  static const char *const functions[] = { "Exp", "Sigmoid", "Tanh", "Erf" };

  for (guint f = 0; f < G_N_ELEMENTS (functions); f++)
    for (guint which = 0; which < 16; which++)
      {
        g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
        guint kind = 1 + which % 3;
        CleaveResult *x = add_head (graph, run_input (graph, &CLEAVE_SHAPE (1, 24, 7, 5)), kind);

        run_output (graph, add_gate (graph, x, functions[f], which % 8));
        run_assert_same (graph, which);
        assert_epilogue (graph, 1, ANY, 1);
      }
}
END_TEST

/* There is no pattern if another node reads the intermediate value, or reads x later. */
START_TEST (values_with_other_readers_are_no_pattern)
{
  for (guint kind = 1; kind < 4; kind++)
    for (guint later = 0; later < 2; later++)
      {
        g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
        CleaveShape shape = CLEAVE_SHAPE (1, 24, 9, 9);
        CleaveResult *x = add_head (graph, run_input (graph, &shape), kind);
        CleaveResult *t = run_unary (graph, "Relu", x);
        CleaveResult *y = run_binary (graph, "Mul", x, t);

        run_output (graph, y);
        run_output (graph, add_head (graph, later ? x : t, kind));
        run_assert_same (graph, kind);
        assert_epilogue (graph, 1, ANY, 0);
      }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "bits", epilogues_have_the_bits_of_fused_consumers,
                   patterns_have_the_bits_of_fused_consumers, NULL);
  cleave_add_case (suite, "heads", heads_apply_epilogue_ops, heads_apply_expression_patterns,
                   heads_normalize, heads_normalize_along_their_columns,
                   heads_do_not_normalize_by_inputs, pieces_share_factors,
                   heads_normalize_operands_of_a_join, heads_add_to_operands_of_a_join,
                   heads_apply_patterns_in_operands_of_a_join, patterns_do_not_wait_for_memory,
                   functions_are_patterns, gates_have_the_bits_of_their_ops,
                   values_with_other_readers_are_no_pattern, NULL);
}

CLEAVE_TEST_SUITE ("stages", add_tests)
