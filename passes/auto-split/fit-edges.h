/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-best.h"

#include <gio/gio.h>

/* A segment has no more tiles: each is some nodes.  Where what is found does not do, it may have
 * more: pixels of 22 rows are one each, and a network for microcontrollers comes to 202,560 bytes
 * in place of 211,520. */
#define CLEAVE_FIT_MAX_TILES 400
#define CLEAVE_FIT_MAX_FINE_TILES 600

/* What a path asks of a segment; there are some hundred thousand of them, which are gone through
 * some hundred times. */
typedef struct
{
  gint64 n_bytes;
  double work, again;
  double macs; /* nanoseconds */
  guint begin;
  gboolean is_best;
} CleaveFitLink;

/* All segments that a graph can be cut into, by the step where they end. */
typedef struct
{
  const CleaveFitSteps *steps;
  GArray *edges;        /* CleaveFitEdge */
  CleaveFitLink *links; /* of each, which has the same number of bytes */
  guint *first;         /* of each end; n_steps + 2 */
  gboolean has_tiles, has_laps, has_narrow, has_fine;
  gboolean is_even;    /* strips are of one size but for the last */
  gboolean has_chunks; /* with is_even: also segments whose pieces read different weights */
  CleaveFitLaps laps;
  guint64 n_visits; /* nodes that all walks have come by */
} CleaveFitEdges;

/* Tells how far it is, of 1. */
typedef void (*CleaveFitTell) (double part, gpointer data);

typedef struct
{
  GCancellable *cancellable;
  CleaveFitTell tell;
  gpointer data;
  guint n_threads; /* that look for segments; 0: as many as there are processors */
} CleaveFitWatch;

/* All that are strips; or, if those are given, they and what they are cut into tiles.  FALSE: it
 * was cancelled, and not all are there. */
gboolean cleave_fit_edges_init (CleaveFitEdges *edges,
                                const CleaveFitSteps *steps,
                                const CleaveFitEdges *strips,
                                const CleaveFitWatch *watch,
                                GError **error);
/* Those that are given, and more that are cut into more tiles than those are; of use with
 * CLEAVE_FIT_FINE alone.  FALSE: likewise. */
gboolean cleave_fit_edges_init_fine (CleaveFitEdges *edges,
                                     const CleaveFitEdges *tiles,
                                     const CleaveFitWatch *watch);
/* The same segments, whose results lie over what dies meanwhile; the others are to live as long. */
void cleave_fit_edges_init_lapped (CleaveFitEdges *edges,
                                   const CleaveFitEdges *apart,
                                   CleaveFitLaps laps);
/* The same, likewise, for CLEAVE_FIT_KEPT. */
void cleave_fit_edges_init_kept (CleaveFitEdges *edges, const CleaveFitEdges *tiles);
void cleave_fit_edges_clear (CleaveFitEdges *edges);
/* A segment was measured: it needs so many bytes, and those like it are thought to need as much
 * more than was foreseen. */
void cleave_fit_edges_learn (CleaveFitEdges *edges, const CleaveFitEdge *measured, gint64 n_bytes);
/* The same, of that segment alone, if it needed less than was foreseen. */
void cleave_fit_edges_recall (CleaveFitEdges *edges, const CleaveFitEdge *measured, gint64 n_bytes);
void cleave_fit_edges_forget (CleaveFitEdges *edges);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFitEdges, cleave_fit_edges_clear)
