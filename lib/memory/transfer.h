/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

#include "../ir/graph-private.h"

/* What sends a value to another rank, and what receives one that another rank computed: steps of a
 * program as all others, so that the arena, the order and the threads take them into account.
 * Each takes two, between which the message is under way and its memory is in use.
 *
 *   node ── Send ── Finish           the value stays where it is until it has left
 *   Expect ── Receive ── node        it comes to where its readers want it
 *
 * A token goes from each to the next, which is read by nobody: they run one by one, in the order in
 * which they are added. */

/* What the first of them reads, and what the last has made. */
extern const CleaveTensorType cleave_transfer_token;

/* Where they are added. */
typedef struct
{
  CleaveGraph *graph;
  GArray *transport; /* one CleaveTransport; the nodes keep it */
  CleaveResult *token;
} CleaveTransfers;

/* A message: its number, and the letters of its dimensions if those of C are to lie innermost while
 * it is sent, or NULL. */
typedef struct
{
  guint number;
  const char *letters;
} CleaveTransferMessage;

void cleave_transfers_add_send (CleaveTransfers *transfers,
                                const char *name,
                                const CleaveTransferMessage *message,
                                CleaveResult *value);
void cleave_transfers_add_finish (CleaveTransfers *transfers,
                                  const char *name,
                                  const CleaveTransferMessage *message,
                                  CleaveResult *value);
/* Returns what Receive takes. */
CleaveResult *cleave_transfers_add_expect (CleaveTransfers *transfers,
                                           const char *name,
                                           const CleaveTransferMessage *message,
                                           const CleaveTensorType *type);
CleaveResult *cleave_transfers_add_receive (CleaveTransfers *transfers,
                                            const char *name,
                                            const CleaveTransferMessage *message,
                                            CleaveResult *expected);
/* What comes whenever it is read, in a graph that is there to be looked at and never runs. */
CleaveResult *cleave_transfers_add_arrival (CleaveTransfers *transfers,
                                            const char *name,
                                            const CleaveTransferMessage *message,
                                            const CleaveTensorType *type);
