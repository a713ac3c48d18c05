/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Loads the module for MPI, finds or measures the network, splits and places the model, and runs it
 * on all ranks. Rank 0 has the inputs and outputs. All ranks agree after each step whether the step
 * failed on one of them. */

#define _GNU_SOURCE /* declares dladdr() and RTLD_DEFAULT */

#include "ranks.h"

#include "arguments.h"
#include "dynamic.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <stdlib.h>

#define MODULE "libcleave-ranks." G_MODULE_SUFFIX

gboolean
cleave_network_options_parse (const CleaveNetworkOptions *options,
                              guint n_ranks,
                              guint n_threads,
                              CleaveNetwork *network,
                              GError **error)
{
  g_autoptr (GHashTable) texts = g_hash_table_new (g_str_hash, g_str_equal);

  if (options->bandwidth != NULL)
    g_hash_table_insert (texts, (gpointer) "bandwidth", options->bandwidth);
  if (options->latency != NULL)
    g_hash_table_insert (texts, (gpointer) "latency", options->latency);
  if (!cleave_network_parse (texts, network, error))
    {
      g_prefix_error (error, "--");
      return FALSE;
    }
  network->n_ranks = n_ranks;
  network->n_threads = n_threads;
  return TRUE;
}

static gboolean
split_for_ranks (CleaveGraph *graph, const CleaveNetwork *network, guint n_ranks, GError **error)
{
  char bandwidth[G_ASCII_DTOSTR_BUF_SIZE], latency[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *text = g_strdup_printf (
      "join-elementwise,split-for-ranks{ranks=%u threads=%u bandwidth=%s latency=%s},clean-up",
      n_ranks, network->n_threads,
      g_ascii_dtostr (bandwidth, sizeof bandwidth, network->bandwidth / 1.25e8),
      g_ascii_dtostr (latency, sizeof latency, network->latency * 1e6));
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (text, error);

  return pipeline != NULL && cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, error);
}

static CleavePlacement *
place (CleaveGraph *graph,
       const CleaveNetwork *network,
       guint n_ranks,
       guint n_in_flight,
       GError **error)
{
  return split_for_ranks (graph, network, n_ranks, error)
             ? cleave_placement_new_for_stream (graph, network, n_in_flight, error)
             : NULL;
}

/* Splits a graph for the threads of all ranks, and places the nodes on the ranks. With several runs
 * in flight, makes a second placement, of the graph split for the threads of one rank. Returns the
 * placement with the shorter simulated time from one result to the next. */
CleavePlacement *
cleave_place_to_run (CleaveGraph *graph,
                     const CleaveNetwork *network,
                     guint n_in_flight,
                     GError **error)
{
  g_autoptr (CleaveGraph) whole = n_in_flight == 1 ? NULL : cleave_graph_copy (graph);
  g_autoptr (CleavePlacement) cut = place (graph, network, network->n_ranks, n_in_flight, error);
  g_autoptr (CleavePlacement) uncut = NULL;

  if (whole == NULL || cut == NULL)
    return g_steal_pointer (&cut);
  uncut = place (whole, network, 1, n_in_flight, error);
  if (uncut == NULL)
    return NULL;
  return cleave_placement_simulate_stream (cut, network, n_in_flight) <
                 cleave_placement_simulate_stream (uncut, network, n_in_flight)
             ? g_steal_pointer (&cut)
             : g_steal_pointer (&uncut);
}

/* Returns the module for MPI, loaded from the same folder as the module for pictures:
 * CLEAVE_MODULE_DIR, or the folder `cleave` beside the library. */
static const CleaveRanksModule *
load_module (GError **error)
{
  const char *folder = g_getenv ("CLEAVE_MODULE_DIR");
  g_autofree char *own = NULL, *installed = NULL, *path = NULL;
  gpointer symbol;
  GModule *module;
  Dl_info info;

  own = g_path_get_dirname (
      dladdr (dlsym (RTLD_DEFAULT, "cleave_graph_new"), &info) != 0 ? info.dli_fname : "");
  installed = g_build_filename (own, "cleave", MODULE, NULL);
  path = folder != NULL                                ? g_build_filename (folder, MODULE, NULL)
         : g_file_test (installed, G_FILE_TEST_EXISTS) ? g_strdup (installed)
                                                       : g_build_filename (own, MODULE, NULL);
  module = g_module_open (path, G_MODULE_BIND_LAZY);
  if (module == NULL || !g_module_symbol (module, "cleave_ranks_module", &symbol))
    {
      cleave_argument_fail (error,
                            "the module " MODULE ", which --ranks needs, cannot be loaded: %s",
                            g_module_error ());
      return NULL;
    }
  g_module_make_resident (module);
  return symbol;
}

void
cleave_rank_run_clear (CleaveRankRun *run)
{
  g_clear_pointer (&run->inputs, g_ptr_array_unref);
  g_strfreev (run->input_names);
  g_free (run->lines);
  cleave_execution_clear (&run->execution);
}

/* Makes the inputs and outputs on rank 0. Does nothing on other ranks. */
static gboolean
prepare_values (const CleaveRankRequest *request,
                const CleaveGraph *graph,
                CleaveRankRun *run,
                GError **error)
{
  guint n = cleave_graph_get_n_inputs (graph);

  if (run->rank != 0)
    return TRUE;
  run->input_names = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    run->input_names[i] = cleave_result_dup_name (cleave_graph_get_input (graph, i));
  run->inputs = cleave_make_inputs (graph, request->inputs, error);
  return run->inputs != NULL && cleave_execution_prepare (&run->execution, graph, error);
}

