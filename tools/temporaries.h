/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* The temporary files of a command, which it removes if a signal ends it. */

/* Removes temporary files if a signal ends the process. Signals that were ignored at the start
 * (nohup) stay ignored. SIGXFSZ is ignored, so that a file over the size limit is an error of
 * writing. */
void cleave_temporaries_catch_signals (void);
/* Adds a file to the files to remove. The list keeps `path`, and ignores it if it has 64 files. */
void cleave_temporaries_add (char *path);
/* Removes a file from the list, not from the disk. */
void cleave_temporaries_remove (const char *path);
