/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave extract`: writes the nodes between two values of a model to a new model. */

#include "arguments.h"
#include "commands.h"
#include "dynamic.h"
#include "model.h"
#include "output-names.h"
#include "outputs.h"

typedef struct
{
  CleaveModelOptions model;
  char **from, **to, *output;
} Options;

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    { "from", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->from,
      "make this value an input (default: the inputs of the model); may be given again", "VALUE" },
    { "to", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->to,
      "make this value an output (default: the outputs that need --from); may be given again",
      "VALUE" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output,
      "write the model to this file, as text if the name ends with .cleave",
      "OUT.onnx|OUT.cleave" },
    CLEAVE_MODEL_OPTIONS (o->model),
    CLEAVE_FORCE_OPTION (o->model),
    G_OPTION_ENTRY_NULL,
  };
  const CleaveArguments arguments = { entries, NULL, "MODEL.onnx",
                                      "Write the part of a model between two values.", 1 };
  g_auto (GStrv) files = cleave_argument_parse (&arguments, argc, argv, error);

  if (files == NULL)
    return NULL;
  if (o->from == NULL && o->to == NULL)
    return cleave_argument_fail (error, "--from VALUE or --to VALUE is missing"), NULL;
  if (o->output == NULL)
    return cleave_argument_fail (error, "-o OUT.onnx is missing"), NULL;
  if (!cleave_output_name_check_model (o->output, error))
    return NULL;
  return g_steal_pointer (&files);
}

int
cleave_cmd_extract (int argc, char **argv, GError **error)
{
  Options o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveGraph) graph =
      files == NULL ? NULL : cleave_model_load (files[0], &o.model, error);
  g_autoptr (CleaveGraph) part = graph == NULL ||
                                         !cleave_dynamic_check_static (graph, o.from, error) ||
                                         !cleave_dynamic_check_static (graph, o.to, error)
                                     ? NULL
                                     : cleave_graph_extract (graph, (const char *const *) o.from,
                                                             (const char *const *) o.to, error);
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();

  if (part != NULL)
    cleave_dynamic_warn_left_out (graph);
  return part != NULL && cleave_outputs_add_model (outputs, o.output, part, error) &&
                 cleave_outputs_commit (outputs, error)
             ? CLEAVE_DONE
             : CLEAVE_WRONG;
}
