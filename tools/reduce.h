/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* A smaller graph in the place of this one: one of which the shell command still ends with 0, given
 * a file with the graph and the text of the pipeline, which may be NULL.  The pipeline that is left
 * is printed. */
gboolean cleave_reduce (CleaveGraph **graph,
                        const CleavePipeline *pipeline,
                        const char *command,
                        GError **error);
