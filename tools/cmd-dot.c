/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "arguments.h"
#include "commands.h"
#include "model.h"
#include "outputs.h"

#include <cleave/cleave-languages.h>

static gboolean
find_around (const CleaveGraph *graph,
             const char *name,
             const char *distance,
             CleaveDotOptions *options,
             GError **error)
{
  const char *nearest;
  gint64 steps = 0;

  if (distance != NULL && name == NULL)
    return cleave_argument_fail (error, "--distance needs --around NODE");
  if (name != NULL && options->overview)
    return cleave_argument_fail (error, "give --overview or --around, not both");
  if (distance != NULL && !cleave_text_to_int ("--distance", distance, 1, G_MAXINT, &steps, error))
    return FALSE;
  options->distance = (guint) steps;
  if (name == NULL)
    return TRUE;
  options->around = cleave_graph_find_node (graph, name);
  if (options->around != NULL)
    return TRUE;
  nearest = cleave_graph_find_nearest_name (graph, name);
  return cleave_argument_fail (error, "there is no node '%s'%s%s%s", name,
                               nearest == NULL ? "" : "; did you mean '",
                               nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
}

int
cleave_cmd_dot (int argc, char **argv, GError **error)
{
  g_auto (CleaveModelOptions) model = { 0 };
  g_auto (GStrv) files = NULL;
  g_autofree char *path = NULL, *around = NULL, *distance = NULL;
  CleaveDotOptions options = { 0 };
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &path,
      "What to write: .dot, .svg or .png by its ending", "FILE" },
    { "show-constants", 0, 0, G_OPTION_ARG_NONE, &options.show_constants,
      "Draw constants as vertices of their own", NULL },
    { "no-clusters", 0, 0, G_OPTION_ARG_NONE, &options.no_clusters,
      "Do not frame parallel subgraphs and strips", NULL },
    { "overview", 0, 0, G_OPTION_ARG_NONE, &options.overview,
      "One box for each subgraph, strip or run of nodes", NULL },
    { "around", 0, 0, G_OPTION_ARG_STRING, &around, "Draw the nodes near this one alone", "NODE" },
    { "distance", 0, 0, G_OPTION_ARG_STRING, &distance, "How many steps from it they may be (3)",
      "N" },
    CLEAVE_MODEL_OPTIONS (model),
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();

  files = cleave_argument_parse (argc, argv, entries, "MODEL.onnx", "Draws a model.", 1, error);
  if (files == NULL)
    return CLEAVE_WRONG;
  if (path == NULL)
    {
      cleave_argument_fail (error, "-o FILE is missing: .dot, .svg or .png");
      return CLEAVE_WRONG;
    }
  graph = cleave_model_load (files[0], &model, error);
  if (graph == NULL || !find_around (graph, around, distance, &options, error))
    return CLEAVE_WRONG;
  if (!cleave_outputs_add_drawing (outputs, path, graph, &options, error) ||
      !cleave_outputs_commit (outputs, error))
    return CLEAVE_WRONG;
  return CLEAVE_DONE;
}
