/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Steps that are done part by part along with the one before them. */

#include "../lib/ir/debug.h"
#include "../lib/runtime/program-private.h"

#include "run-help.h"

#include <math.h>

static guint
count_followers (const CleaveGraph *graph)
{
  CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
  guint n = 0;

  for (guint i = 0; i < program->n_tasks; i++)
    n += program->tasks[i].follows ? 1 : 0;
  return n;
}

/* Bits are always compared; steps only follow where fast kernels run. */
static void
check (const CleaveGraph *graph, guint n_followers)
{
  run_assert_same (graph, 1);
  if (!cleave_debug_is_on (CLEAVE_DEBUG_REFERENCE))
    ck_assert_uint_eq (count_followers (graph), n_followers);
}

static CleaveResult *
pool (CleaveGraph *graph, CleaveResult *x, gint64 kernel)
{
  CleavePoolAttrs attrs = { .kernel_shape = CLEAVE_INTS (kernel, kernel),
                            .strides = CLEAVE_INTS (1, 1) };

  return run_add (graph, "MaxPool", &x, 1, &attrs);
}

static CleaveResult *
depthwise (CleaveGraph *graph, CleaveResult *x)
{
  gint64 n = cleave_result_get_type (x)->shape.dim[1];
  CleaveConvAttrs attrs = { .group = n, .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (n, 1, 3, 3), 5);

  return run_add (graph, "Conv", (CleaveResult *[]){ x, w }, 2, &attrs);
}

/* y = max (x * a + b, 0), a and b for each channel. */
static CleaveResult *
scale (CleaveGraph *graph, CleaveResult *x)
{
  CleaveShape shape = CLEAVE_SHAPE (cleave_result_get_type (x)->shape.dim[1], 1, 1);
  CleaveResult *y = run_binary (graph, "Mul", x, run_constant (graph, &shape, 3));

  return run_unary (graph, "Relu", run_binary (graph, "Add", run_constant (graph, &shape, 4), y));
}

#define N_SHAPES 7

/* Several images of several rows, and channels that fill no vectors. */
static CleaveShape
get_shape (guint i)
{
  const CleaveShape shapes[N_SHAPES] = {
    CLEAVE_SHAPE (1, 4, 7, 5),   CLEAVE_SHAPE (3, 9, 6, 6),    CLEAVE_SHAPE (2, 16, 1, 40),
    CLEAVE_SHAPE (2, 8, 40, 1),  CLEAVE_SHAPE (1, 24, 60, 60), CLEAVE_SHAPE (1, 8, 1, 1),
    CLEAVE_SHAPE (2, 1, 30, 31),
  };

  return shapes[i];
}

START_TEST (element_wise_steps_follow)
{
  for (guint i = 0; i < N_SHAPES; i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveShape shape = get_shape (i);
      CleaveResult *x = run_unary (graph, "Sigmoid", run_input (graph, &shape));

      run_output (graph, scale (graph, x));
      check (graph, 3);
    }
}
END_TEST

START_TEST (pools_and_depthwise_lead)
{
  for (guint i = 0; i < N_SHAPES; i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveShape shape = get_shape (i);
      CleaveResult *x = run_input (graph, &shape);

      run_output (graph, scale (graph, depthwise (graph, x)));
      run_output (graph, scale (graph, pool (graph, x, 1)));
      check (graph, 6);
    }
}
END_TEST

static CleaveResult *
normalise_by (CleaveGraph *graph, CleaveResult *x, CleaveResult *variance)
{
  const CleaveShape n = CLEAVE_SHAPE (cleave_result_get_type (x)->shape.dim[1]);
  CleaveNormAttrs attrs = { .epsilon = 1e-3 };
  CleaveResult *operands[] = { x, run_constant (graph, &n, 6), run_constant (graph, &n, 7),
                               run_constant (graph, &n, 8), variance };

  return run_add (graph, "BatchNormalization", operands, 5, &attrs);
}

