/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../pipeline.h"

/* Makes the text of a pipeline shorter, for the reducer (reduce.c). */

/* Returns the text of a pipeline after change number `number`: a step or group is left out, a group
 * is no longer repeated, or a name is replaced by the passes that it stands for.  NULL if there is
 * no change with this number, and then none with a larger one. */
char *cleave_pipeline_shorten (const CleavePipeline *pipeline, guint number);
