/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-path.h"

#include <cleave/cleave-program.h>

/* A segment of a plan by the names of its nodes, so that a copy of the graph can be split.
 * Reference-counted. */
typedef struct
{
  char **nodes, **ends;
  GArray *dims;    /* guint: of each end */
  GArray *columns; /* guint: likewise, if strips are cut into tiles */
  CleaveFitCandidate candidate;
  gboolean is_even;
} CleaveFitPart;

/* What a path comes to, measured on a copy that is cut. */
typedef struct
{
  GPtrArray *parts;   /* CleaveFitPart */
  gboolean is_listed; /* they are of the order in which the nodes stand, which pieces keep */
  CleaveEstimate estimate;
  gint64 peak_apart; /* bytes, were nothing laid over what dies */
  gint64 macs;
  guint n_nodes;
  char *peak;          /* the largest values that are alive when most memory is in use */
  gint64 *part_bytes;  /* of each part: the most live meanwhile, all buffers apart; 0: unknown */
  CleaveFitPath *path; /* that it was made of, or NULL */
} CleaveFitTry;

void cleave_fit_try_free (CleaveFitTry *tried);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitTry, cleave_fit_try_free)

/* Splits a copy of the graph as the path says, and measures it. */
CleaveFitTry *cleave_fit_try_new (const CleaveGraph *graph,
                                  const CleaveFitCandidates *candidates,
                                  const CleaveFitPath *path,
                                  gboolean is_listed,
                                  guint n_threads);
/* The same of parts that are known, but for some that stay whole. */
CleaveFitTry *cleave_fit_try_new_without (const CleaveGraph *graph,
                                          const GPtrArray *parts,
                                          const gboolean *whole,
                                          gboolean is_listed,
                                          guint n_threads);
/* Cuts the graph, and tells the report unless it is NULL.  FALSE: it is another graph, and nothing
 * was done. */
gboolean cleave_fit_parts_apply (const GPtrArray *parts,
                                 CleaveGraph *graph,
                                 gboolean is_listed,
                                 CleaveSplitReport *report,
                                 GError **error);
