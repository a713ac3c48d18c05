/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "outputs.h"
#include "report.h"

/* The page of `cleave report`: one file that a browser shows without any other. */

/* What the command line asks of the page, besides what the command that splits is asked. */
typedef struct
{
  const char *path, *command;
  guint n_threads;
  gboolean with_times, with_frontier;
} CleavePageRequest;

/* Set before the command that splits runs; NULL: nobody wants a page. */
void cleave_page_set_request (const CleavePageRequest *request);
gboolean cleave_page_is_wanted (void);

/* Writes it if it is wanted.  `summary` is NULL where nothing was asked for but the model. */
gboolean cleave_page_write (const CleaveGraph *before,
                            const CleaveGraph *after,
                            const CleaveSummary *summary,
                            gint64 budget,
                            GError **error);
