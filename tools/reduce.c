/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes each smaller graph to a temporary file, and runs the shell command on the file. If the
 * command exits with 0, the graph is of interest, and cleave_graph_reduce() continues with it. */

#include "reduce.h"

#include "arguments.h"

#include <glib/gstdio.h>

typedef struct
{
  const char *command;
  char *path, *data_path; /* `path`: file of the graph that is tested; `data_path`: file of its
                           * large constants */
  guint n_tries;
  GError *error;
} Trial;

/* Returns whether the command exits with 0 for the graph. If the command cannot be run, returns
 * FALSE and stores the error in `data`. */
static gboolean
is_of_interest (const CleaveGraph *graph, const char *passes, gpointer data)
{
  Trial *trial = data;
  const char *argv[] = { "sh", "-c", trial->command, "cleave-reduce", trial->path, passes, NULL };
  int status = -1;

  trial->n_tries++;
  return trial->error == NULL && cleave_graph_save_text (graph, trial->path, &trial->error) &&
         g_spawn_sync (NULL, (char **) argv, NULL,
                       G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL |
                           G_SPAWN_STDERR_TO_DEV_NULL,
                       NULL, NULL, NULL, NULL, &status, &trial->error) &&
         g_spawn_check_wait_status (status, NULL);
}

static void
print_progress (const Trial *trial,
                const CleaveGraph *before,
                const CleaveGraph *after,
                const char *passes)
{
  g_printerr ("%u of %u nodes are left after %u runs%s%s\n", cleave_graph_count_operators (after),
              cleave_graph_count_operators (before), trial->n_tries,
              passes == NULL ? "" : "; passes: ", passes == NULL ? "" : passes);
}

gboolean
cleave_reduce (CleaveGraph **graph,
               const CleavePipeline *pipeline,
               const char *command,
               GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("cleave-reduce-XXXXXX", error);
  g_autofree char *passes = pipeline == NULL ? NULL : cleave_pipeline_print (pipeline);
  g_autofree char *left = NULL;
  Trial trial = { .command = command };
  CleaveGraph *reduced;

  if (folder == NULL)
    return FALSE;
  trial.path = g_build_filename (folder, "graph.cleave", NULL);
  trial.data_path = g_strconcat (trial.path, ".data", NULL);
  reduced = cleave_graph_reduce (*graph, passes, is_of_interest, &trial, &left, error);
  if (reduced != NULL)
    {
      print_progress (&trial, *graph, reduced, left);
      cleave_graph_unref (*graph);
      *graph = reduced;
    }
  if (trial.error != NULL)
    {
      g_clear_error (error);
      g_propagate_error (error, trial.error);
    }
  g_unlink (trial.data_path);
  g_unlink (trial.path);
  g_rmdir (folder);
  g_free (trial.path);
  g_free (trial.data_path);
  return trial.error == NULL && reduced != NULL;
}
