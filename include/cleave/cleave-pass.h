/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Passes, which edit a graph, and pipelines, which are sequences of passes. A pipeline can be
 * written as text, such as `fold-constants,split{node=pool1 dims=H num-chunks=2},clean-up`. With
 * CLEAVE_DEBUG=validate in the environment, the graph is checked after each pass. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_PASS_INFO (cleave_pass_info_get_gtype ())
#define CLEAVE_TYPE_PIPELINE (cleave_pipeline_get_gtype ())

/**
 * CleavePassFunc:
 * @graph: the graph to change
 * @options: (nullable): options of the pass; %NULL for its defaults. The passes of the library take
 * a [struct@GLib.HashTable] from option names to texts
 * @changed: (out) (optional): whether the graph changed
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs a pass over a graph.
 *
 * Returns: %TRUE, or %FALSE on error
 */
typedef gboolean (*CleavePassFunc) (CleaveGraph *graph,
                                    gconstpointer options,
                                    gboolean *changed,
                                    GError **error);

/**
 * CleavePass:
 * @name: the name, for messages
 * @run: the function of the pass
 * @options: (nullable): options of the pass; %NULL for its defaults
 *
 * A pass that a pipeline or a caller runs, and the options of the pass.
 */
typedef struct
{
  const char *name;
  CleavePassFunc run;
  gconstpointer options;
} CleavePass;

CLEAVE_API gboolean cleave_passes_run (CleaveGraph *graph,
                                       const CleavePass *passes,
                                       guint n_passes,
                                       gboolean *changed,
                                       GError **error);
CLEAVE_API gboolean cleave_passes_run_to_end (CleaveGraph *graph,
                                              const CleavePass *passes,
                                              guint n_passes,
                                              gboolean *changed,
                                              GError **error);
CLEAVE_API gboolean cleave_clean_up (CleaveGraph *graph, gboolean *changed, GError **error);

/* The declarations below find passes by name and list options, for help texts and pipelines. */

/**
 * CleavePassOption:
 * @name: the name
 * @value: (nullable): placeholder of the argument in the help, such as `N` or `SIZE`; %NULL for a
 * flag, which takes no argument
 * @summary: one line of help
 * @repeats: whether the option may be given more than once; the pass then gets the arguments as one
 * text, separated by line breaks
 *
 * An option of a pass.
 */
typedef struct
{
  const char *name;
  const char *value;
  const char *summary;
  gboolean repeats;
} CleavePassOption;

/**
 * CleavePassInfo:
 *
 * Describes a pass that pipelines can name: its name, a summary and its options. The description is
 * never freed.
 */
typedef struct _CleavePassInfo CleavePassInfo;

CLEAVE_API GType cleave_pass_info_get_gtype (void);
CLEAVE_API const CleavePassInfo *cleave_pass_lookup (const char *name);
CLEAVE_API const CleavePassInfo *const *cleave_pass_list (guint *n_passes);
CLEAVE_API gboolean cleave_pass_register (const char *name,
                                          const char *summary,
                                          const CleavePassOption *options,
                                          guint n_options,
                                          CleavePassFunc run,
                                          GError **error);
CLEAVE_API gboolean cleave_pass_load (const char *path, GError **error);
#ifndef __GI_SCANNER__
/* A module that cleave_pass_load () loads defines this function, which registers the passes of the
 * module. The library itself does not define this function. */
__attribute__ ((visibility ("default"))) gboolean cleave_register_passes (GError **error);
#endif
CLEAVE_API const char *cleave_pass_info_get_name (const CleavePassInfo *info);
CLEAVE_API const char *cleave_pass_info_get_summary (const CleavePassInfo *info);
CLEAVE_API const char *cleave_pass_info_get_pipeline (const CleavePassInfo *info);
CLEAVE_API guint cleave_pass_info_get_n_options (const CleavePassInfo *info);
CLEAVE_API const CleavePassOption *cleave_pass_info_get_option (const CleavePassInfo *info,
                                                                guint index);

/* The declarations below are for pipelines. */

/**
 * CleavePipeline:
 *
 * A sequence of passes with their options.
 */
typedef struct _CleavePipeline CleavePipeline;

