/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* When each message occupies memory, by positions in the order of all nodes: where it goes, from
 * before the node there that makes its value; where it comes from, until after another. */
typedef struct
{
  guint *expected, *finished; /* by message */
} CleaveFlights;

void cleave_flights_init (CleaveFlights *flights, const CleavePlacement *p);
void cleave_flights_clear (CleaveFlights *flights);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFlights, cleave_flights_clear)
