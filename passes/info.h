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
  const CleavePassOption
      *options; /* options of the pass; an entry without a name ends them; NULL: no options */
  CleavePassFunc
      run; /* runs the pass; gets its options as a GHashTable of texts, or NULL if there are none */
  /* Used in place of `run`: the pass calls it for each node that has users, in topological order.
   * Returns whether it changed the graph. */
  gboolean (*visit) (CleaveNode *node);
  /* Checks the options without a graph. NULL: all options are valid. */
  gboolean (*check) (GHashTable *options, GError **error);
  const char *pipeline; /* pipeline as text, which runs in place of `run` and `visit`; NULL: none */
  gboolean is_for_once; /* the pass must not be in a repeat group */
};
