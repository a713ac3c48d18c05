/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "info.h"

/* Pipelines: lists of passes with options, parsed from text such as
 * `fold-constants,split{node=conv1 num-chunks=2},clean-up`. */

/* A step of a pipeline: a pass, or a group that is repeated until nothing changes. */
typedef struct
{
  const CleavePassInfo *info; /* the pass; NULL: the step is a group */
  GHashTable *options;        /* options of the step: their texts by name */
  char *text;                 /* the step as the user wrote it */
  CleavePipeline *group; /* steps of a group, or of a pass that stands for a pipeline; else NULL */
} CleavePipelineStep;

struct _CleavePipeline
{
  GArray *steps; /* CleavePipelineStep: passes and groups, in the order of a run */
};

CleavePipeline *cleave_pipeline_new (void);

/* Runs one pass.  CLEAVE_DEBUG and CLEAVE_SKIP in the environment can validate, print or skip it.
 * Sets `*changed` if it changed the graph, and leaves it alone otherwise.  Implemented in pass.c.
 */
gboolean
cleave_pass_run (CleaveGraph *graph, const CleavePass *pass, gboolean *changed, GError **error);
