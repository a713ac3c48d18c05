/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave simulate`: estimates the time of a run on several ranks without running on them. */

#include "arguments.h"
#include "commands.h"
#include "execute.h"
#include "inputs.h"
#include "json.h"
#include "model.h"
#include "ranks.h"
#include "sizes.h"

#include <stdio.h>

typedef struct
{
  CleaveModelOptions model;
  CleaveNetworkOptions network;
  char *ranks, *threads, *in_flight;
  guint n_in_flight;
  gboolean with_profile, as_json;
} Options;

static char **
parse (int argc, char **argv, Options *o, CleaveNetwork *network, GError **error)
{
  const GOptionEntry entries[] = {
    { "ranks", 0, 0, G_OPTION_ARG_STRING, &o->ranks, "set the number of processes (default: 2)",
      "R" },
    CLEAVE_THREADS_OPTION (o->threads, "each process"),
    { "in-flight", 0, 0, G_OPTION_ARG_STRING, &o->in_flight,
      "set the runs in flight, for a stream of inputs (default: 1)", "K" },
    CLEAVE_NETWORK_OPTIONS (o->network, "10", "30"),
    { "profile", 0, 0, G_OPTION_ARG_NONE, &o->with_profile,
      "run the nodes on this machine first, and use their times", NULL },
    CLEAVE_BYTES_OPTION,
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "print one JSON object", NULL },
    CLEAVE_MODEL_OPTIONS (o->model),
    G_OPTION_ENTRY_NULL,
  };
  const CleaveArguments arguments = {
    entries, NULL, "MODEL.onnx",
    "Predict a run on several machines: time, and the memory of each process.", 1
  };
  g_auto (GStrv) files = cleave_argument_parse (&arguments, argc, argv, error);
  gint64 n_ranks = 2, n_threads = 1, n_in_flight = 1;

  if (files == NULL ||
      (o->ranks != NULL && !cleave_text_to_int ("--ranks", o->ranks, 1, 1024, &n_ranks, error)) ||
      !cleave_argument_threads (o->threads, &n_threads, error) ||
      (o->in_flight != NULL &&
       !cleave_text_to_int ("--in-flight", o->in_flight, 1, 64, &n_in_flight, error)) ||
      !cleave_network_options_parse (&o->network, (guint) n_ranks, (guint) n_threads, network,
                                     error))
    return NULL;
  o->n_in_flight = (guint) n_in_flight;
  return g_steal_pointer (&files);
}

static gint64
count_bytes (const CleavePlacement *placement)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < cleave_placement_get_n_messages (placement); i++)
    n_bytes += cleave_placement_get_message (placement, i)->n_bytes;
  return n_bytes;
}

static double
find_rate (const CleavePlacement *placement, const CleaveNetwork *network, guint n_in_flight)
{
  return 1 / cleave_placement_simulate_stream (placement, network, n_in_flight);
}

static void
print_json (const CleavePlacement *placement,
            const CleaveNetwork *network,
            guint n_in_flight,
            const CleaveRankEstimate *ranks)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_int (json, "threads", network->n_threads);
  cleave_json_double (json, "latency_ms", 1e3 * cleave_placement_simulate (placement, network));
  cleave_json_double (json, "per_second", find_rate (placement, network, n_in_flight));
  cleave_json_int (json, "messages", cleave_placement_get_n_messages (placement));
  cleave_json_int (json, "bytes", count_bytes (placement));
  cleave_json_begin_list (json, "ranks");
  for (guint r = 0; r < network->n_ranks; r++)
    {
      cleave_json_begin (json, NULL);
      cleave_json_int (json, "nodes", ranks[r].n_nodes);
      cleave_json_double (json, "busy_ms", 1e3 * ranks[r].busy);
      cleave_json_double (json, "sending_ms", 1e3 * ranks[r].sending);
      cleave_json_int (json, "bytes_sent", ranks[r].sent_bytes);
      cleave_json_int (json, "bytes_received", ranks[r].received_bytes);
      cleave_json_int (json, "arena_bytes", ranks[r].arena_bytes);
      cleave_json_int (json, "weight_bytes", ranks[r].weight_bytes);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
  cleave_json_print (json);
}

static void
print_text (const CleavePlacement *placement,
            const CleaveNetwork *network,
            guint n_in_flight,
            const CleaveRankEstimate *ranks)
{
  g_autofree char *sum = cleave_size_to_print (count_bytes (placement));

  printf ("ranks     %u, threads of each %u\n", network->n_ranks, network->n_threads);
  printf ("latency   about %.3f ms\n", 1e3 * cleave_placement_simulate (placement, network));
  printf ("rate      about %.3f inputs a second, %u at once\n",
          find_rate (placement, network, n_in_flight), n_in_flight);
  printf ("messages  %u, %s in all\n", cleave_placement_get_n_messages (placement), sum);
  for (guint r = 0; r < network->n_ranks; r++)
    {
      g_autofree char *arena = cleave_size_to_print (ranks[r].arena_bytes);
      g_autofree char *weights = cleave_size_to_print (ranks[r].weight_bytes);
      g_autofree char *sent = cleave_size_to_print (ranks[r].sent_bytes);
      g_autofree char *received = cleave_size_to_print (ranks[r].received_bytes);

      printf (
          "rank %-4u %u node%s; computes %.3f ms, sends %.3f ms; arena %s, weights %s, sent %s, "
          "received %s\n",
          r, ranks[r].n_nodes, CLEAVE_PLURAL (ranks[r].n_nodes), 1e3 * ranks[r].busy,
          1e3 * ranks[r].sending, arena, weights, sent, received);
    }
}

/* Number of runs for a profile. The profile has the shortest time of each step. */
#define N_RUNS 5

static gboolean
take_profile (CleavePlacement *placement, GError **error)
{
  const CleaveGraph *graph = cleave_placement_get_graph (placement);
  g_auto (CleaveExecution) execution = { .wants_profile = TRUE };
  g_autoptr (GPtrArray) inputs = cleave_make_inputs (graph, NULL, error);

  if (inputs == NULL || !cleave_execute (graph, inputs, 1, N_RUNS, &execution, error))
    return FALSE;
  cleave_placement_set_profile (placement, execution.profile);
  return TRUE;
}

int
cleave_cmd_simulate (int argc, char **argv, GError **error)
{
  Options o = { 0 };
  CleaveNetwork network;
  g_auto (GStrv) files = parse (argc, argv, &o, &network, error);
  g_autoptr (CleaveGraph) graph =
      files == NULL ? NULL : cleave_model_load (files[0], &o.model, error);
  g_autoptr (CleavePlacement) placement =
      graph == NULL ? NULL : cleave_place_to_run (graph, &network, o.n_in_flight, error);
  g_autofree CleaveRankEstimate *ranks = NULL;

  if (placement == NULL || (o.with_profile && !take_profile (placement, error)))
    return CLEAVE_WRONG;
  ranks = g_new0 (CleaveRankEstimate, network.n_ranks);
  for (guint r = 0; r < network.n_ranks; r++)
    if (!cleave_placement_estimate (placement, &network, r, &ranks[r], error))
      return CLEAVE_WRONG;
  if (o.as_json)
    print_json (placement, &network, o.n_in_flight, ranks);
  else
    print_text (placement, &network, o.n_in_flight, ranks);
  return CLEAVE_DONE;
}
