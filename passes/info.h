/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>
#include <cleave/cleave-pass.h>

/* Everything the library knows about one pass: what runs, or a pipeline that it stands for. */
struct _CleavePassInfo
{
  const char *name;
  const char *summary;
  const CleavePassOption *options; /* ends with no name; NULL: none */
  CleavePassFunc run;              /* its options are a GHashTable of texts, or NULL */
  /* In the place of `run`: is shown each node that is used, once, in order, and says whether it
   * changed the graph. */
  gboolean (*visit) (CleaveNode *node);
  /* What can be told of the options without a graph; NULL: nothing. */
  gboolean (*check) (GHashTable *options, GError **error);
  const char *pipeline; /* in the place of both */
  gboolean is_for_once; /* it would go on for ever if it were repeated until nothing changes */
};
