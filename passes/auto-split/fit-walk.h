/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-axes.h"
#include "strips.h"

/* The steps from `begin` to before `end` done together, strip by strip; one step as it is has one
 * strip. */
typedef struct
{
  guint begin, end;
  guint n_strips;
  guint n_columns;              /* tiles that each strip is cut into */
  CleaveFitCut cut, column_cut; /* `column_cut` of tiles alone */
  CleaveHalo halo;
  gboolean in_bands; /* tiles below each other come one after the other, those beside them later */
  gboolean is_thin;  /* strips keep much more than they make */
  gboolean cuts_weights; /* pieces read different parts of some weights */
  gboolean keeps_copies; /* what strips keep of a value is a copy, although it be all of it */
  gint64 n_bytes;        /* that are alive meanwhile, as far as can be told */
  gint64 foreseen;       /* the same, before anything was measured */
  gint64 apart, lapped;  /* the same, where nothing lies over what dies, and where results do */
  gint64 bold;           /* the same, however far strips read ahead */
  guint best_of;         /* bits: with which laps no other is better */
  gboolean is_measured;
  double macs;  /* added */
  double work;  /* added, in nanoseconds: for MACs, nodes, and bytes copied */
  double again; /* the same, for weights that all strips but the first read */
} CleaveFitEdge;

typedef struct _CleaveFitWalker CleaveFitWalker;

CleaveFitWalker *cleave_fit_walker_new (const CleaveFitSteps *steps);
void cleave_fit_walker_free (CleaveFitWalker *walker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitWalker, cleave_fit_walker_free)

/* Whether a segment may begin or end before a step. */
gboolean cleave_fit_walker_is_border (const CleaveFitWalker *walker, guint step);

/* Whether strips of the last walk keep some of what is much larger than what it is made of. */
gboolean cleave_fit_walker_keeps_wide (const CleaveFitWalker *walker);

/* How many nodes all walks have come by. */
guint64 cleave_fit_walker_get_n_visits (const CleaveFitWalker *walker);

/* What to walk from: all that ends before a step, cut into so many strips. */
typedef struct
{
  guint end, n_strips, n_columns, max_steps;
  CleaveFitCut cut, column_cut;
  CleaveHalo halo;
  gboolean in_bands;
} CleaveFitWalk;

/* Appends an edge (CleaveFitEdge) for each begin that brings the memory down.  FALSE: no strip
 * needs what another has. */
gboolean cleave_fit_walker_walk (CleaveFitWalker *walker, const CleaveFitWalk *walk, GArray *edges);
