/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests waits between steps that reuse memory. If two steps on different threads access the same
 * memory and one of the steps writes to it, one step waits for the other. The waits of a program
 * must be sufficient for any speed of the threads. */

#include "../../../lib/runtime/program-private.h"
#include "random-graph.h"
#include "run-help.h"

#define MAX_THREADS 4

/* The last accesses to a byte. `writer` is the thread that wrote the byte last, and `written` is
 * the number of steps that `writer` had begun at that write. `read` has, for each thread, the
 * number of steps that the thread had begun when it last read the byte. 0 means no access. */
typedef struct
{
  guint writer, written;
  guint read[MAX_THREADS];
} Byte;

typedef struct
{
  const CleaveProgram *program;
  Byte *bytes;  /* for each byte of the arena, the last accesses to the byte */
  guint *clock; /* [step][thread]: number of steps of the thread that are certainly done when the
                   step begins */
  guint step;
  guint n_begun[MAX_THREADS];
} Watch;

static guint *
clock_of (const Watch *watch, guint step)
{
  return watch->clock + (gsize) step * watch->program->schedule->n_threads;
}

static void
raise_clock (const Watch *watch, guint *clock, guint thread, guint count)
{
  const CleaveSchedule *schedule = watch->program->schedule;
  const guint *before = count == 0 ? NULL : clock_of (watch, schedule->sequence[thread][count - 1]);

  for (guint t = 0; before != NULL && t < schedule->n_threads; t++)
    clock[t] = MAX (clock[t], before[t]);
  clock[thread] = MAX (clock[thread], count);
}

static void
begin_step (Watch *watch, guint step)
{
  const CleaveSchedule *schedule = watch->program->schedule;
  const CleaveWaits *waits = &watch->program->waits;
  guint *clock = clock_of (watch, step);

  watch->step = step;
  raise_clock (watch, clock, schedule->thread[step], schedule->index[step]);
  for (guint w = waits->first[step]; w < waits->first[step + 1]; w++)
    {
      const CleaveWait *wait = &g_array_index (waits->list, CleaveWait, w);

      ck_assert_msg (wait->count <= watch->n_begun[wait->thread], "it waits for what comes later");
      raise_clock (watch, clock, wait->thread, wait->count);
    }
  watch->n_begun[schedule->thread[step]]++;
}

/* Notes an access of the current step to a byte. Returns FALSE if another thread may access the
 * byte at the same time, and one of the two accesses is a write. */
static gboolean
touch_byte (const Watch *watch, Byte *byte, gboolean writes)
{
  const CleaveSchedule *schedule = watch->program->schedule;
  const guint *clock = clock_of (watch, watch->step);
  guint thread = schedule->thread[watch->step];
  gboolean alone = byte->writer == thread || clock[byte->writer] >= byte->written;

  for (guint t = 0; writes && t < schedule->n_threads; t++)
    alone = alone && (t == thread || clock[t] >= byte->read[t]);
  if (writes)
    *byte = (Byte){ .writer = thread, .written = schedule->index[watch->step] + 1 };
  else
    byte->read[thread] = schedule->index[watch->step] + 1;
  return alone;
}

static void
touch (const Watch *watch, const CleaveView *view, gboolean writes)
{
  const CleaveShape *shape = &view->type.shape;
  gint64 size = (gint64) cleave_element_size (view->type.element);
  gint64 at = (const char *) view->data - watch->program->arena, index[CLEAVE_MAX_RANK] = { 0 };
  guint d;

  if (view->data == NULL || cleave_shape_n_elements (shape) == 0 || at < 0 ||
      at >= watch->program->stats.arena_bytes)
    return;
  do
    {
      for (gint64 i = 0; i < size; i++)
        if (!touch_byte (watch, &watch->bytes[at + i], writes))
          ck_abort_msg ("step %s", watch->program->tasks[watch->step].name);
      for (d = shape->rank; d-- > 0;)
        {
          at += view->stride[d] * size;
          if (++index[d] < shape->dim[d])
            break;
          at -= index[d] * view->stride[d] * size;
          index[d] = 0;
        }
    }
  while (d < shape->rank);
}

static void
touch_operands (const Watch *watch, const CleaveKernelInstance *instance, guint n)
{
  for (guint i = 0; i < n && instance->operands != NULL; i++)
    touch (watch, &instance->operands[i], FALSE);
}

/* Notes the accesses of an epilogue op: it reads its operand w and writes its result. */
static void
touch_epilogue_op (const Watch *watch, const CleaveFusedConsumer *consumer)
{
  const CleaveKernelInstance *instance = consumer->instance;

  if (instance->call.n_operands == 2 && !consumer->epilogue_op.w_is_before)
    touch (watch, &instance->operands[consumer->epilogue_op.w], FALSE);
}