/* By what is only known when the program runs. */
static CleaveResult *
normalise (CleaveGraph *graph, CleaveResult *x)
{
  const CleaveShape n = CLEAVE_SHAPE (cleave_result_get_type (x)->shape.dim[1]);

  return normalise_by (graph, x, run_unary (graph, "Sigmoid", run_constant (graph, &n, 9)));
}

/* By constants; of the variances some are negative. */
static CleaveResult *
normalise_for_good (CleaveGraph *graph, CleaveResult *x)
{
  const CleaveShape n = CLEAVE_SHAPE (cleave_result_get_type (x)->shape.dim[1]);

  return normalise_by (graph, x, run_constant (graph, &n, 9));
}

/* In place of what they read, and not. */
START_TEST (normalisations_lead)
{
  for (guint i = 0; i < N_SHAPES; i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveShape shape = get_shape (i);
      CleaveResult *x = run_input (graph, &shape);

      run_output (graph, scale (graph, normalise (graph, depthwise (graph, x))));
      run_output (graph, scale (graph, normalise (graph, x)));
      run_output (graph, run_unary (graph, "Neg", x));
      check (graph, 6);
    }
}
END_TEST

START_TEST (convolutions_lead)
{
  for (guint i = 0; i < N_SHAPES; i++)
    for (gint64 kernel = 1; kernel <= 3; kernel += 2)
      {
        g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
        CleaveShape shape = get_shape (i);
        CleaveResult *x = run_input (graph, &shape);

        run_output (graph, scale (graph, run_conv (graph, x, 44, kernel, CLEAVE_LAYOUT_NCHW)));
        run_assert_same (graph, 1);
      }
}
END_TEST

START_TEST (products_lead)
{
  for (gint64 m = 1; m <= 300; m += 299)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (3, m, 20));
      CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (3, 20, 70), 1);
      CleaveResult *b = run_constant (graph, &CLEAVE_SHAPE (70), 2);
      CleaveResult *y = run_binary (graph, "MatMul", x, w);

      run_output (graph, run_unary (graph, "Relu", run_binary (graph, "Add", y, b)));
      run_assert_same (graph, 1);
    }
}
END_TEST

/* A value that is used once more stays, and what is made of it lies elsewhere. */
START_TEST (followers_may_write_elsewhere)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (2, 8, 20, 20)));
  CleaveResult *y = depthwise (graph, x);
  CleaveResult *gate = run_unary (graph, "HardSigmoid", y);

  run_output (graph, run_unary (graph, "Neg", run_binary (graph, "Mul", y, gate)));
  run_output (graph, x);
  check (graph, 3);
}
END_TEST

/* The room of an operand that a window has still to read is not written, though it is free later.
 */
START_TEST (followers_do_not_overtake_reads)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (1, 8, 20, 20)));
  CleaveResult *y = depthwise (graph, x);

  for (guint i = 0; i < 3; i++)
    y = depthwise (graph, run_binary (graph, "Mul", y, run_unary (graph, "Sigmoid", y)));
  run_output (graph, y);
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (other_views_of_the_result_do_not_follow)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (60, 60)));
  CleaveInts perm = CLEAVE_INTS (1, 0);
  g_autoptr (GError) error = NULL;
  CleaveResult *t = cleave_graph_add_transpose (graph, NULL, x, &perm, &error);

  cleave_assert_no_error (error);
  run_output (graph, run_binary (graph, "Sub", x, t));
  check (graph, 0);
}
END_TEST

/* The result has gaps, in which others lie. */
START_TEST (parts_of_a_whole_are_followed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 8, 20, 20));
  CleaveResult *parts[] = { scale (graph, depthwise (graph, x)),
                            scale (graph, run_conv (graph, x, 12, 3, CLEAVE_LAYOUT_NCHW)),
                            scale (graph, run_unary (graph, "Sigmoid", x)) };

  run_output (graph, run_concat (graph, parts, 3, 1));
  run_assert_same (graph, 1);
}
END_TEST