/* Sets the network from the options. Measures the network if the options give neither bandwidth nor
 * latency. */
static gboolean
find_network (const CleaveRanksModule *module,
              const CleaveNetworkOptions *options,
              CleaveRankRun *run,
              GError **error)
{
  g_autoptr (GError) own = NULL;

  cleave_network_options_parse (options, run->n_ranks, run->n_threads, &run->network, &own);
  if (!module->agree (own, error))
    return FALSE;
  run->is_measured = run->n_ranks > 1 && options->bandwidth == NULL && options->latency == NULL;
  return !run->is_measured || module->measure (&run->network, error);
}

static CleavePlacement *
prepare (const CleaveRankRequest *request, CleaveRankRun *run, GError **error)
{
  g_autoptr (CleaveGraph) graph =
      cleave_model_load_for_inputs (request->file, request->model, request->inputs, error);

  if (graph == NULL ||
      !cleave_dynamic_refuse (graph, "ranks cannot run them: leave out --ranks", error) ||
      !prepare_values (request, graph, run, error))
    return NULL;
  return cleave_place_to_run (graph, &run->network, request->n_in_flight, error);
}

static gboolean
run_all (const CleaveRanksModule *module,
         gpointer programs,
         CleaveRankRun *run,
         guint n_runs,
         GError **error)
{
  g_autofree gint64 *begun = g_new0 (gint64, n_runs), *ended = g_new0 (gint64, n_runs);
  gint64 last = 0;

  if (!module->run (programs, n_runs, begun, ended, error))
    return FALSE;
  for (guint i = 0; i < n_runs; i++)
    last = MAX (last, ended[i]);
  run->seconds = (double) (last - begun[0]) / 1e6;
  for (guint i = 0; i < n_runs; i++)
    ended[i] -= begun[i];
  cleave_execution_note_times (&run->execution, ended, n_runs);
  run->lines = g_new0 (CleaveRankLine, run->n_ranks);
  module->gather (programs, run->lines);
  return TRUE;
}

static GPtrArray *
make_tensors_like (const GPtrArray *tensors, GError **error)
{
  g_autoptr (GPtrArray) made =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < tensors->len; i++)
    {
      CleaveTensor *tensor = cleave_tensor_new (cleave_tensor_get_type (tensors->pdata[i]), error);

      if (tensor == NULL)
        return NULL;
      g_ptr_array_add (made, tensor);
    }
  return g_steal_pointer (&made);
}

/* Binds all programs to the same inputs, and each program to outputs of its own. Keeps the outputs
 * of the first program as results. */
static gboolean
bind_all (const CleaveRanksModule *module,
          gpointer programs,
          const CleaveRankRun *run,
          guint n_programs,
          GError **error)
{
  for (guint i = 0; run->rank == 0 && i < n_programs; i++)
    {
      g_autoptr (GPtrArray) outputs = i == 0 ? g_ptr_array_ref (run->execution.outputs)
                                             : make_tensors_like (run->execution.outputs, error);

      if (outputs == NULL || !module->bind (programs, i, run->inputs, outputs, error))
        return FALSE;
    }
  return TRUE;
}

/* Prepares the run: network, placement, programs, bindings. After each of these steps, all ranks
 * tell each other whether the step succeeded. If a step failed on one rank, all ranks stop and
 * report the error. */
static gboolean
run_steps (const CleaveRanksModule *module,
           const CleaveRankRequest *request,
           CleaveRankRun *run,
           gpointer *programs,
           GError **error)
{
  g_autoptr (GError) own = NULL, bad = NULL;
  CleavePlacement *placement;

  if (!find_network (module, request->network, run, error))
    return FALSE;
  placement = prepare (request, run, &own);
  if (!module->agree (own, error))
    {
      g_clear_pointer (&placement, cleave_placement_unref);
      return FALSE;
    }
  *programs = module->make (placement, run->n_threads, request->n_in_flight, error);
  if (*programs == NULL)
    return FALSE;
  bind_all (module, *programs, run, request->n_in_flight, &bad);
  return module->agree (bad, error);
}

static gboolean
run (const CleaveRanksModule *module,
     const CleaveRankRequest *request,
     CleaveRankFinish finish,
     gpointer data,
     GError **error)
{
  g_auto (CleaveRankRun) run = { 0 };
  g_autoptr (GError) own = NULL;
  gpointer programs = NULL;
  guint n_local;

  if (!module->begin (&run.rank, &run.n_ranks, &n_local, error))
    return FALSE;
  run.n_threads =
      request->n_threads > 0 ? request->n_threads : MAX (g_get_num_processors () / n_local, 1);
  atexit (module->leave); /* this rank prints its error before it leaves */
  if (!run_steps (module, request, &run, &programs, error) ||
      !run_all (module, programs, &run, request->n_runs, error))
    return FALSE;
  if (run.rank == 0)
    finish (&run, data, &own);
  if (!module->agree (own, error))
    return FALSE;
  module->end (programs);
  return TRUE;
}

gboolean
cleave_run_on_ranks (const CleaveRankRequest *request,
                     CleaveRankFinish finish,
                     gpointer data,
                     GError **error)
{
  const CleaveRanksModule *module = load_module (error);

  return module != NULL && run (module, request, finish, data, error);
}
