/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "standard.h"

/* Names of files that a command will write. A command checks the names after it reads its command
 * line, and before it loads a model. So a wrong name costs no time. outputs.h writes the files at
 * the end. */

/* Fails if the name has none of the endings, or if its folder does not exist or cannot be written
 * to. `what` is the purpose of the file in the message, such as "write a model". `endings` are
 * separated by blanks; NULL: any ending. NULL and "-" as a path are always good. */
gboolean
cleave_output_name_check (const char *path, const char *what, const char *endings, GError **error);

/* Checks that the folder `path` exists or can be made, but does not make it. Returns FALSE and an
 * error if not. `path` may be NULL. */
gboolean cleave_output_name_check_folder (const char *path, GError **error);
/* Makes a folder and the folders above it. */
gboolean cleave_output_make_folder (const char *path, GError **error);

/* Checks the name of a model to write: .onnx, or .cleave for text. */
gboolean cleave_output_name_check_model (const char *path, GError **error);
/* Checks the names of two drawings: one of the graph before a change, one of the graph after it.
 * NULL: no drawing. */
gboolean cleave_output_name_check_drawings (const char *before, const char *after, GError **error);

/* Returns a file name for each name, NULL-terminated: characters other than ASCII letters, digits,
 * '.', '_' and '-' become '_', and the suffix follows. All file names are different: if two names
 * would get one file name, the second name gets a number, such as "a_b-2.npy". A name in which no
 * character is replaced never gets a number. */
char **cleave_output_name_files (char *const *names, const char *suffix);
