/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "execute.h"
#include "inputs.h"
#include "model.h"
#include "ranks-module.h"

/* What the command line says of the network between ranks. */
typedef struct
{
  char *bandwidth, *latency;
} CleaveNetworkOptions;

void cleave_network_options_clear (CleaveNetworkOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveNetworkOptions, cleave_network_options_clear)

#define CLEAVE_NETWORK_OPTIONS(variable, if_no_bandwidth, if_no_latency)                           \
  { "bandwidth",                                                                                   \
    0,                                                                                             \
    0,                                                                                             \
    G_OPTION_ARG_STRING,                                                                           \
    &(variable).bandwidth,                                                                         \
    "Gbit that a rank sends in a second (" if_no_bandwidth ")",                                    \
    "B" },                                                                                         \
  {                                                                                                \
    "latency", 0, 0, G_OPTION_ARG_STRING, &(variable).latency,                                     \
        "Microseconds that a message takes (" if_no_latency ")", "L"                               \
  }

gboolean cleave_network_options_parse (const CleaveNetworkOptions *options,
                                       guint n_ranks,
                                       guint n_threads,
                                       CleaveNetwork *network,
                                       GError **error);
/* Splits a graph for the ranks and says where its nodes run, if so many runs are under way at once.
 */
CleavePlacement *cleave_place_to_run (CleaveGraph *graph,
                                      const CleaveNetwork *network,
                                      guint n_in_flight,
                                      GError **error);

/* What `cleave run --ranks` is to do. */
typedef struct
{
  const char *file;
  const CleaveModelOptions *model;
  const CleaveInputOptions *inputs;
  const CleaveNetworkOptions *network;
  guint n_threads; /* 0: as many as there are cores for each rank */
  guint n_runs;
  guint n_in_flight;
} CleaveRankRequest;

/* What came of it, on rank 0. */
typedef struct
{
  guint rank, n_ranks, n_threads;
  CleaveNetwork network;
  gboolean is_measured; /* nobody said what lies between the ranks */
  GPtrArray *inputs;
  char **input_names;
  CleaveRankLine *lines;
  double seconds; /* from the first run's begin to the last one's end */
  CleaveExecution execution;
} CleaveRankRun;

void cleave_rank_run_clear (CleaveRankRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveRankRun, cleave_rank_run_clear)

typedef gboolean (*CleaveRankFinish) (CleaveRankRun *run, gpointer data, GError **error);

/* Runs with the other processes that mpirun began.  On rank 0, `finish` writes what came of it; if
 * it cannot, that is an error on all. */
gboolean cleave_run_on_ranks (const CleaveRankRequest *request,
                              CleaveRankFinish finish,
                              gpointer data,
                              GError **error);
