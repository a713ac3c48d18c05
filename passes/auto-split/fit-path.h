/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-walk.h"

#include <gio/gio.h>

/* Whether results are thought to lie over what dies meanwhile: where strips do not read far ahead,
 * or wherever they can.  Or else whether strips may make again what is wide: of all others, none
 * does. */
typedef enum {
  CLEAVE_FIT_APART,
  CLEAVE_FIT_LAPPED,
  CLEAVE_FIT_BOLD,
  CLEAVE_FIT_NARROW,
  CLEAVE_FIT_N_LAPS
} CleaveFitLaps;

/* All segments that a graph can be cut into, by the step where they end. */
typedef struct
{
  const CleaveFitSteps *steps;
  CleaveFitWalker *walker;
  GArray *edges; /* CleaveFitEdge */
  guint *first;  /* of each end; n_steps + 2 */
  gboolean has_tiles, has_laps, has_narrow;
  gboolean is_even;    /* strips are of one size but for the last */
  gboolean has_chunks; /* of an outer dimension, even so */
  CleaveFitLaps laps;
} CleaveFitEdges;

/* Tells how far it is, of 1. */
typedef void (*CleaveFitTell) (double part, gpointer data);

typedef struct
{
  GCancellable *cancellable;
  CleaveFitTell tell;
  gpointer data;
} CleaveFitWatch;

/* All that are strips; or, if those are given, they and what they are cut into tiles.  FALSE: it
 * was cancelled, and not all are there. */
gboolean cleave_fit_edges_init (CleaveFitEdges *edges,
                                const CleaveFitSteps *steps,
                                const CleaveFitEdges *strips,
                                const CleaveFitWatch *watch,
                                GError **error);
/* The same segments, whose results lie over what dies meanwhile; the others are to live as long. */
void cleave_fit_edges_init_lapped (CleaveFitEdges *edges,
                                   const CleaveFitEdges *apart,
                                   CleaveFitLaps laps);
void cleave_fit_edges_clear (CleaveFitEdges *edges);
/* A segment was measured: it needs so many bytes, and those like it are thought to need as much
 * more than was foreseen. */
void cleave_fit_edges_learn (CleaveFitEdges *edges, const CleaveFitEdge *measured, gint64 n_bytes);
/* The same, of that segment alone, if it needed less than was foreseen. */
void cleave_fit_edges_recall (CleaveFitEdges *edges, const CleaveFitEdge *measured, gint64 n_bytes);
void cleave_fit_edges_forget (CleaveFitEdges *edges);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFitEdges, cleave_fit_edges_clear)

/* Segments, first to last; steps between them stay as they are. */
typedef struct
{
  GArray *edges;  /* CleaveFitEdge */
  gint64 n_bytes; /* the most of all steps, as far as can be told */
  double macs, work;
} CleaveFitPath;

void cleave_fit_path_free (CleaveFitPath *path);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitPath, cleave_fit_path_free)

typedef struct
{
  gint64 max_bytes;
  double mac_price; /* of MACs, besides the work that they are: so many times as much */
  gboolean weighs;  /* counts weights that strips read again */
} CleaveFitAsk;

/* The segments that need no more than so many bytes and cost least; NULL: there are none. */
CleaveFitPath *cleave_fit_path_find (const CleaveFitEdges *edges, const CleaveFitAsk *ask);
