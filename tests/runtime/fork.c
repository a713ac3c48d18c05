/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A process that has run a program may fork. Its child may run the same program and other programs,
 * and may fork again. */

#include "run-help.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds after which a hanging child is killed. */
#define PATIENCE 30

/* Number of further children, each a child of the child before. With gcc 12's address sanitizer,
 * the number is 0. If a process forks while one of its threads ends, the sanitizer's allocator
 * stays locked in the child. */
#if CLEAVE_SANITIZED
#define MAX_DEPTH 0
#else
#define MAX_DEPTH 2
#endif

/* Makes two chains, so that two threads have work. */
static CleaveGraph *
make_graph (void)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 16, 16));

  for (guint i = 0; i < 2; i++)
    run_output (graph, run_conv (graph, run_conv (graph, x, 8, 3, CLEAVE_LAYOUT_NCHW), 8, 3,
                                 CLEAVE_LAYOUT_NCHW));
  return graph;
}

typedef struct
{
  const CleaveGraph *graph;
  const GPtrArray *inputs, *want;
  CleaveProgram *program;
  GPtrArray *outputs; /* tensors that are bound as outputs of the program */
} Fixture;

static gboolean
is_same (const GPtrArray *got, const GPtrArray *want)
{
  for (guint i = 0; i < want->len; i++)
    if (!cleave_tensor_equal (got->pdata[i], want->pdata[i]))
      return FALSE;
  return TRUE;
}

/* Runs the program of the fixture twice, and then makes and runs another program. Returns whether
 * the outputs are right. */
static gboolean
run_all (const Fixture *f)
{
  g_autoptr (GPtrArray) own = NULL;

  for (guint run = 0; run < 2; run++)
    {
      for (guint i = 0; i < f->outputs->len; i++)
        memset (cleave_tensor_get_mutable_data (f->outputs->pdata[i]), 0xff,
                (gsize) cleave_tensor_type_n_bytes (cleave_tensor_get_type (f->outputs->pdata[i])));
      cleave_program_run (f->program);
      if (!is_same (f->outputs, f->want))
        return FALSE;
    }
  own = run_graph (f->graph, f->inputs, 3);
  return is_same (own, f->want);
}

/* Forks a child that calls run_all(). If `depth` is not 0, this child forks a child of its own in
 * the same way, with `depth` - 1. Returns whether all outputs are right. */
static gboolean
run_in_child (const Fixture *f, guint depth)
{
  pid_t child = fork ();
  int status;

  ck_assert_int_ge (child, 0);
  if (child == 0)
    {
      signal (SIGALRM, SIG_DFL); /* alarm() must end this child only; Check's handler would end the
                                    parent, too */
      alarm (PATIENCE);
      _exit (run_all (f) && (depth == 0 || run_in_child (f, depth - 1)) ? 0 : 1);
    }
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  return WIFEXITED (status) && WEXITSTATUS (status) == 0;
}

static void
fixture_init (Fixture *f, const CleaveGraph *graph)
{
  const CleaveProgramOptions options = { .n_threads = 2 };
  g_autoptr (GError) error = NULL;

  f->graph = graph;
  f->inputs = run_random_inputs (graph, 1);
  f->want = run_graph (graph, f->inputs, 1);
  f->outputs = run_graph (graph, f->inputs, 1);
  f->program = cleave_program_new (graph, &options, &error);
  cleave_assert_no_error (error);
  cleave_program_bind (f->program, (CleaveTensor *const *) f->inputs->pdata, f->inputs->len,
                       (CleaveTensor *const *) f->outputs->pdata, f->outputs->len, &error);
  cleave_assert_no_error (error);
}

static void
fixture_clear (Fixture *f)
{
  cleave_program_unref (f->program);
  g_ptr_array_unref ((GPtrArray *) f->inputs);
  g_ptr_array_unref ((GPtrArray *) f->want);
  g_ptr_array_unref (f->outputs);
}

START_TEST (a_child_may_run_after_its_parent)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  Fixture f;

  fixture_init (&f, graph);
  ck_assert (run_all (&f));
  ck_assert (run_in_child (&f, MAX_DEPTH));
  ck_assert (run_all (&f)); /* the parent still has its threads and can run the program again */
  fixture_clear (&f);
}
END_TEST

static gpointer
run_in_thread (gpointer data)
{
  return GINT_TO_POINTER (run_all (data) && run_in_child (data, MAX_DEPTH));
}

START_TEST (any_thread_may_fork)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  Fixture f;

  fixture_init (&f, graph);
  ck_assert (run_all (&f));
  ck_assert (GPOINTER_TO_INT (g_thread_join (g_thread_new (NULL, run_in_thread, &f))));
  fixture_clear (&f);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "fork", a_child_may_run_after_its_parent, any_thread_may_fork, NULL);
}

CLEAVE_TEST_SUITE ("fork", add_tests)
