/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>
#include <cleave/cleave-pass.h>

/* Describes one pass: the function that it runs, or the pipeline that it stands for.  register.c
 * lists all passes. */
struct _CleavePassInfo
{
  const char *name;
  const char *summary;
  const CleavePassOption *options; /* ends with an entry without a name; NULL: none */
  CleavePassFunc run; /* runs the pass; its options are a GHashTable of texts, or NULL */
  /* In place of `run`: called once for each node that is used, in topological order.  Returns
   * whether it changed the graph. */
  gboolean (*visit) (CleaveNode *node);
  /* Checks the options without a graph; NULL: any are accepted. */
  gboolean (*check) (GHashTable *options, GError **error);
  const char *pipeline; /* text of a pipeline that runs instead of `run` and `visit` */
  gboolean is_for_once; /* never ends in a repeat group */
};
