/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave opt`: runs a pipeline of passes on a graph. With --reduce, the command reduces a graph
 * for which a pipeline fails. */

#include "arguments.h"
#include "commands.h"
#include "model.h"
#include "observe.h"
#include "output-names.h"
#include "outputs.h"
#include "reduce.h"
#include "standard.h"

#include <stdio.h>

typedef struct
{
  CleaveModelOptions model;
  CleaveObserver observer;
  char *passes, *file, *output, *folder, *stop_after, *bisect, *reduce;
  char **modules;
  gboolean list;
} Options;

static void
options_clear (Options *o)
{
  cleave_observer_clear (&o->observer);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
list_passes (void)
{
  guint n_passes;
  const CleavePassInfo *const *passes = cleave_pass_list (&n_passes);

  for (guint i = 0; i < n_passes; i++)
    {
      const char *pipeline = cleave_pass_info_get_pipeline (passes[i]);

      printf ("%s\n    %s\n", cleave_pass_info_get_name (passes[i]),
              cleave_pass_info_get_summary (passes[i]));
      if (pipeline != NULL)
        printf ("    = %s\n", pipeline);
      for (guint j = 0; j < cleave_pass_info_get_n_options (passes[i]); j++)
        {
          const CleavePassOption *option = cleave_pass_info_get_option (passes[i], j);
          g_autofree char *text =
              g_strconcat (option->name, option->value == NULL ? NULL : "=", option->value, NULL);

          printf ("      %s%*s %s%s\n", text, MAX (26 - (int) g_utf8_strlen (text, -1), 1), "",
                  option->summary, option->repeats ? "; may be given again" : "");
        }
    }
}

/* Checks that a command line with --list-passes has no other option than --load FILE.so. */
static gboolean
check_list (int argc, char **argv, GError **error)
{
  if (!g_strv_contains ((const char *const *) argv + 1, "--list-passes"))
    return TRUE;
  for (int i = 1; i < argc; i++)
    if (g_str_equal (argv[i], "--load"))
      i++;
    else if (!g_str_equal (argv[i], "--list-passes") && !g_str_has_prefix (argv[i], "--load="))
      return cleave_argument_fail (error, "--list-passes takes no other arguments than --load");
  return TRUE;
}

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    { "passes", 'p', 0, G_OPTION_ARG_STRING, &o->passes,
      "run this pipeline, such as fold-constants,split{node=pool1 dims=H num-chunks=2},clean-up",
      "TEXT" },
    { "passes-file", 0, 0, G_OPTION_ARG_FILENAME, &o->file, "read the pipeline from a file",
      "FILE" },
    { "load", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->modules,
      "load passes from this shared library; may be given again", "FILE.so" },
    { "list-passes", 0, 0, G_OPTION_ARG_NONE, &o->list, "list the passes and their options", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output,
      "write the model, as text if the name ends with .cleave (default: print the graph)",
      "OUT.onnx|OUT.cleave" },
    { "print-after-all", 0, 0, G_OPTION_ARG_NONE, &o->observer.print_after_all,
      "print the graph after each pass", NULL },
    { "print-changed", 0, 0, G_OPTION_ARG_NONE, &o->observer.print_changed,
      "print the nodes that each pass removed and added", NULL },
    { "dot-after-each", 0, 0, G_OPTION_ARG_FILENAME, &o->folder,
      "draw the graph after each change, into this folder", "DIR" },
    { "verify-each", 0, 0, G_OPTION_ARG_NONE, &o->observer.verify_each,
      "check after each pass that the graph is valid", NULL },
    { "time-passes", 0, 0, G_OPTION_ARG_NONE, &o->observer.time_passes,
      "print the time of each pass", NULL },
    { "stop-after", 0, 0, G_OPTION_ARG_STRING, &o->stop_after, "end after this pass", "PASS" },
    { "bisect", 0, 0, G_OPTION_ARG_STRING, &o->bisect,
      "run passes until N passes have changed the graph", "N" },
    { "reduce", 0, 0, G_OPTION_ARG_STRING, &o->reduce,
      "run no passes; find a small graph and pipeline with which CMD \"$1\" \"$2\" still ends with "
      "0",
      "CMD" },
    CLEAVE_MODEL_OPTIONS (o->model),
    CLEAVE_FORCE_OPTION (o->model),
    G_OPTION_ENTRY_NULL,
  };
  static const CleaveArgumentNeed needs[] = { { "force", { "output" } }, { 0 } };
  const CleaveArguments arguments = { entries, needs, "MODEL.onnx",
                                      "Run a pipeline of passes on a model. Reports on passes go "
                                      "to standard error.\n--list-passes needs no model.",
                                      G_MAXUINT };

  return cleave_argument_parse (&arguments, argc, argv, error);
}

static gboolean
load_modules (const Options *o, GError **error)
{
  for (guint i = 0; o->modules != NULL && o->modules[i] != NULL; i++)
    if (!cleave_pass_load (o->modules[i], error))
      return FALSE;
  return TRUE;
}

/* Fails if --reduce is given with an option that observes or ends a pipeline: --reduce runs no
 * pipeline, so that option would have no effect. */
static gboolean
check_reduce (const Options *o, GError **error)
{
  const CleaveObserver *observer = &o->observer;

  if (o->reduce == NULL ||
      !(observer->print_after_all || observer->print_changed || observer->verify_each ||
        observer->time_passes || o->folder != NULL || o->stop_after != NULL || o->bisect != NULL))
    return TRUE;
  return cleave_argument_fail (
      error, "--reduce runs no passes: leave out --print-after-all, --print-changed, "
             "--dot-after-each, --verify-each, --time-passes, --stop-after and --bisect");
}

static CleavePipeline *
parse_pipeline (const Options *o, GError **error)
{
  g_autofree char *text = NULL;
  CleavePipeline *pipeline;

  if (o->reduce != NULL && o->passes == NULL && o->file == NULL)
    return NULL;
  if ((o->passes == NULL) == (o->file == NULL))
    {
      cleave_argument_fail (error,
                            "expected either --passes or --passes-file, such as --passes clean-up; "
                            "cleave opt --list-passes lists the passes");
      return NULL;
    }
  if (o->passes != NULL)
    return cleave_pipeline_parse (o->passes, error);
  cleave_outputs_protect (o->file);
  if (!cleave_read_file (o->file, &text, NULL, error))
    return NULL;
  pipeline = cleave_pipeline_parse (text, error);
  if (pipeline == NULL)
    g_prefix_error (error, "'%s': ", o->file);
  return pipeline;
}

static gboolean
prepare_observer (Options *o, GError **error)
{
  gint64 n = -1;

  if (o->bisect != NULL && !cleave_text_to_int ("--bisect", o->bisect, 0, G_MAXINT64, &n, error))
    return FALSE;
  if (o->stop_after != NULL && cleave_pass_lookup (o->stop_after) == NULL)
    return cleave_argument_fail (error, "--stop-after: there is no pass '%s'", o->stop_after);
  if (o->folder != NULL && !cleave_output_make_folder (o->folder, error))
    return FALSE;
  o->observer.max_changes = n;
  o->observer.stop_after = o->stop_after;
  o->observer.dot_folder = o->folder;
  return TRUE;
}

static gboolean
run (Options *o, const CleavePipeline *pipeline, CleaveGraph *graph, GError **error)
{
  if (!cleave_pipeline_run (pipeline, graph, cleave_observe, &o->observer, NULL, error))
    return FALSE;
  if (o->observer.error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&o->observer.error));
      return FALSE;
    }
  if (o->stop_after != NULL && !o->observer.stopped)
    return cleave_argument_fail (error, "--stop-after: the pipeline does not run '%s'",
                                 o->stop_after);
  if (o->observer.time_passes)
    cleave_observer_print_times (&o->observer);
  return TRUE;
}

static gboolean
write_graph (const Options *o, const CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  g_autofree char *text = o->output != NULL   ? NULL
                          : o->reduce != NULL ? cleave_graph_to_text (graph, NULL, NULL)
                                              : cleave_graph_print (graph);

  if (o->output == NULL)
    return fputs (text, stdout) >= 0;
  return cleave_outputs_add_model (outputs, o->output, graph, error) &&
         cleave_outputs_commit (outputs, error);
}

int
cleave_cmd_opt (int argc, char **argv, GError **error)
{
  g_auto (Options) o = { 0 };
  g_auto (GStrv) files = check_list (argc, argv, error) ? parse (argc, argv, &o, error) : NULL;
  g_autoptr (CleavePipeline) pipeline = NULL;
  g_autoptr (CleaveGraph) graph = NULL;

  if (files == NULL || !load_modules (&o, error))
    return CLEAVE_WRONG;
  if (o.list)
    {
      list_passes ();
      return CLEAVE_DONE;
    }
  if (!check_reduce (&o, error) || !cleave_output_name_check_model (o.output, error))
    return CLEAVE_WRONG;
  if (g_strv_length (files) != 1)
    {
      cleave_argument_fail (error, "expected one MODEL.onnx, found %u files",
                            g_strv_length (files));
      return CLEAVE_WRONG;
    }
  pipeline = parse_pipeline (&o, error);
  if ((pipeline == NULL && (o.reduce == NULL || *error != NULL)) || !prepare_observer (&o, error))
    return CLEAVE_WRONG;
  graph = cleave_model_load (files[0], &o.model, error);
  if (graph == NULL || (o.reduce == NULL ? !run (&o, pipeline, graph, error)
                                         : !cleave_reduce (&graph, pipeline, o.reduce, error)))
    return CLEAVE_WRONG;
  if (!write_graph (&o, graph, error))
    return CLEAVE_WRONG;
  return CLEAVE_DONE;
}
