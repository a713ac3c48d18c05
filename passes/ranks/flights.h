/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* The time in which each message occupies memory, from position `expected` to position `finished`
 * in the order of all nodes. The receiver's buffer is in use from before the node at `expected`.
 * The sender's value must stay until after the node at `finished`. rank-acts.c places the acts of a
 * message accordingly. */
typedef struct
{
  guint *expected, *finished; /* indexed by message. `expected`: position of the node before which
                                 the receiver posts its buffer. `finished`: position of the node
                                 after which the sender waits for the end of the message. A position
                                 is an index in the order of all nodes */
} CleaveFlights;

void cleave_flights_init (CleaveFlights *flights, const CleavePlacement *p);
void cleave_flights_clear (CleaveFlights *flights);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFlights, cleave_flights_clear)
