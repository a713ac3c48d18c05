/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* The files that a command writes: all of them appear, or none. A command adds its outputs, commits
 * them, and frees the list. Each file is written in its folder, under a temporary name with the
 * file's ending. The commit renames all files. If a path is a link, the file that the link leads to
 * is replaced. A replaced file keeps its mode. */
typedef struct _CleaveOutputs CleaveOutputs;

/* Notes a file that was read. No output may replace it, except with cleave_outputs_set_force(). */
void cleave_outputs_protect (const char *path);
/* Lets outputs replace files that were read. */
void cleave_outputs_set_force (gboolean force);

CleaveOutputs *cleave_outputs_new (void);
gboolean
cleave_outputs_add_bytes (CleaveOutputs *outputs, const char *path, GBytes *bytes, GError **error);
gboolean cleave_outputs_add_model (CleaveOutputs *outputs,
                                   const char *path,
                                   const CleaveGraph *graph,
                                   GError **error);
gboolean cleave_outputs_add_drawing (CleaveOutputs *outputs,
                                     const char *path,
                                     const CleaveGraph *graph,
                                     const CleaveDotOptions *options,
                                     GError **error);
gboolean cleave_outputs_add_program (CleaveOutputs *outputs,
                                     const char *path,
                                     const CleaveGraph *graph,
                                     const CleaveProgramOptions *options,
                                     GError **error);
gboolean cleave_outputs_commit (CleaveOutputs *outputs, GError **error);
/* Frees the outputs and removes temporary files that were not committed. */
void cleave_outputs_free (CleaveOutputs *outputs);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOutputs, cleave_outputs_free)
