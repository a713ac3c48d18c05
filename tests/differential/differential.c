/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Differential fuzzing of random models. Each model is computed in several ways, which must all
 * give the same bits: with reference kernels, with fast kernels, with other numbers of threads,
 * after splits, and from files. Prints shrunk failures and their seeds. */

#include <cleave/cleave.h>
#include <stdio.h>
#include <unistd.h>

#include "../../lib/ir/op.h"

#include "peer.h"
#include "shrink.h"

static gint64 first = -1, n_seeds = 1000, seconds, hang_after = 10, one = -1;
/* The option max_nodes applies to --write only. With more than two nodes in a model, a third of the
 * results of ONNX Runtime differ from ours by rounding. */
static int n_jobs = 1, max_failures = 10, max_nodes = 2;
static char *folder, *counts, *replay, *peer;
static gboolean print_ops;

static const GOptionEntry entries[] = {
  { "first", 0, 0, G_OPTION_ARG_INT64, &first, "First seed; by the clock if not given", "N" },
  { "n", 'n', 0, G_OPTION_ARG_INT64, &n_seeds, "Number of seeds", "N" },
  { "seconds", 0, 0, G_OPTION_ARG_INT64, &seconds, "Stop after so long", "N" },
  { "hang-after", 0, 0, G_OPTION_ARG_INT64, &hang_after, "A graph may take so long (10 s)", "N" },
  { "jobs", 'j', 0, G_OPTION_ARG_INT, &n_jobs, "Workers (1)", "N" },
  { "shrink", 0, 0, G_OPTION_ARG_INT, &max_failures, "Number of failures to shrink (10)", "N" },
  { "folder", 'o', 0, G_OPTION_ARG_FILENAME, &folder, "Keep what fails here", "DIR" },
  { "counts", 0, 0, G_OPTION_ARG_FILENAME, &counts, "Write the counts of ops and options that ran",
    "FILE" },
  { "seed", 0, 0, G_OPTION_ARG_INT64, &one, "Judge one seed in this process", "N" },
  { "replay", 0, 0, G_OPTION_ARG_FILENAME, &replay, "Judge a case that was kept", "FILE" },
  { "write", 0, 0, G_OPTION_ARG_FILENAME, &peer, "Write small models for another system", "DIR" },
  { "nodes", 0, 0, G_OPTION_ARG_INT, &max_nodes, "With --write: the largest number of nodes (2)",
    "N" },
  { "ops", 0, 0, G_OPTION_ARG_NONE, &print_ops, "Tell ops that are not tried; fail if any", NULL },
  { NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
};

/* Returns whether an op is in ONNX. Generated models are written as ONNX, so they have no other
 * ops. */
static gboolean
is_in_onnx (const CleaveOp *op)
{
  return (op->flags & CLEAVE_OP_NOT_ONNX) == 0;
}

static int
check_ops (void)
{
  guint n, missing = 0;
  const CleaveOp *const *ops = cleave_op_list (&n);

  for (guint i = 0; i < n; i++)
    {
      const char *name = cleave_op_get_name (ops[i]);

      if (counts_op (name) != 0 || !is_in_onnx (ops[i]))
        continue;
      g_print ("not in the tables: %s\n", name);
      missing++;
    }
  g_print ("%u ops of the library, %u not tried\n", n, missing);
  return missing > 0;
}

static int
judge_one (void)
{
  Report *report = workers_new_report ();
  Tape tape, way;
  Trial trial;
  g_autofree char *text = NULL;

  judge_tapes ((guint64) one, 0, &tape, &way);
  trial_init (&trial, &tape);
  trial_grow (&trial);
  text = trial_print (&trial);
  g_print ("%s", text);
  fflush (stdout);
  judge_seed ((guint64) one, report);
  g_print ("way %u: %s: %s\n", report->way, verdict_name (report->verdict), report->message);
  return report->verdict != VERDICT_GOOD;
}

/* Restarts the program with a setting of OpenMP: waiting threads yield their core. OpenMP reads the
 * setting when it is loaded. */
static void
start_again_patient (char **argv)
{
  if (g_getenv ("OMP_WAIT_POLICY") != NULL)
    return;
  g_setenv ("OMP_WAIT_POLICY", "passive", TRUE);
  execv ("/proc/self/exe", argv);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("- tries random models");
  g_autoptr (GError) error = NULL;
  Plan plan;

  start_again_patient (argv);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      g_printerr ("%s\n", error->message);
      return 2;
    }
  if (print_ops)
    return check_ops ();
  if (replay != NULL)
    return shrink_replay (replay);
  if (one >= 0)
    return judge_one ();
  if (first < 0)
    first = g_get_real_time () / 1000 * 1000;
  if (peer != NULL)
    return peer_write (peer, (guint64) first, (guint64) n_seeds, (guint) MAX (max_nodes, 1));
  g_print ("first seed %" G_GINT64_FORMAT ", level %s\n", first,
           g_getenv ("CLEAVE_LEVEL") == NULL ? "best" : g_getenv ("CLEAVE_LEVEL"));
  plan = (Plan){ (guint64) first, (guint64) n_seeds,    (guint) n_jobs, seconds,
                 hang_after,      (guint) max_failures, folder,         counts };
  return workers_run (&plan) > 0;
}
