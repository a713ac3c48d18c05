/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave dot`: draws a model. */

#include "arguments.h"
#include "commands.h"
#include "model.h"
#include "outputs.h"
#include "ranks.h"

#include <cleave/cleave-languages.h>

static gboolean
find_around (const CleaveGraph *graph,
             const char *name,
             const char *distance,
             CleaveDotOptions *options,
             GError **error)
{
  gint64 steps = 0;

  if (name != NULL && options->overview)
    return cleave_argument_fail (error, "give --overview or --around, not both");
  if (distance != NULL && !cleave_text_to_int ("--distance", distance, 1, G_MAXINT, &steps, error))
    return FALSE;
  options->distance = (guint) steps;
  if (name == NULL)
    return TRUE;
  options->around = cleave_graph_select_node (graph, name, error);
  return options->around != NULL;
}

/* The options about ranks. */
typedef struct
{
  char *ranks, *threads;
  CleaveNetworkOptions network;
} RankOptions;

static void
rank_options_clear (RankOptions *options)
{
  g_free (options->ranks);
  g_free (options->threads);
  cleave_network_options_clear (&options->network);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RankOptions, rank_options_clear)

/* Splits and places the graph as `cleave run --ranks` does. Returns the rank of each node, or NULL
 * on error. */
static int *
find_ranks (CleaveGraph *graph, const RankOptions *o, GError **error)
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

/* Fills the options of the drawing. Finds the ranks first, since that changes the graph. */
static gboolean
find_options (CleaveGraph *graph,
              const RankOptions *o,
              const char *around,
              const char *distance,
              int **ranks,
              CleaveDotOptions *options,
              GError **error)
{
  if (o->ranks != NULL && options->overview)
    return cleave_argument_fail (error, "give --overview or --ranks, not both");
  if (o->ranks != NULL && (*ranks = find_ranks (graph, o, error)) == NULL)
    return FALSE;
  options->ranks = *ranks;
  options->n_ranks = *ranks == NULL ? 0 : cleave_graph_get_n_nodes (graph);
  return find_around (graph, around, distance, options, error);
}

int
cleave_cmd_dot (int argc, char **argv, GError **error)
{
  g_auto (CleaveModelOptions) model = { 0 };
  g_auto (GStrv) files = NULL;
  g_autofree char *path = NULL, *around = NULL, *distance = NULL;
  g_autofree int *ranks = NULL;
  g_auto (RankOptions) rank_options = { 0 };
  CleaveDotOptions options = { 0 };
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &path,
      "draw to this file: .dot, .svg or .png by its ending", "FILE" },
    { "show-constants", 0, 0, G_OPTION_ARG_NONE, &options.show_constants,
      "draw constants as vertices of their own", NULL },
    { "no-clusters", 0, 0, G_OPTION_ARG_NONE, &options.no_clusters,
      "do not frame parallel subgraphs and strips", NULL },
    { "overview", 0, 0, G_OPTION_ARG_NONE, &options.overview,
      "draw one box for each subgraph, strip or run of nodes", NULL },
    { "around", 0, 0, G_OPTION_ARG_STRING, &around, "draw only the nodes near this one", "NODE" },
    { "distance", 0, 0, G_OPTION_ARG_STRING, &distance,
      "set the largest distance from that node (default: 3)", "N" },
    { "ranks", 0, 0, G_OPTION_ARG_STRING, &rank_options.ranks,
      "split for this many processes, and frame each", "R" },
    CLEAVE_THREADS_OPTION (rank_options.threads, "each process"),
    CLEAVE_NETWORK_OPTIONS (rank_options.network, "10", "30"),
    CLEAVE_MODEL_OPTIONS (model),
    CLEAVE_FORCE_OPTION (model),
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
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();

  files = cleave_argument_parse (&arguments, argc, argv, error);
  if (files == NULL)
    return CLEAVE_WRONG;
  if (path == NULL)
    {
      cleave_argument_fail (error, "-o FILE is missing: name a .dot, .svg or .png file");
      return CLEAVE_WRONG;
    }
  graph = cleave_model_load (files[0], &model, error);
  if (graph == NULL ||
      !find_options (graph, &rank_options, around, distance, &ranks, &options, error))
    return CLEAVE_WRONG;
  if (!cleave_outputs_add_drawing (outputs, path, graph, &options, error) ||
      !cleave_outputs_commit (outputs, error))
    return CLEAVE_WRONG;
  return CLEAVE_DONE;
}
