/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "arguments.h"
#include "commands.h"
#include "model.h"
#include "outputs.h"

int
cleave_cmd_dot (int argc, char **argv, GError **error)
{
  g_auto (CleaveModelOptions) model = { 0 };
  g_auto (GStrv) files = NULL;
  g_autofree char *path = NULL;
  CleaveDotOptions options = { 0 };
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &path,
      "What to write: .dot, .svg or .png by its ending", "FILE" },
    { "show-constants", 0, 0, G_OPTION_ARG_NONE, &options.show_constants,
      "Draw constants as vertices of their own", NULL },
    { "no-clusters", 0, 0, G_OPTION_ARG_NONE, &options.no_clusters,
      "Do not frame parallel subgraphs", NULL },
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
  if (graph == NULL)
    return CLEAVE_WRONG;
  if (!cleave_outputs_add_drawing (outputs, path, graph, &options, error) ||
      !cleave_outputs_commit (outputs, error))
    return CLEAVE_WRONG;
  return CLEAVE_DONE;
}
