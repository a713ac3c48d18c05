/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_PASS_INFO (cleave_pass_info_get_gtype ())
#define CLEAVE_TYPE_PIPELINE (cleave_pipeline_get_gtype ())

/**
 * CleavePassFunc:
 * @graph: the graph to change
 * @options: (nullable): options of the pass; %NULL for its defaults.  A pass of the library takes a
 * [struct@GLib.HashTable] of texts by option name
 * @changed: (out) (optional): whether the graph changed
 * @error: return location for a [struct@GLib.Error]
 *
 * A pass over a graph.
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
 * @run: the pass
 * @options: (nullable): options of the pass; %NULL for its defaults
 *
 * A pass to run, with its options.
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

/* Passes by name */

/**
 * CleavePassOption:
 * @name: the name
 * @value: (nullable): what it takes, such as `N` or `SIZE`; %NULL for a flag
 * @summary: what it does
 * @repeats: whether it may be given more than once; its texts are then parted by line breaks
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
 * What there is to know about a pass of the library.  It is static.
 */
typedef struct _CleavePassInfo CleavePassInfo;

CLEAVE_API GType cleave_pass_info_get_gtype (void);
CLEAVE_API const CleavePassInfo *cleave_pass_lookup (const char *name);
CLEAVE_API const CleavePassInfo *const *cleave_pass_list (guint *n_passes);
CLEAVE_API const char *cleave_pass_info_get_name (const CleavePassInfo *info);
CLEAVE_API const char *cleave_pass_info_get_summary (const CleavePassInfo *info);
CLEAVE_API const char *cleave_pass_info_get_pipeline (const CleavePassInfo *info);
CLEAVE_API guint cleave_pass_info_get_n_options (const CleavePassInfo *info);
CLEAVE_API const CleavePassOption *cleave_pass_info_get_option (const CleavePassInfo *info,
                                                                guint index);

/* Pipelines */

/**
 * CleavePipeline:
 *
 * Passes with their options, in an order.
 */
typedef struct _CleavePipeline CleavePipeline;

/**
 * CleavePipelineEvent:
 * @CLEAVE_PIPELINE_BEFORE: a pass is about to run; the answer %FALSE leaves it out
 * @CLEAVE_PIPELINE_UNCHANGED: a pass has run and changed nothing; the answer %FALSE ends the
 * pipeline
 * @CLEAVE_PIPELINE_CHANGED: a pass has changed the graph; the answer %FALSE ends the pipeline
 *
 * When a pipeline calls its observer.
 */
typedef enum {
  CLEAVE_PIPELINE_BEFORE,
  CLEAVE_PIPELINE_UNCHANGED,
  CLEAVE_PIPELINE_CHANGED,
} CleavePipelineEvent;

/**
 * CleavePipelineObserver:
 * @event: what happened
 * @pass: the pass as the text of the pipeline has it
 * @graph: the graph, which must not be changed
 * @data: (closure): the caller's data
 *
 * Looks on while a pipeline runs.
 *
 * Returns: whether to go on
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

/* Reduce */

/**
 * CleaveReduceTest:
 * @graph: a graph, which must not be changed
 * @passes: (nullable): text of a pipeline
 * @data: (closure): the caller's data
 *
 * Looks at a graph that became smaller.
 *
 * Returns: whether the graph, with the pipeline, is still of interest, such as by failing
 */
typedef gboolean (*CleaveReduceTest) (const CleaveGraph *graph, const char *passes, gpointer data);

CLEAVE_API CleaveGraph *cleave_graph_reduce (const CleaveGraph *graph,
                                             const char *passes,
                                             CleaveReduceTest test,
                                             gpointer data,
                                             char **reduced_passes,
                                             GError **error);

/* The passes, for C */

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
