/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cases of ranks on one host, which read each other's memory. */

#include "ranks.h"

#include "run-help.h"

#include "../../lib/mpi/copy-runs.h"

#include <string.h>

/* Returns a random layout in memory of a message of `counts[0]` x `counts[1]` x … bytes. The
 * message begins at `data`. It consists of runs of bytes, which at most `n_loops` nested loops
 * repeat. If `dense`, there are no gaps, and some inner loops may be merged into the run. */
static CleaveMessagePlace
make_place (GRand *random, const gint64 *counts, guint n_loops, char *data, gboolean dense)
{
  CleaveMessagePlace place = { .data = data, .run_bytes = counts[0] };
  guint begin = dense ? (guint) g_rand_int_range (random, 0, (gint32) n_loops + 1) : 0;
  gint64 stride = place.run_bytes;

  for (guint i = 0; i < begin; i++)
    stride = place.run_bytes *= counts[i + 1];
  for (guint i = begin; i < n_loops; i++)
    {
      stride += dense ? 0 : g_rand_int_range (random, 0, 9);
      place.counts[place.n_loops] = counts[i + 1];
      place.strides[place.n_loops++] = stride;
      stride *= counts[i + 1];
    }
  return place;
}

static void
run_copies (void)
{
  for (guint32 seed = 0; seed < 2000; seed++)
    {
      g_autoptr (GRand) random = g_rand_new_with_seed (seed);
      char source[1 << 13], target[1 << 13] = "", back[1 << 13];
      gint64 counts[4], n_bytes = 1;
      guint n_loops = seed % 4;
      CleaveMessagePlace from, to, again;

      for (guint i = 0; i <= n_loops; i++)
        n_bytes *= counts[i] = g_rand_int_range (random, seed % 7 == 0 ? 0 : 1, 6);
      for (guint i = 0; i < sizeof source; i++)
        source[i] = (char) g_rand_int (random);
      memset (back, 0, sizeof back);
      from = make_place (random, counts, n_loops, source, TRUE);
      to = make_place (random, counts, n_loops, target, FALSE);
      again = make_place (random, counts, n_loops, back, TRUE);
      demand (cleave_runs_copy (&from, &to) == n_bytes, "other bytes than there are", seed);
      demand (cleave_runs_copy (&to, &again) == n_bytes, "other bytes come back", seed);
      demand (memcmp (source, back, (gsize) n_bytes) == 0, "not the bytes that were there", seed);
      demand (n_bytes == 0 || cleave_runs_get_span (&to) <= (gint64) sizeof target, "no span",
              seed);
    }
}

static void
run_text (const char *text, const guint *ranks, guint n_nodes)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, NULL);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), outputs = make_outputs (graph);
  g_autoptr (CleaveRankProgram) program = cleave_rank_program_new_take (
      MPI_COMM_WORLD, cleave_placement_new_by_node (graph, 4, ranks, n_nodes, NULL), &options,
      NULL);

  demand (program != NULL, "no program", n_nodes);
  if (rank == 0)
    cleave_rank_program_bind (program, (CleaveTensor **) inputs->pdata, inputs->len,
                              (CleaveTensor **) outputs->pdata, outputs->len, NULL);
  for (guint i = 0; i < 3; i++)
    demand (cleave_rank_program_run (program, NULL), "cannot run", i);
  if (rank == 0)
    assert_outputs (graph, inputs, outputs, n_nodes);
}

/* Two ranks send each other values at the same time. Each waits until its message has left before
 * it receives the other rank's message. */
#define CROSSWISE                                                                                  \
  "graph g\n%x = Input : float32 1024x1024\n%a = Relu %x\n%b = Neg %x\n%c = MatMul %a, %a\n"       \
  "%d = MatMul %b, %b\n%e = Add %c, %b\n%f = Add %d, %a\n%g = Add %e, %f\noutput %g\n"

/* The slices of the bound input have short rows, and more rows than one call of process_vm_readv()
 * reads. */
#define ROWS                                                                                       \
  "graph g\n%x = Input : float32 1x600x8x100\n"                                                    \
  "%a = Slice %x 0:1,0:600,2:6,10:90\n%b = Relu %a\n"                                              \
  "%c = Slice %x 0:1,0:600,2:6,10:14\n%d = Neg %c\noutput %b\noutput %d\n"

void
run_host (void)
{
  const guint crosswise[] = { 0, 0, 1, 0, 1, 0, 1, 0 }, rows[] = { 0, 0, 1, 0, 1 };

  run_copies ();
  starts_left = reads_left = G_MAXINT;
  run_text (CROSSWISE, crosswise, G_N_ELEMENTS (crosswise));
  reads_left = G_MAXINT;
  run_text (ROWS, rows, G_N_ELEMENTS (rows));
  demand (rank != 1 || G_MAXINT - reads_left >= 3 * (5 + 1), "rows were fetched otherwise", 0);
  run_same (8);
  demand (starts_left == G_MAXINT, "MPI carried a message", 0);
  for (int i = 0; i < 5; i++)
    {
      run_failure (1);
      run_stream_failure (1);
    }
}
