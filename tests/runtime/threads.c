/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reading a graph changes nothing, so several threads may read it at the same time. */

#include "../../lib/ir/graph-private.h"
#include "../../lib/ir/subgraphs.h"
#include "../../lib/ir/topology.h"
#include "interpret.h"
#include "random-graph.h"
#include "run-help.h"

#define N_THREADS 4
#define N_ROUNDS 3

static void
add_number (GString *text, const char *what, gint64 n)
{
  g_string_append_printf (text, "%s %" G_GINT64_FORMAT "\n", what, n);
}

static void
read_copy (const CleaveGraph *graph, GString *text)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autofree char *dump = cleave_graph_print (copy);

  g_string_append (text, dump);
}

static void
read_text (const CleaveGraph *graph, GString *text)
{
  g_autofree char *dump = cleave_graph_print (graph);

  g_string_append (text, dump);
  add_number (text, "validated", cleave_graph_validate (graph, NULL));
}

static void
read_memory (const CleaveGraph *graph, GString *text)
{
  add_number (text, "peak", cleave_graph_get_peak_bytes (graph, NULL));
}

static void
read_topology (const CleaveGraph *graph, GString *text)
{
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, NULL);
  g_autofree guint *subgraph = g_new (guint, graph->n_ids + 1);

  add_number (text, "subgraphs", cleave_subgraphs_find (graph, subgraph));
  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      add_number (text, node->name, subgraph[node->id]);
    }
}

static void
read_program (const CleaveGraph *graph, GString *text)
{
  for (guint n_threads = 1; n_threads <= 3; n_threads += 2)
    {
      CleaveProgramStats stats = run_get_stats (graph, n_threads);

      add_number (text, "arena", stats.arena_bytes);
      add_number (text, "copied", stats.copied_bytes);
    }
}

static void
read_drawing (const CleaveGraph *graph, GString *text)
{
  g_autofree char *dot = cleave_dot_print (graph, NULL, NULL);

  g_string_append (text, dot);
}

static void
read_model (const CleaveGraph *graph, GString *text)
{
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, NULL);
  g_autofree char *sum = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, bytes);

  g_string_append (text, sum);
}

static void (*const readers[]) (const CleaveGraph *, GString *) = {
  read_copy, read_text, read_memory, read_topology, read_program, read_drawing, read_model,
};

typedef struct
{
  const CleaveGraph *graph;
  guint first; /* index in `readers` of the function that this thread calls first */
} Job;

/* Calls all functions of the table `readers`. Each function appends a property of the graph to a
 * text. Begins with the function `first` of the thread. Returns all texts in the order of the
 * table, which is the same for all threads. */
static gpointer
read_all (gpointer data)
{
  const Job *job = data;
  GString *texts[G_N_ELEMENTS (readers)];
  GString *all = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    {
      guint which = (job->first + i) % G_N_ELEMENTS (readers);

      texts[which] = g_string_new (NULL);
      readers[which](job->graph, texts[which]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    {
      g_string_append_len (all, texts[i]->str, (gssize) texts[i]->len);
      g_string_free (texts[i], TRUE);
    }
  return g_string_free (all, FALSE);
}

/* Lets several threads read a graph that no thread has read before. If `same`, all threads begin
 * with the same reader function. Otherwise, each thread begins with a different reader function. */
static void
read_by_threads (const CleaveGraph *graph, gboolean same)
{
  GThread *threads[N_THREADS];
  Job jobs[N_THREADS];
  g_autofree char *want = NULL;

  for (guint t = 0; t < N_THREADS; t++)
    {
      jobs[t] = (Job){ graph, same ? 0 : t * 2 };
      threads[t] = g_thread_new (NULL, read_all, &jobs[t]);
    }
  for (guint t = 0; t < N_THREADS; t++)
    {
      g_autofree char *got = g_thread_join (threads[t]);

      if (want == NULL)
        want = read_all (&(Job){ graph, 0 });
      ck_assert_str_eq (got, want);
    }
}

START_TEST (threads_read_one_graph)
{
  for (guint32 seed = 0; seed < 8; seed++)
    for (guint round = 0; round < N_ROUNDS; round++)
      {
        g_autoptr (CleaveGraph) graph = random_graph (seed, 20 + 10 * seed);

        cleave_pass_remove_dead (graph, NULL, NULL, NULL);
        read_by_threads (graph, round % 2 == 0);
      }
}
END_TEST

typedef struct
{
  const CleaveGraph *graph;
  const GPtrArray *inputs;
} RunJob;

static gpointer
run_once (gpointer data)
{
  const RunJob *job = data;

  return run_graph (job->graph, job->inputs, 2);
}

/* All threads make and run a program of the same graph at the same time. */
START_TEST (threads_run_programs_of_one_graph)
{
  for (guint32 seed = 0; seed < 8; seed++)
    {
      g_autoptr (CleaveGraph) graph = random_graph (seed, 30);
      g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed);
      g_autoptr (GPtrArray) want = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
      RunJob job = { graph, inputs };
      GThread *threads[N_THREADS];

      for (guint t = 0; t < N_THREADS; t++)
        threads[t] = g_thread_new (NULL, run_once, &job);
      for (guint t = 0; t < N_THREADS; t++)
        {
          g_autoptr (GPtrArray) got = g_thread_join (threads[t]);

          for (guint i = 0; i < want->len; i++)
            ck_assert (cleave_tensor_equal (got->pdata[i], want->pdata[i]));
        }
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "threads", threads_read_one_graph, threads_run_programs_of_one_graph,
                   NULL);
}

CLEAVE_TEST_SUITE ("threads", add_tests)
