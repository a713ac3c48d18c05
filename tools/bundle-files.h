/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Writes the files of a bundle, and checks a bundle on this machine. cmd-bundle.c takes the texts
 * of the files from a CleaveBundle and calls these functions last. `cleave bundle --check` compiles
 * the files with the C compiler of this machine. */

#include <cleave/cleave.h>

/* Writes files into a folder. `files` maps the name of each file to its text. */
gboolean cleave_bundle_files_write (GHashTable *files, const char *folder, GError **error);
/* Compiles a bundle in a temporary folder, runs the test of the bundle, and sets `status` to the
 * exit status of the test. `files` maps the name of each file to its text. */
gboolean cleave_bundle_files_check (GHashTable *files, int *status, GError **error);
