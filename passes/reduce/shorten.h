/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../pipeline.h"

/* Makes the text of a pipeline shorter, for the reducer (reduce.c). The reducer tries one change
 * after the other, until no shorter pipeline passes its test. */

/* Returns the text of a pipeline after change number `number`. A change leaves out a step or a
 * group, stops repeating a group, or replaces a name by the passes that it stands for. Returns NULL
 * if there are at most `number` changes. */
char *cleave_pipeline_shorten (const CleavePipeline *pipeline, guint number);
