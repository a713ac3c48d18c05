/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "info.h"

/* A pass, or a group that is repeated until nothing changes. */
typedef struct
{
  const CleavePassInfo *info; /* NULL: a group */
  GHashTable *options;        /* texts by name */
  char *text;                 /* as it was written */
  CleavePipeline *group;      /* also of a pass that stands for a pipeline; or NULL */
} CleavePipelineStep;

struct _CleavePipeline
{
  GArray *steps; /* CleavePipelineStep */
};

CleavePipeline *cleave_pipeline_new (void);

/* pass.c: runs one, as the environment says. */
gboolean
cleave_pass_run (CleaveGraph *graph, const CleavePass *pass, gboolean *changed, GError **error);
