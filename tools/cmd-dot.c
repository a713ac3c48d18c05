/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave dot`: draws a model. */

#include "arguments.h"
#include "commands.h"
#include "model.h"
#include "outputs.h"
#include "ranks.h"

#include <cleave/cleave-languages.h>

typedef struct
{
  CleaveModelOptions model;
  CleaveNetworkOptions network;
  CleaveDotOptions drawing;
  char *path, *around, *distance, *ranks, *threads;
} Options;

static gboolean
find_around (const CleaveGraph *graph, Options *o, GError **error)
{
  gint64 steps = 0;

  if (o->around != NULL && o->drawing.overview)
    return cleave_argument_fail (error, "give --overview or --around, not both");
  if (o->distance != NULL &&
      !cleave_text_to_int ("--distance", o->distance, 1, G_MAXINT, &steps, error))
    return FALSE;
  o->drawing.distance = (guint) steps;
  if (o->around == NULL)
    return TRUE;
  o->drawing.around = cleave_graph_select_node (graph, o->around, error);
  return o->drawing.around != NULL;
}

/* Splits and places the graph as `cleave run --ranks` does. Returns the rank of each node, or NULL
 * on error. */
static int *
find_ranks (CleaveGraph *graph, const Options *o, GError **error)
{
  gint64 n_ranks = 2, n_threads = 1;
  g_autoptr (CleavePlacement) placement = NULL;
  CleaveNetwork network;
  int *ranks;
  guint i = 0;

  if (!cleave_text_to_int ("--ranks", o->ranks, 1, 1024, &n_ranks, error) ||
      !cleave_argument_threads (o->threads, &n_threads, error) ||
      !cleave_network_options_parse (&o->network, (guint) n_ranks, (guint) n_threads, &network,
                                     error))
    return NULL;
  placement = cleave_place_to_run (graph, &network, 1, error);
  if (placement == NULL)
    return NULL;
  ranks = g_new (int, cleave_graph_get_n_nodes (graph));
  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    ranks[i++] = cleave_placement_get_rank (placement, node);
  return ranks;
}

/* Fills the options of the drawing. Finds the ranks first, since placing nodes on ranks changes the
 * graph. The caller frees `ranks`. */
static gboolean
find_options (CleaveGraph *graph, Options *o, int **ranks, GError **error)
{
  if (o->ranks != NULL && o->drawing.overview)
    return cleave_argument_fail (error, "give --overview or --ranks, not both");
  if (o->ranks != NULL && (*ranks = find_ranks (graph, o, error)) == NULL)
    return FALSE;
  o->drawing.ranks = *ranks;
  o->drawing.n_ranks = *ranks == NULL ? 0 : cleave_graph_get_n_nodes (graph);
  return find_around (graph, o, error);
}

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->path,
      "draw to this file: .dot, .svg or .png by its ending", "FILE" },
    { "show-constants", 0, 0, G_OPTION_ARG_NONE, &o->drawing.show_constants,
      "draw constants as separate vertices", NULL },
    { "no-clusters", 0, 0, G_OPTION_ARG_NONE, &o->drawing.no_clusters,
      "do not frame parallel subgraphs and strips", NULL },
    { "overview", 0, 0, G_OPTION_ARG_NONE, &o->drawing.overview,
      "draw one box for each subgraph, strip or run of nodes", NULL },
    { "around", 0, 0, G_OPTION_ARG_STRING, &o->around, "draw only the nodes near this one",
      "NODE" },
    { "distance", 0, 0, G_OPTION_ARG_STRING, &o->distance,
      "set the largest distance from that node (default: 3)", "N" },
    { "ranks", 0, 0, G_OPTION_ARG_STRING, &o->ranks,
      "split for this many processes, and frame each", "R" },
    CLEAVE_THREADS_OPTION (o->threads, "each process"),
    CLEAVE_NETWORK_OPTIONS (o->network, "10", "30"),
    CLEAVE_MODEL_OPTIONS (o->model),
    CLEAVE_FORCE_OPTION (o->model),
    G_OPTION_ENTRY_NULL,
  };
  static const CleaveArgumentNeed needs[] = {
    { "distance", { "around" } },
    { "threads", { "ranks" } },
    { "bandwidth", { "ranks" } },
    { "latency", { "ranks" } },
    { 0 },
  };
  const CleaveArguments arguments = { entries, needs, "MODEL.onnx", "Draw a model.", 1 };
  g_auto (GStrv) files = cleave_argument_parse (&arguments, argc, argv, error);

  if (files != NULL && o->path == NULL)
    return cleave_argument_fail (error, "-o FILE is missing: name a .dot, .svg or .png file"), NULL;
  return g_steal_pointer (&files);
}

int
cleave_cmd_dot (int argc, char **argv, GError **error)
{
  Options o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveGraph) graph =
      files == NULL ? NULL : cleave_model_load (files[0], &o.model, error);
  g_autofree int *ranks = NULL;
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();

  if (graph == NULL || !find_options (graph, &o, &ranks, error) ||
      !cleave_outputs_add_drawing (outputs, o.path, graph, &o.drawing, error) ||
      !cleave_outputs_commit (outputs, error))
    return CLEAVE_WRONG;
  return CLEAVE_DONE;
}
