/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Writes the files of a bundle. cmd-bundle.c takes the texts of the files from a CleaveBundle and
 * calls these functions last; bundle-check.c writes the files into a temporary folder. */

#include <cleave/cleave.h>

/* Writes files into a folder. `files` maps the name of each file to its text. */
gboolean cleave_bundle_files_write (GHashTable *files, const char *folder, GError **error);