/* What a head makes of x, which has at least a vector of channels. */
static CleaveResult *
add_head (CleaveGraph *graph, CleaveResult *x, guint kind)
{
  gint64 n = cleave_result_get_type (x)->shape.dim[1];

  switch (kind)
    {
    case 0:
      return run_binary (graph, "Sub", x, run_constant (graph, &CLEAVE_SHAPE (1), 9));
    case 1:
      return depthwise (graph, x);
    case 2:
      return run_conv (graph, x, n, 1, CLEAVE_LAYOUT_NCHW);
    default: /* of many terms */
      return run_conv (graph, run_conv (graph, x, 120, 1, CLEAVE_LAYOUT_NCHW), n, 3,
                       CLEAVE_LAYOUT_NCHW);
    }
}

/* A single value, which may be special. */
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

static CleaveResult *
add_stage (CleaveGraph *graph, GRand *rand, CleaveResult *y, CleaveResult *other)
{
  const char *const ops[] = { "Add", "Mul", "Sub", "Div" };
  const CleaveClipAttrs clip = { -0.5, 2 };
  const char *op = ops[g_rand_int_range (rand, 0, 4)];
  CleaveResult *w = g_rand_boolean (rand) ? other : draw_one (graph, rand);

  switch (g_rand_int_range (rand, 0, 5))
    {
    case 4:
      return normalise_for_good (graph, y);
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

/* y with what comes of it, in any order. */
static CleaveResult *
add_detour (CleaveGraph *graph, GRand *rand, CleaveResult *y, CleaveResult *other)
{
  const char *const ops[] = { "Add", "Mul", "Sub", "Div" };
  const char *op = ops[g_rand_int_range (rand, 0, 4)];
  CleaveResult *t = y;

  for (gint n = g_rand_int_range (rand, 1, 5); n > 0; n--)
    t = add_stage (graph, rand, t, other);
  if (g_rand_int_range (rand, 0, 8) == 0) /* must be stored */
    run_output (graph, run_unary (graph, "Neg", g_rand_boolean (rand) ? t : y));
  return g_rand_boolean (rand) ? run_binary (graph, op, y, t) : run_binary (graph, op, t, y);
}

/* A head of some kind, and what follows it. */
static void
assert_follow_alike (guint32 seed, gboolean detours)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveShape shape = CLEAVE_SHAPE (g_rand_int_range (rand, 1, 3), g_rand_int_range (rand, 1, 50),
                                    g_rand_int_range (rand, 1, 12), g_rand_int_range (rand, 1, 30));
  CleaveResult *x = run_input (graph, &shape), *other = run_input (graph, &shape);
  CleaveResult *y = add_head (graph, x, seed % 4);

  for (gint n = g_rand_int_range (rand, 1, 6); n > 0; n--)
    y = detours && g_rand_boolean (rand) ? add_detour (graph, rand, y, other)
                                         : add_stage (graph, rand, y, other);
  run_output (graph, y);
  run_assert_same (graph, seed);
}

START_TEST (stages_have_the_bits_of_followers)
{
  for (guint32 seed = 0; seed < 120; seed++)
    assert_follow_alike (seed, FALSE);
}
END_TEST

START_TEST (detours_have_the_bits_of_followers)
{
  for (guint32 seed = 0; seed < 160; seed++)
    assert_follow_alike (seed, TRUE);
}
END_TEST

#define ANY G_MAXUINT

/* Steps only follow where fast kernels run. */
static void
assert_stages (const CleaveGraph *graph, guint n_threads, guint n_stages, guint n_detours)
{
  CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
  gboolean all_fast = TRUE;
  guint stages = 0, detours = 0;

  for (guint i = 0; i < program->n_tasks; i++)
    {
      const CleaveTask *task = &program->tasks[i];

      all_fast = all_fast && (task->kind != CLEAVE_STEP_COMPUTE || task->family != NULL);
      stages += task->site.n_stages;
      for (guint k = 0; k < task->site.n_stages; k++)
        detours += task->site.followers[k].stage.begins_detour ? 1 : 0;
    }
  ck_assert (!all_fast || n_stages == ANY || stages == n_stages);
  ck_assert (!all_fast || detours == n_detours);
}

/* A residual, then a Relu; a value used once more must be stored before it goes on. */
START_TEST (heads_do_stages)
{
  for (guint kind = 0; kind < 2; kind++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveShape shape = CLEAVE_SHAPE (1, 24, 9, 9);
      CleaveResult *x = run_input (graph, &shape);
      CleaveResult *y = add_head (graph, x, kind);

      y = run_unary (graph, "Relu", run_binary (graph, "Add", y, run_input (graph, &shape)));
      run_output (graph, run_unary (graph, "Relu", run_binary (graph, "Mul", y, y)));
      check (graph, 4);
      assert_stages (graph, 1, 2, 0);
    }
}
END_TEST

/* What is made on the way needs no memory, so it may lie where the head still reads. */
START_TEST (heads_do_detours)
{
  for (guint kind = 0; kind < 8; kind++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveShape shape = CLEAVE_SHAPE (1, 24, 19, 19);
      CleaveResult *x = add_head (graph, run_input (graph, &shape), kind % 4);

      for (guint i = 0; i < 3; i++)
        x = run_hard_swish (graph, add_head (graph, x, kind % 4), kind >= 4);
      run_output (graph, x);
      run_assert_same (graph, kind);
      assert_stages (graph, 1, kind % 4 == 0 ? 15 : 12, 3);
    }
}
END_TEST

/* Each channel by its own constants: a head that goes by pixels does that, and a detour on which it
 * is; the element-wise one goes along lines. */
START_TEST (heads_normalise)
{
  for (gint64 n_channels = 1; n_channels <= 40; n_channels += 3)
    for (guint kind = 0; kind < 4; kind++)
      {
        g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
        CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, n_channels, 7, 5));
        CleaveResult *y = normalise_for_good (graph, add_head (graph, x, kind));

        y = run_binary (graph, "Mul", y, normalise_for_good (graph, run_unary (graph, "Relu", y)));
        run_output (graph, y);
        run_assert_same (graph, kind);
        if (n_channels >= 16)
          assert_stages (graph, 1, kind == 0 ? 0 : 4, kind == 0 ? 0 : 1);
      }
}
END_TEST

