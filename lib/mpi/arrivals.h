/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "host-messages.h"

/* A message on the host (host-messages.h) that this rank expects and has not received yet: the
 * elements of the arrays below. */
typedef struct
{
  guint message, run;
  int from;
  CleaveMessagePlace place;
} CleaveArrival;

gboolean cleave_arrivals_have (const GArray *arrivals, guint message);
/* Receives all expected messages that have been offered, removes them from the array and adds to
 * the counts of messages and bytes. If a message cannot be read, returns FALSE and sets errno; the
 * last element of the array is then this message. */
gboolean cleave_arrivals_take (GArray *arrivals,
                               CleaveHostMessages *host,
                               gint64 *n_received,
                               gint64 *n_bytes);
