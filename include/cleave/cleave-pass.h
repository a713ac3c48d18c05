/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/**
 * CleavePassFunc:
 * @graph: the graph to change
 * @options: (nullable): options of the pass; %NULL for its defaults
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
 * A step of a pipeline.
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

G_END_DECLS
