/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Many short tasks on more threads than there are cores. Each task reads values that tasks of other
 * threads wrote, and overwrites memory that other threads read. A wait that ends too early, or a
 * store that another thread sees too late, changes the result. */

#include "../../lib/runtime/program-private.h"
#include "run-help.h"

#define WIDTH 8         /* number of tasks of a layer, which may run at the same time */
#define DEPTH 48        /* number of layers, each of which reads the layer before it */
#define N_ELEMENTS 2048 /* elements of a value: a task takes a microsecond */
#define N_RUNS 40       /* number of runs of each program */
#define MOST_THREADS 8

/* The ops of the layers. A Sub at most doubles the largest magnitude of a value, and Max and Min do
 * not change it. So no value overflows. */
static const char *const ops[] = { "Sub", "Max", "Min" };

static guint
find_partner (guint layer, guint column)
{
  return (column + 1 + layer % (WIDTH - 1)) % WIDTH;
}

/* Makes a graph in which each value depends on two values of the previous layer. Which two values
 * these are differs from layer to layer. */
static CleaveGraph *
make_net (void)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *now[WIDTH], *next[WIDTH];

  for (guint c = 0; c < WIDTH; c++)
    now[c] = run_input (graph, &CLEAVE_SHAPE (N_ELEMENTS));
  for (guint l = 0; l < DEPTH; l++)
    {
      for (guint c = 0; c < WIDTH; c++)
        next[c] = run_binary (graph, ops[l % G_N_ELEMENTS (ops)], now[c], now[find_partner (l, c)]);
      memcpy (now, next, sizeof now);
    }
  for (guint c = 0; c < WIDTH; c++)
    run_output (graph, now[c]);
  return graph;
}

static float
compute (guint layer, float a, float b)
{
  switch (layer % G_N_ELEMENTS (ops))
    {
    case 0:
      return a - b;
    case 1:
      return MAX (a, b);
    default:
      return MIN (a, b);
    }
}

/* Computes the outputs for one element of the inputs. */
static void
compute_all (const float *x, float *y)
{
  float now[WIDTH];

  memcpy (y, x, sizeof now);
  for (guint l = 0; l < DEPTH; l++)
    {
      memcpy (now, y, sizeof now);
      for (guint c = 0; c < WIDTH; c++)
        y[c] = compute (l, now[c], now[find_partner (l, c)]);
    }
}

/* Returns inputs of whole numbers that differ from run to run, so that results of an earlier run
 * would be wrong. */
static GPtrArray *
make_inputs (guint run)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, N_ELEMENTS);
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint c = 0; c < WIDTH; c++)
    {
      CleaveTensor *tensor = cleave_tensor_new (&type, NULL);
      float *x = cleave_tensor_get_mutable_data (tensor);

      for (guint i = 0; i < N_ELEMENTS; i++)
        x[i] = (float) ((run * 31 + c * 17 + i * 7) % 101);
      g_ptr_array_add (inputs, tensor);
    }
  return inputs;
}

static guint
count_wrong (const GPtrArray *inputs, const GPtrArray *outputs)
{
  guint n_wrong = 0;

  for (guint i = 0; i < N_ELEMENTS; i++)
    {
      float x[WIDTH], want[WIDTH];

      for (guint c = 0; c < WIDTH; c++)
        x[c] = ((const float *) cleave_tensor_get_data (inputs->pdata[c]))[i];
      compute_all (x, want);
      for (guint c = 0; c < WIDTH; c++)
        n_wrong += ((const float *) cleave_tensor_get_data (outputs->pdata[c]))[i] != want[c];
    }
  return n_wrong;
}

static guint
count_busy_threads (const CleaveProgram *program)
{
  guint n = 0;

  for (guint t = 0; t < program->schedule->n_threads; t++)
    n += program->schedule->n_sequence[t] > 0;
  return n;
}

static void
try_threads (const CleaveGraph *graph, guint n_threads)
{
  CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, &error);

  cleave_assert_no_error (error);
  ck_assert_uint_gt (count_busy_threads (program), 1);
  for (guint run = 0; run < N_RUNS; run++)
    {
      g_autoptr (GPtrArray) inputs = make_inputs (run);
      g_autoptr (GPtrArray) outputs = run_program (program, graph, inputs);
      guint n_wrong = count_wrong (inputs, outputs);

      ck_assert_msg (n_wrong == 0, "%u threads, run %u: %u elements are wrong", n_threads, run,
                     n_wrong);
    }
}

START_TEST (short_tasks_wait_for_each_other)
{
  g_autoptr (CleaveGraph) graph = make_net ();

  for (guint n_threads = 2; n_threads <= MOST_THREADS; n_threads *= 2)
    try_threads (graph, n_threads);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "short-tasks", short_tasks_wait_for_each_other, NULL);
}

CLEAVE_TEST_SUITE ("short-tasks", add_tests)
