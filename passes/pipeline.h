/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "info.h"

/* Pipelines: lists of passes with options, parsed from text such as
 * `fold-constants,split{node=conv1 num-chunks=2},clean-up`. */

/* A step of a pipeline: a pass, or a group that repeats until no pass changes the graph. */
typedef struct
{
  const CleavePassInfo *info; /* the pass; NULL: the step is a group */
  GHashTable *options;        /* maps the names of the step's options to their texts */
  char *text;                 /* the step as the user wrote it */
  /* steps of a group, or of a pass that stands for a pipeline; NULL: neither */
  CleavePipeline *group;
} CleavePipelineStep;

struct _CleavePipeline
{
  GArray *steps; /* CleavePipelineStep: passes and groups, in the order of a run */
};

CleavePipeline *cleave_pipeline_new (void);

/* Runs one pass (pass.c). The environment variable CLEAVE_DEBUG can make this function validate or
 * print the graph; CLEAVE_SKIP can make it skip the pass. Sets `*changed` to TRUE if the pass
 * changed the graph, else leaves `*changed` unchanged. Returns FALSE and sets the error if the pass
 * fails. */
gboolean
cleave_pass_run (CleaveGraph *graph, const CleavePass *pass, gboolean *changed, GError **error);
