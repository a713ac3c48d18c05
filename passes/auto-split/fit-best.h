/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-walk.h"

/* Whether results are thought to lie over what dies meanwhile: where strips do not read far ahead,
 * or wherever they can.  Or else whether strips may make again what is wide: of all others, none
 * does.  Or whether they may do that and have more tiles than others; or may do that, and copy what
 * they keep. */
typedef enum {
  CLEAVE_FIT_APART,
  CLEAVE_FIT_LAPPED,
  CLEAVE_FIT_BOLD,
  CLEAVE_FIT_NARROW,
  CLEAVE_FIT_FINE,
  CLEAVE_FIT_KEPT,
  CLEAVE_FIT_N_LAPS
} CleaveFitLaps;

/* The bytes that a segment is thought to need. */
static inline gint64
cleave_fit_get_foreseen (const CleaveFitEdge *edge, CleaveFitLaps laps)
{
  return laps == CLEAVE_FIT_LAPPED ? edge->lapped
         : laps == CLEAVE_FIT_BOLD ? edge->bold
                                   : edge->apart;
}

/* Of edges (CleaveFitEdge) with one end, those that no other betters with some laps, which are
 * CLEAVE_FIT_FINE alone or all others: by begin, and by bytes where nothing is lapped. */
GArray *cleave_fit_list_best (GArray *found, guint end, gboolean is_fine);