/**
 * CleavePipelineEvent:
 * @CLEAVE_PIPELINE_BEFORE: a pass is about to run; if the observer returns %FALSE, the pass is
 * skipped
 * @CLEAVE_PIPELINE_UNCHANGED: a pass ran and changed nothing; if the observer returns %FALSE, the
 * pipeline ends
 * @CLEAVE_PIPELINE_CHANGED: a pass changed the graph; if the observer returns %FALSE, the pipeline
 * ends
 *
 * The events for which a pipeline calls its observer.
 */
typedef enum {
  CLEAVE_PIPELINE_BEFORE,
  CLEAVE_PIPELINE_UNCHANGED,
  CLEAVE_PIPELINE_CHANGED,
} CleavePipelineEvent;

/**
 * CleavePipelineObserver:
 * @event: the event
 * @pass: the pass with its options, as the pipeline prints it
 * @graph: the graph, which must not be changed
 * @data: (closure): the caller's data
 *
 * Observes a pipeline while it runs.
 *
 * Returns: %TRUE to continue; @event says what %FALSE means
 */
typedef gboolean (*CleavePipelineObserver) (CleavePipelineEvent event,
                                            const char *pass,
                                            const CleaveGraph *graph,
                                            gpointer data);

CLEAVE_API GType cleave_pipeline_get_gtype (void);
CLEAVE_API CleavePipeline *cleave_pipeline_parse (const char *text, GError **error);
CLEAVE_API char *cleave_pipeline_print (const CleavePipeline *pipeline);
CLEAVE_API gboolean cleave_pipeline_run (const CleavePipeline *pipeline,
                                         CleaveGraph *graph,
                                         CleavePipelineObserver observer,
                                         gpointer data,
                                         gboolean *changed,
                                         GError **error);
CLEAVE_API CleavePipeline *cleave_pipeline_ref (CleavePipeline *pipeline);
CLEAVE_API void cleave_pipeline_unref (CleavePipeline *pipeline);

/* The declarations below find a small graph and a short pipeline that still show the failure of a
 * larger graph and a longer pipeline. */

/**
 * CleaveReduceTest:
 * @graph: a graph, which must not be changed
 * @passes: (nullable): a pipeline as text; %NULL for none
 * @data: (closure): the caller's data
 *
 * Tests a candidate of [method@Cleave.Graph.reduce], a smaller graph and a shorter pipeline.
 *
 * Returns: whether the candidate still shows the behavior that is searched for, such as a failure
 */
typedef gboolean (*CleaveReduceTest) (const CleaveGraph *graph, const char *passes, gpointer data);

CLEAVE_API CleaveGraph *cleave_graph_reduce (const CleaveGraph *graph,
                                             const char *passes,
                                             CleaveReduceTest test,
                                             gpointer data,
                                             char **reduced_passes,
                                             GError **error);

/* The functions below are the passes of the library. */

CLEAVE_API gboolean cleave_pass_forward_slices (CleaveGraph *graph,
                                                gconstpointer options,
                                                gboolean *changed,
                                                GError **error);
CLEAVE_API gboolean cleave_pass_fold_views (CleaveGraph *graph,
                                            gconstpointer options,
                                            gboolean *changed,
                                            GError **error);
CLEAVE_API gboolean cleave_pass_fold_constants (CleaveGraph *graph,
                                                gconstpointer options,
                                                gboolean *changed,
                                                GError **error);
CLEAVE_API gboolean cleave_pass_merge_equal (CleaveGraph *graph,
                                             gconstpointer options,
                                             gboolean *changed,
                                             GError **error);
CLEAVE_API gboolean cleave_pass_remove_dead (CleaveGraph *graph,
                                             gconstpointer options,
                                             gboolean *changed,
                                             GError **error);
CLEAVE_API gboolean cleave_pass_join_elementwise (CleaveGraph *graph,
                                                  gconstpointer options,
                                                  gboolean *changed,
                                                  GError **error);
CLEAVE_API gboolean cleave_pass_split_for_threads (CleaveGraph *graph,
                                                   gconstpointer options,
                                                   gboolean *changed,
                                                   GError **error);
CLEAVE_API gboolean cleave_pass_split_for_ranks (CleaveGraph *graph,
                                                 gconstpointer options,
                                                 gboolean *changed,
                                                 GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleavePipeline, cleave_pipeline_unref)

G_END_DECLS
