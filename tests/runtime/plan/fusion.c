/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Fused groups: the first step (the head) computes its result part by part, and the next steps read
 * each part right after it is computed. */

#include "../../../lib/ir/debug.h"
#include "../../../lib/runtime/program-private.h"

#include "run-help.h"

static guint
count_fused (const CleaveGraph *graph)
{
  CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
  guint n = 0;

  for (guint i = 0; i < program->n_tasks; i++)
    n += program->tasks[i].is_fused ? 1 : 0;
  return n;
}

/* Asserts that a program computes the same bits as cleave_interpret(), and that the program fuses
 * `n_fused` steps. Reference kernels fuse no steps. */
static void
check (const CleaveGraph *graph, guint n_fused)
{
  run_assert_same (graph, 1);
  if (!cleave_debug_is_on (CLEAVE_DEBUG_REFERENCE))
    ck_assert_uint_eq (count_fused (graph), n_fused);
}

static CleaveResult *
pool (CleaveGraph *graph, CleaveResult *x, gint64 kernel)
{
  CleavePoolAttrs attrs = { .kernel_shape = CLEAVE_INTS (kernel, kernel),
                            .strides = CLEAVE_INTS (1, 1) };

  return run_add (graph, "MaxPool", &x, 1, &attrs);
}

/* Adds max (x * a + b, 0), with an a and a b for each channel. */
static CleaveResult *
scale (CleaveGraph *graph, CleaveResult *x)
{
  CleaveShape shape = CLEAVE_SHAPE (cleave_result_get_type (x)->shape.dim[1], 1, 1);
  CleaveResult *y = run_binary (graph, "Mul", x, run_constant (graph, &shape, 3));

  return run_unary (graph, "Relu", run_binary (graph, "Add", run_constant (graph, &shape, 4), y));
}

#define N_SHAPES 7

/* Returns shape i of a list: several images of several rows, with channels that do not fill
 * vectors. */
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

START_TEST (element_wise_steps_are_fused)
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

START_TEST (pools_and_depthwise_convolutions_are_heads)
{
  for (guint i = 0; i < N_SHAPES; i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveShape shape = get_shape (i);
      CleaveResult *x = run_input (graph, &shape);

      run_output (graph, scale (graph, run_depthwise (graph, x)));
      run_output (graph, scale (graph, pool (graph, x, 1)));
      check (graph, 6);
    }
}
END_TEST

/* Normalizes x with a variance that is known only at run time. */
static CleaveResult *
normalize (CleaveGraph *graph, CleaveResult *x)
{
  const CleaveShape n = CLEAVE_SHAPE (cleave_result_get_type (x)->shape.dim[1]);

  return run_normalize_by (graph, x, run_unary (graph, "Sigmoid", run_input (graph, &n)));
}

/* A BatchNormalization whose variance is known only at run time is a head: later element-wise nodes
 * are fused with it. This is so whether or not its result overwrites its operand. */
START_TEST (normalizations_are_heads)
{
  for (guint i = 0; i < N_SHAPES; i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveShape shape = get_shape (i);
      CleaveResult *x = run_input (graph, &shape);

      run_output (graph, scale (graph, normalize (graph, run_depthwise (graph, x))));
      run_output (graph, scale (graph, normalize (graph, x)));
      run_output (graph, run_unary (graph, "Neg", x));
      check (graph, 6);
    }
}
END_TEST

START_TEST (convolutions_are_heads)
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

START_TEST (products_are_heads)
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

/* If a value has another reader, a fused consumer of the value stores its result elsewhere and does
 * not overwrite the value. */
START_TEST (fused_consumers_may_write_elsewhere)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (2, 8, 20, 20)));
  CleaveResult *y = run_depthwise (graph, x);
  CleaveResult *gate = run_unary (graph, "HardSigmoid", y);

  run_output (graph, run_unary (graph, "Neg", run_binary (graph, "Mul", y, gate)));
  run_output (graph, x);
  check (graph, 3);
}
END_TEST

