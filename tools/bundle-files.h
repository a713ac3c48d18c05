/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Writes the files of a bundle, and checks a bundle on this machine. */

#include <cleave/cleave.h>

/* Writes the texts by file name into a folder. */
gboolean cleave_bundle_files_write (GHashTable *files, const char *folder, GError **error);
/* Compiles and runs a bundle in a folder of its own. Sets the exit status of its test. */
gboolean cleave_bundle_files_check (GHashTable *files, int *status, GError **error);
