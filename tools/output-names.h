/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "standard.h"

/* Names of files that a command will write. Commands check them before they read a model and
 * search, so that a wrong name costs no time. */

/* Fails if the name has none of the endings, or if its folder does not exist or cannot be written
 * to. `what` is the purpose of the file in the message, such as "write a model". `endings` are
 * separated by blanks; NULL: any ending. NULL and "-" as a path are always good. */
gboolean
cleave_output_name_check (const char *path, const char *what, const char *endings, GError **error);

/* Fails if the folder can be neither found nor made. Makes no folder. The path may be NULL. */
gboolean cleave_output_name_check_folder (const char *path, GError **error);
/* Makes a folder and the folders above it. */
gboolean cleave_output_make_folder (const char *path, GError **error);

/* Checks the name of a model to write: .onnx, or .cleave for text. */
gboolean cleave_output_name_check_model (const char *path, GError **error);
/* Checks the names of a drawing before a change, and of one after it. */
gboolean cleave_output_name_check_drawings (const char *before, const char *after, GError **error);