/* Notes the accesses of a task and of its fused consumers, which run at the same time. */
static void
touch_all (const Watch *watch, const CleaveTask *task)
{
  const CleaveKernelInstance *instance = &task->instance;
  gboolean computes = task->kind == CLEAVE_STEP_COMPUTE;

  touch_operands (watch, instance, computes ? instance->call.n_operands : 1);
  for (guint r = 0; r < (computes ? instance->call.n_results : 1) && instance->results != NULL; r++)
    touch (watch, &instance->results[r], TRUE);
  for (guint i = 0; i < instance->n_fused; i++)
    if (i < instance->n_epilogue_ops)
      touch_epilogue_op (watch, &instance->fused[i]);
    else
      {
        touch_operands (watch, instance->fused[i].instance,
                        instance->fused[i].instance->call.n_operands);
        touch (watch, &instance->fused[i].instance->results[0], TRUE);
      }
}

static void
assert_no_races (const CleaveGraph *graph, guint n_threads)
{
  const CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
  gsize n_bytes = (gsize) program->stats.arena_bytes;
  g_autofree Byte *bytes = g_new0 (Byte, n_bytes + 1);
  g_autofree guint *clock = g_new0 (guint, (gsize) program->n_tasks * n_threads + 1);
  Watch watch = { program, bytes, clock, 0, { 0 } };

  for (guint i = 0; i < program->schedule->n_steps; i++)
    {
      const CleaveTask *task = &program->tasks[program->schedule->order[i]];

      begin_step (&watch, program->schedule->order[i]);
      if (task->kind != CLEAVE_STEP_JOIN && (!task->is_fused || task->kind == CLEAVE_STEP_STORE))
        touch_all (&watch, task);
    }
}

START_TEST (random_graphs_have_no_races)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (60); seed++)
    {
      g_autoptr (CleaveGraph) graph = random_graph (seed, 10 + seed);

      for (guint n_threads = 2; n_threads <= MAX_THREADS; n_threads++)
        assert_no_races (graph, n_threads);
    }
}
END_TEST

/* A value without bytes has a position too, which may be inside a live buffer. A value without
   bytes causes no waits.
    */
START_TEST (an_empty_value_causes_no_waits)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (60); seed++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

      for (guint i = 0; i < 8; i++)
        {
          CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (8, g_rand_int_range (rand, 1, 99)));
          CleaveResult *nothing = run_slice (graph, x, CLEAVE_RANGE (0, 0, 0, 1));

          for (gint32 n = g_rand_int_range (rand, 1, 6); n > 0; n--)
            {
              x = run_unary (graph, g_rand_boolean (rand) ? "Transpose" : "Relu", x);
              nothing = run_unary (graph, "Softmax", nothing);
            }
          run_output (graph, run_unary (graph, "Softmax", x));
          run_output (graph, nothing);
        }
      for (guint n_threads = 2; n_threads <= MAX_THREADS; n_threads++)
        assert_no_races (graph, n_threads);
    }
}
END_TEST

/* A run never stores the intermediate values of expression patterns. So the plan reserves no memory
 * for them. */
START_TEST (strips_have_no_races)
{
  for (gint64 n_strips = 2; n_strips <= 16; n_strips++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("H", &n_strips, 1);
      g_autoptr (CleaveSplitReport) report = NULL;
      CleaveRecursion recursion = { .depth = 40, .halo = (CleaveHalo) (n_strips % 3) };
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8, 32, 32));
      CleaveResult *one = run_constant (graph, &CLEAVE_SHAPE (1), 3);

      for (guint i = 0; i < 6; i++)
        {
          x = run_conv (graph, x, 8, 3, CLEAVE_LAYOUT_NCHW);
          if (i % 3 == 0) /* the Sub becomes the head of the nodes that follow */
            x = run_binary (graph, "Sub", run_unary (graph, "Sigmoid", x), one);
          x = run_hard_swish (graph, x, i % 2 == 0);
        }
      run_output (graph, x);
      report =
          cleave_split_node_recursively (cleave_result_get_node (x), split, NULL, &recursion, NULL);
      ck_assert (report != NULL);
      for (guint n_threads = 2; n_threads <= MAX_THREADS; n_threads++)
        assert_no_races (graph, n_threads);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "waits", random_graphs_have_no_races, an_empty_value_causes_no_waits,
                   strips_have_no_races, NULL);
}

CLEAVE_TEST_SUITE ("reuse", add_tests)
