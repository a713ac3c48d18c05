/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "host-messages.h"

/* A message that this rank expects from a rank on the same host (host-messages.h) and has not
 * received yet. channels.c keeps these messages in an array. A rank that waits for one message
 * receives all offered messages, since a sender may wait until the rank takes another message. */
typedef struct
{
  guint message, run;
  int from;
  CleaveMessagePlace place;
} CleaveArrival;

gboolean cleave_arrivals_have (const GArray *arrivals, guint message);
/* Receives all offered messages of the array, and removes the received messages from the array.
 * Adds the number of received messages to `n_received`, and the number of their bytes to `n_bytes`.
 * If a message cannot be read, returns FALSE and sets errno; the last element of the array is then
 * this message. */
gboolean cleave_arrivals_take (GArray *arrivals,
                               CleaveHostMessages *host,
                               gint64 *n_received,
                               gint64 *n_bytes);