/* A head reads its operand window by window. A fused consumer does not write to memory that a later
 * window reads, although that memory is free after the head. */
START_TEST (fused_consumers_do_not_overwrite_pending_reads)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (1, 8, 20, 20)));
  CleaveResult *y = run_depthwise (graph, x);

  for (guint i = 0; i < 3; i++)
    y = run_depthwise (graph, run_binary (graph, "Mul", y, run_unary (graph, "Sigmoid", y)));
  run_output (graph, y);
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (other_views_of_the_result_are_not_fused)
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

/* The result of a head is an operand of a join, so other values lie between its rows. Consumers are
 * fused nevertheless. */
START_TEST (operands_of_a_join_have_fused_consumers)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 8, 20, 20));
  CleaveResult *parts[] = { scale (graph, run_depthwise (graph, x)),
                            scale (graph, run_conv (graph, x, 12, 3, CLEAVE_LAYOUT_NCHW)),
                            scale (graph, run_unary (graph, "Sigmoid", x)) };

  run_output (graph, run_concat (graph, parts, 3, 1));
  run_assert_same (graph, 1);
}
END_TEST

#define REPORT_CHANNELS 8
#define REPORT_ROWS 5
#define REPORT_COLUMNS 3
#define REPORT_SIZE (REPORT_CHANNELS * REPORT_ROWS * REPORT_COLUMNS)

/* The result of a depthwise convolution, and how often the convolution has reported each element as
 * complete while it runs. */
typedef struct
{
  float y[REPORT_SIZE];
  guint n_reports[REPORT_SIZE];
} Reported;

/* Called by the convolution when the elements [begin, end) of its result are complete. Counts a
 * report for each of these elements. Asserts that each element is complete, that is, a sum of at
 * least 4 ones. */
static void
note_part (gconstpointer state, const CleaveKernelInstance *instance, gint64 begin, gint64 end)
{
  Reported *reported = (Reported *) state;

  for (gint64 i = begin; i < end; i++)
    {
      ck_assert_int_lt (i, REPORT_SIZE);
      ck_assert (reported->y[i] >= 4);
      reported->n_reports[i]++;
    }
}

/* Runs a depthwise 3x3 convolution whose operand and weights are all 1, and whose result has the
 * strides `y_stride`. Returns FALSE if the kernel for these strides does not report progress; then
 * does not run the kernel. */
static gboolean
run_reporting (const gint64 *y_stride, Reported *reported)
{
  const CleaveTensorType x_type =
      CLEAVE_TYPE (CLEAVE_FLOAT32, 1, REPORT_CHANNELS, REPORT_ROWS, REPORT_COLUMNS);
  const CleaveTensorType types[] = { x_type,
                                     CLEAVE_TYPE (CLEAVE_FLOAT32, REPORT_CHANNELS, 1, 3, 3) };
  const CleaveConvAttrs attrs = { .group = REPORT_CHANNELS,
                                  .strides = CLEAVE_INTS (1, 1),
                                  .dilations = CLEAVE_INTS (1, 1),
                                  .pads = CLEAVE_INTS (1, 1, 1, 1) };
  float x[REPORT_SIZE], w[REPORT_CHANNELS * 9];
  CleaveView operands[] = { { .type = types[0],
                              .data = x,
                              .stride = { REPORT_SIZE, 1, REPORT_COLUMNS * REPORT_CHANNELS,
                                          REPORT_CHANNELS } },
                            { .type = types[1], .data = w, .stride = { 9, 9, 3, 1 } } };
  CleaveView result = { .type = x_type,
                        .data = reported->y,
                        .stride = { REPORT_SIZE, y_stride[0], y_stride[1], y_stride[2] } };
  CleaveTensor *constants[2] = { NULL };
  CleaveKernelFamily noting = { .run_part = note_part };
  CleaveFusedConsumer consumer = { .family = &noting, .state = reported };
  CleaveKernelInstance instance = { .call = { .op = cleave_op_lookup ("Conv"),
                                              .attrs = &attrs,
                                              .n_operands = 2,
                                              .n_results = 1,
                                              .operands = types,
                                              .results = &x_type },
                                    .operands = operands,
                                    .results = &result,
                                    .constants = constants,
                                    .n_fused = 1,
                                    .fused = &consumer };
  const CleaveKernelFamily *family = cleave_kernel_find (&instance.call);
  CleaveWeights *weights = cleave_weights_new (NULL);
  char *scratch;
  gpointer state = NULL;
  gsize n_scratch = 0;
  gboolean reports_progress;

  for (guint i = 0; i < REPORT_SIZE; i++)
    x[i] = 1;
  for (guint i = 0; i < G_N_ELEMENTS (w); i++)
    w[i] = 1;
  ck_assert (family != NULL && family->prepare (&instance, weights, &state, &n_scratch));
  scratch = g_aligned_alloc (1, MAX (n_scratch, 1), 64);
  reports_progress = family->reports_progress (state);
  if (reports_progress)
    family->run (state, &instance, scratch);
  family->free (state);
  cleave_weights_free (weights);
  g_aligned_free (scratch);
  return reports_progress;
}

