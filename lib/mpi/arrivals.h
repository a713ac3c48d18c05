/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "near.h"

/* A near message that is expected and has not come; in a GArray. */
typedef struct
{
  guint message, run;
  int from;
  CleaveMessagePlace place;
} CleaveArrival;

gboolean cleave_arrivals_have (const GArray *arrivals, guint message);
/* Takes all that are there, and counts them.  FALSE: the last of the array cannot be, and errno
 * says why. */
gboolean
cleave_arrivals_take (GArray *arrivals, CleaveNear *near, gint64 *n_received, gint64 *n_bytes);
