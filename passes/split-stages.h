/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "split-report.h"

/* A stage is a part of a graph whose values are large, between two values that are small and that
 * all goes through.
 *
 *   small ──► large ──► large ──► small        cut at its end into strips that carry their halo,
 *    a                               b         so that of each large value only a few rows live
 *
 * Strips follow each other layer by layer: several threads work at as many strips, each a layer or
 * so behind the one before it. */

typedef struct _CleaveStage CleaveStage;

/* The stages whose cutting makes memory less with so many threads, each with its strips chosen;
 * nothing is changed.  NULL if the graph has a cycle. */
GPtrArray *cleave_stages_find (CleaveGraph *graph, guint n_threads, GError **error);
gboolean cleave_stage_contains (const CleaveStage *stage, const CleaveNode *node);
/* Cuts a stage, whose nodes nobody has changed since, and tells the report. */
void cleave_stage_cut (const CleaveStage *stage, CleaveGraph *graph, CleaveSplitReport *report);
