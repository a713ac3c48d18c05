/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "json.h"

#include <cleave/cleave.h>

/* Messages of commands about the dynamic part of a model. */

/* Says on standard error that the model has a dynamic part, which the command leaves as it is. Does
 * nothing if it has none. */
void cleave_dynamic_warn (const CleaveGraph *graph, const char *path);
/* Fails if the model has a dynamic part. `what` is the end of a sentence that begins with the
 * model. */
gboolean cleave_dynamic_refuse (const CleaveGraph *graph, const char *what, GError **error);
/* Prints the nodes of the dynamic part: those that are the reason for it, or all. */
void cleave_dynamic_print (const CleaveOnnxDynamic *dynamic, gboolean all);
void cleave_dynamic_add_json (CleaveJson *json, const CleaveOnnxDynamic *dynamic);
/* Returns whether the output of the graph is one of the model, and not only a value that the
 * dynamic part reads. */
gboolean cleave_dynamic_is_output (const CleaveGraph *graph, const char *output);
