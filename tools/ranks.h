/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs a model on the ranks that mpirun started: `cleave run --ranks`. cmd-run.c calls
 * cleave_run_on_ranks(), which loads the model, splits and places it, and runs it. cmd-simulate.c
 * and cmd-dot.c use only the placement. */

#include "execute.h"
#include "inputs.h"
#include "model.h"
#include "ranks-module.h"

/* The options of the command line for the network between ranks. */
typedef struct
{
  char *bandwidth, *latency;
} CleaveNetworkOptions;

#define CLEAVE_NETWORK_OPTIONS(variable, if_no_bandwidth, if_no_latency)                           \
  { "bandwidth",                                                                                   \
    0,                                                                                             \
    0,                                                                                             \
    G_OPTION_ARG_STRING,                                                                           \
    &(variable).bandwidth,                                                                         \
    "set the Gbit that a rank sends in a second (default: " if_no_bandwidth ")",                   \
    "B" },                                                                                         \
  {                                                                                                \
    "latency", 0, 0, G_OPTION_ARG_STRING, &(variable).latency,                                     \
        "set the microseconds that a message takes (default: " if_no_latency ")", "L"              \
  }

gboolean cleave_network_options_parse (const CleaveNetworkOptions *options,
                                       guint n_ranks,
                                       guint n_threads,
                                       CleaveNetwork *network,
                                       GError **error);
/* Splits a graph for the ranks, and returns a placement of its nodes for `n_in_flight` runs at
 * once. Returns NULL on error. */
CleavePlacement *cleave_place_to_run (CleaveGraph *graph,
                                      const CleaveNetwork *network,
                                      guint n_in_flight,
                                      GError **error);

/* The arguments of `cleave run --ranks`. */
typedef struct
{
  const char *file;
  const CleaveModelOptions *model;
  const CleaveInputOptions *inputs;
  const CleaveNetworkOptions *network;
  guint n_threads; /* threads of each rank; 0: the rank's share of the machine's cores */
  guint n_runs;
  guint n_in_flight; /* runs that are in flight at the same time */
} CleaveRankRequest;

/* The results of the runs. Only rank 0 fills this struct. */
typedef struct
{
  guint rank, n_ranks, n_threads;
  CleaveNetwork network;
  gboolean is_measured; /* the network was measured, not given by options */
  GPtrArray *inputs;
  char **input_names;
  CleaveRankLine *lines;
  double seconds; /* from the begin of the first run to the end of the last run */
  CleaveExecution execution;
} CleaveRankRun;

void cleave_rank_run_clear (CleaveRankRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveRankRun, cleave_rank_run_clear)

typedef gboolean (*CleaveRankFinish) (CleaveRankRun *run, gpointer data, GError **error);

/* Runs a model with the other processes that mpirun started. On rank 0, calls `finish`, which
 * writes the results. If `finish` fails, all ranks report an error. */
gboolean cleave_run_on_ranks (const CleaveRankRequest *request,
                              CleaveRankFinish finish,
                              gpointer data,
                              GError **error);
