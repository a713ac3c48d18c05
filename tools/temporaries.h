/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* The list of the temporary files of a command. outputs.c adds each file before the file is
 * written, and removes it from the list when the output is freed. If a signal ends the command, a
 * signal handler deletes the files of the list. */

/* Installs the signal handler that deletes the temporary files. Signals that were ignored at the
 * start (nohup) stay ignored. SIGXFSZ is ignored, so that a file over the size limit is an error of
 * writing. */
void cleave_temporaries_catch_signals (void);
/* Adds a file to the list. The list keeps the pointer `path`. If the list has 64 files already,
 * does nothing. */
void cleave_temporaries_add (char *path);
/* Removes a file from the list. Does not delete the file. */
void cleave_temporaries_remove (const char *path);
