/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

#include "../ir/graph-private.h"

/* Transfers between ranks: nodes that send a value to another rank or receive one from it. They are
 * steps of a program like all others, so that arena, order and threads take them into account. Each
 * transfer takes two nodes; between them the message is in flight and its memory is in use.
 *
 *    node ── Send ── Finish           the value stays in place until it has been sent
 *    Expect ── Receive ── node        the value arrives where its readers expect it
 *
 * Each node also passes a token to the node that was added after it. No other node reads the token:
 * it makes the nodes run one by one, in the order in which they were added. */

/* The element type and shape of the token, which orders the transfers. */
extern const CleaveTensorType cleave_transfer_token;

/* The graph that transfers are added to, with the last token. */
typedef struct
{
  CleaveGraph *graph;
  GArray *transport; /* one CleaveTransport, which the nodes reference */
  CleaveResult *token;
} CleaveTransfers;

/* A message: its number, and the dimension names of its value if C must be innermost in the bytes
 * that are sent, or NULL. */
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
/* Returns the memory for the message, the operand of Receive. */
CleaveResult *cleave_transfers_add_expect (CleaveTransfers *transfers,
                                           const char *name,
                                           const CleaveTransferMessage *message,
                                           const CleaveTensorType *type);
CleaveResult *cleave_transfers_add_receive (CleaveTransfers *transfers,
                                            const char *name,
                                            const CleaveTransferMessage *message,
                                            CleaveResult *expected);
/* Adds a value that arrives whenever a node reads it. For graphs that are only analyzed and never
 * run. */
CleaveResult *cleave_transfers_add_arrival (CleaveTransfers *transfers,
                                            const char *name,
                                            const CleaveTransferMessage *message,
                                            const CleaveTensorType *type);
