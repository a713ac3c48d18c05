/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../pipeline.h"

/* The text of a pipeline with one thing less: a pass or group left out, a group that is not
 * repeated, or the passes that a name stands for in its place.  NULL: there is no such pipeline
 * with this number, and none with a larger one. */
char *cleave_pipeline_shorten (const CleavePipeline *pipeline, guint number);