/* Fuses a chain of 40,000 steps. If each step were compared with all previous steps, the test would
 * take minutes. */
START_TEST (a_long_chain_is_fused_in_groups)
{
  const guint n = 40000,
              n_group = 65; /* n_group: number of steps of a head and its fused consumers */
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (4, 4));

  for (guint i = 0; i < n; i++)
    x = run_unary (graph, "Neg", x);
  run_output (graph, x);
  check (graph, n - (n + n_group - 1) / n_group);
}
END_TEST

/* The depthwise kernel reports each element of its result to the fused consumer once, after the
 * element is complete. If the rows of the result are interleaved in memory, as with transposed rows
 * and columns, the kernel cannot report the rows one by one. */
START_TEST (depthwise_reports_complete_elements)
{
  const gint64 dense[] = { 1, REPORT_COLUMNS * REPORT_CHANNELS, REPORT_CHANNELS };
  const gint64 transposed[] = { 1, REPORT_CHANNELS, REPORT_ROWS * REPORT_CHANNELS };
  Reported reported = { 0 };

  ck_assert (run_reporting (dense, &reported));
  for (guint i = 0; i < REPORT_SIZE; i++)
    ck_assert_uint_eq (reported.n_reports[i], 1);
  reported = (Reported){ 0 };
  if (run_reporting (transposed, &reported))
    for (guint i = 0; i < REPORT_SIZE; i++)
      ck_assert_uint_eq (reported.n_reports[i], 1);
}
END_TEST

/* A depthwise convolution that overlays its operand is a head. A consumer overwrites elements of
 * the operand only after the convolution has read them. */
START_TEST (an_overlay_is_a_head)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 30, 31));
  CleaveResult *y = run_depthwise (graph, run_conv (graph, x, 48, 1, CLEAVE_LAYOUT_NCHW));
  gint64 plane = 30 * 31 * (gint64) sizeof (float);

  run_output (graph, run_conv (graph, scale (graph, y), 1, 1, CLEAVE_LAYOUT_NCHW));
  ck_assert_int_lt (cleave_graph_get_peak_bytes (graph, NULL), 2 * 48 * plane);
  check (graph, 3);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "lead", element_wise_steps_are_fused,
                   pools_and_depthwise_convolutions_are_heads, normalizations_are_heads,
                   convolutions_are_heads, products_are_heads,
                   operands_of_a_join_have_fused_consumers, a_long_chain_is_fused_in_groups,
                   depthwise_reports_complete_elements, an_overlay_is_a_head, NULL);
  cleave_add_case (suite, "fusion", fused_consumers_may_write_elsewhere,
                   fused_consumers_do_not_overwrite_pending_reads,
                   other_views_of_the_result_are_not_fused, NULL);
}

CLEAVE_TEST_SUITE ("fusion", add_tests)
