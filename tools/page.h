/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "outputs.h"
#include "report.h"

/* The page of `cleave report`: one HTML file that needs no other file. cmd-report.c requests the
 * page and runs the command split or fit. That command has the graphs and the report, so it writes
 * the page with cleave_page_write(). The template and the script are in the folder report. */

/* The options of the command line for the page itself. */
typedef struct
{
  const char *path, *command;
  guint n_threads;
  gboolean with_times, with_frontier;
} CleavePageRequest;

/* Requests a page; NULL: no page. `report` calls this function before it runs split or fit, and
 * these commands then call cleave_page_write(). */
void cleave_page_set_request (const CleavePageRequest *request);
gboolean cleave_page_is_wanted (void);

/* Writes the page if it was requested. `summary` is NULL if only the model is shown; `budget` is
 * the memory limit in bytes, 0 for none. */
gboolean cleave_page_write (const CleaveGraph *before,
                            const CleaveGraph *after,
                            const CleaveSummary *summary,
                            gint64 budget,
                            GError **error);
