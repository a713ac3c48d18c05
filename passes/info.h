/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>
#include <cleave/cleave-pass.h>

/* Describes one pass: the function that it runs, or the pipeline that it stands for. Each pass
 * defines a constant record `cleave_pass_info_…` at the end of its file. register.c lists the
 * records, and pipeline-parse.c finds a pass by the name in its record. */
struct _CleavePassInfo
{
  const char *name;
  const char *summary;
  /* options of the pass; the last entry has no name; NULL: no options */
  const CleavePassOption *options;
  /* runs the pass; gets the options as a GHashTable of texts, or NULL without options */
  CleavePassFunc run;
  /* Edits one node and returns whether the graph changed. If not NULL, the pipeline calls this
   * function, in place of `run`, for each node that has users, in topological order. */
  gboolean (*visit) (CleaveNode *node);
  /* Returns whether the options are valid; sets the error if not. Needs no graph. NULL: all options
   * are valid. */
  gboolean (*check) (GHashTable *options, GError **error);
  const char *pipeline; /* text of the pipeline that the pass runs in place of `run` and `visit`;
                           NULL: none */
  gboolean is_for_once; /* the pass must not be in a repeat group */
};