/* What is bound to an input may lie anywhere. */
START_TEST (heads_do_not_normalise_by_inputs)
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
      assert_stages (graph, 1, 0, 0);
    }
}
END_TEST

static gint64
count_weights (gint64 n_strips, const char *dims)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (CleaveSplit) split = cleave_split_by_num_chunks (dims, &n_strips, 1);
  g_autoptr (CleaveSplitReport) report = NULL;
  CleaveRecursion recursion = { .depth = 4 };
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 24, 16, 16));

  x = normalise_for_good (graph, depthwise (graph, x));
  run_output (graph, x);
  report =
      cleave_split_node_recursively (cleave_result_get_node (x), split, NULL, &recursion, NULL);
  ck_assert (report != NULL);
  run_assert_same (graph, (guint32) n_strips);
  return run_get_stats (graph, 2).weight_bytes;
}

/* The factors are made once for all rows, and for each channel once. */
START_TEST (pieces_share_factors)
{
  ck_assert_int_eq (count_weights (4, "H"), count_weights (1, "H"));
  ck_assert_int_eq (count_weights (3, "C"), count_weights (1, "C"));
}
END_TEST

/* What is joined lies with pixels further apart. */
START_TEST (heads_normalise_parts_of_a_whole)
{
  for (gint64 axis = 1; axis < 4; axis++)
    for (guint kind = 1; kind < 4; kind++)
      {
        g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
        CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 24, 7, 5)), *parts[3];
        CleaveResult *narrow = run_input (graph, &CLEAVE_SHAPE (2, axis == 1 ? 17 : 24, 7, 5));

        for (guint i = 0; i < 3; i++)
          parts[i] = normalise_for_good (graph, add_head (graph, i == 1 ? narrow : x, kind));
        run_output (graph, run_unary (graph, "Sigmoid", run_concat (graph, parts, 3, axis)));
        run_assert_same (graph, kind);
        assert_stages (graph, 1, 3, 0);
      }
}
END_TEST

/* Memory that is not used is not waited for: strips of two threads lie close to each other. */
START_TEST (detours_do_not_wait_for_memory)
{
  for (gint64 n_strips = 4; n_strips <= 16; n_strips += 4)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (CleaveSplit) split = cleave_split_by_num_chunks ("H", &n_strips, 1);
      g_autoptr (CleaveSplitReport) report = NULL;
      CleaveRecursion recursion = { .depth = 40 };
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 16, 64, 64));

      for (guint i = 0; i < 6; i++)
        x = run_hard_swish (graph, run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW), FALSE);
      run_output (graph, x);
      report =
          cleave_split_node_recursively (cleave_result_get_node (x), split, NULL, &recursion, NULL);
      ck_assert (report != NULL);
      run_assert_same (graph, (guint32) n_strips);
      assert_stages (graph, 2, ANY, 6 * (guint) n_strips);
    }
}
END_TEST

/* Nor do they when another reads what is made on the way, or x later. */
START_TEST (what_is_read_elsewhere_is_no_detour)
{
  for (guint kind = 1; kind < 4; kind++)
    for (guint later = 0; later < 2; later++)
      {
        g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
        CleaveShape shape = CLEAVE_SHAPE (1, 24, 19, 19);
        CleaveResult *x = add_head (graph, run_input (graph, &shape), kind);
        CleaveResult *t = run_unary (graph, "Relu", x);
        CleaveResult *y = run_binary (graph, "Mul", x, t);

        run_output (graph, y);
        run_output (graph, add_head (graph, later ? x : t, kind));
        run_assert_same (graph, kind);
        assert_stages (graph, 1, ANY, 0);
      }
}
END_TEST

#define TOLD_CHANNELS 8
#define TOLD_ROWS 5
#define TOLD_COLUMNS 3
#define TOLD_SIZE (TOLD_CHANNELS * TOLD_ROWS * TOLD_COLUMNS)

/* What a depthwise convolution says about its result while it makes it. */
typedef struct
{
  float y[TOLD_SIZE];
  guint n_told[TOLD_SIZE];
} Told;

/* All that is told of must be there: each sum of ones is at least 4. */
static void
note_part (gconstpointer state, const CleaveSite *site, gint64 begin, gint64 end)
{
  Told *told = (Told *) state;

  for (gint64 i = begin; i < end; i++)
    {
      ck_assert_int_lt (i, TOLD_SIZE);
      ck_assert (told->y[i] >= 4);
      told->n_told[i]++;
    }
}

/* Runs a depthwise convolution of ones whose result has these strides; FALSE: it does not tell. */
static gboolean
run_told (const gint64 *y_stride, Told *told)
{
  const CleaveTensorType x_type =
      CLEAVE_TYPE (CLEAVE_FLOAT32, 1, TOLD_CHANNELS, TOLD_ROWS, TOLD_COLUMNS);
  const CleaveTensorType types[] = { x_type, CLEAVE_TYPE (CLEAVE_FLOAT32, TOLD_CHANNELS, 1, 3, 3) };
  const CleaveConvAttrs attrs = { .group = TOLD_CHANNELS,
                                  .strides = CLEAVE_INTS (1, 1),
                                  .dilations = CLEAVE_INTS (1, 1),
                                  .pads = CLEAVE_INTS (1, 1, 1, 1) };
  float x[TOLD_SIZE], w[TOLD_CHANNELS * 9];
  CleaveView operands[] = { { .type = types[0],
                              .data = x,
                              .stride = { TOLD_SIZE, 1, TOLD_COLUMNS * TOLD_CHANNELS,
                                          TOLD_CHANNELS } },
                            { .type = types[1], .data = w, .stride = { 9, 9, 3, 1 } } };
  CleaveView result = { .type = x_type,
                        .data = told->y,
                        .stride = { TOLD_SIZE, y_stride[0], y_stride[1], y_stride[2] } };
  CleaveTensor *constants[2] = { NULL };
  CleaveKernelFamily noting = { .run_part = note_part };
  CleaveFollower follower = { .family = &noting, .state = told };
  CleaveSite site = { .call = { .op = cleave_op_lookup ("Conv"),
                                .attrs = &attrs,
                                .n_operands = 2,
                                .n_results = 1,
                                .operands = types,
                                .results = &x_type },
                      .operands = operands,
                      .results = &result,
                      .constants = constants,
                      .n_followers = 1,
                      .followers = &follower };
  const CleaveKernelFamily *family = cleave_kernel_find (&site.call);
  CleaveWeights *weights = cleave_weights_new ();
  char *scratch;
  gpointer state = NULL;
  gsize n_scratch = 0;
  gboolean tells;

  for (guint i = 0; i < TOLD_SIZE; i++)
    x[i] = 1;
  for (guint i = 0; i < G_N_ELEMENTS (w); i++)
    w[i] = 1;
  ck_assert (family != NULL && family->prepare (&site, weights, &state, &n_scratch));
  scratch = g_aligned_alloc (1, MAX (n_scratch, 1), 64);
  tells = family->tells (state);
  if (tells)
    family->run (state, &site, scratch);
  family->free (state);
  cleave_weights_free (weights);
  g_aligned_free (scratch);
  return tells;
}

/* Takes minutes where each is held against all before it. */
START_TEST (a_long_chain_follows_in_groups)
{
  const guint n = 40000, n_group = 65; /* the first of them leads */
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (4, 4));

  for (guint i = 0; i < n; i++)
    x = run_unary (graph, "Neg", x);
  run_output (graph, x);
  check (graph, n - (n + n_group - 1) / n_group);
}
END_TEST

/* Each element is told of once, when it is there.  Where rows lie in each other, as of a value
 * whose rows and columns are turned round, they cannot be told of one by one. */
START_TEST (depthwise_tells_what_is_there)
{
  const gint64 dense[] = { 1, TOLD_COLUMNS * TOLD_CHANNELS, TOLD_CHANNELS };
  const gint64 turned[] = { 1, TOLD_CHANNELS, TOLD_ROWS * TOLD_CHANNELS };
  Told told = { 0 };

  ck_assert (run_told (dense, &told));
  for (guint i = 0; i < TOLD_SIZE; i++)
    ck_assert_uint_eq (told.n_told[i], 1);
  told = (Told){ 0 };
  if (run_told (turned, &told))
    for (guint i = 0; i < TOLD_SIZE; i++)
      ck_assert_uint_eq (told.n_told[i], 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "lead", element_wise_steps_follow, pools_and_depthwise_lead,
                   normalisations_lead, convolutions_lead, products_lead,
                   parts_of_a_whole_are_followed, a_long_chain_follows_in_groups,
                   depthwise_tells_what_is_there, NULL);
  cleave_add_case (suite, "follow", followers_may_write_elsewhere, followers_do_not_overtake_reads,
                   other_views_of_the_result_do_not_follow, NULL);
  cleave_add_case (suite, "stages", stages_have_the_bits_of_followers, heads_do_stages,
                   detours_have_the_bits_of_followers, heads_do_detours, heads_normalise,
                   heads_do_not_normalise_by_inputs, pieces_share_factors,
                   heads_normalise_parts_of_a_whole, detours_do_not_wait_for_memory,
                   what_is_read_elsewhere_is_no_detour, NULL);
}

CLEAVE_TEST_MAIN ("follow", add_tests)
