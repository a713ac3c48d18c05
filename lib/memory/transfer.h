/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

#include "../ir/graph-private.h"

/* Transfers between ranks: nodes that send a value to another rank or receive a value from another
 * rank. passes/ranks adds transfers to the graph of one rank. Transfer nodes are steps of a program
 * as other nodes are, so that arena, order and threads take them into account. Each transfer takes
 * two nodes; between the two nodes the message is in flight and its memory is in use.
 *
 *    node ── Send ── Finish           the value stays in place until it has been sent
 *    Expect ── Receive ── node        the value arrives where its readers expect it
 *
 * Each transfer node also passes a token to the transfer node that was added next. No other node
 * reads the token. Because of the token, the transfer nodes run one by one, in the order in which
 * passes/ranks added them. */

/* Element type and shape of the token, a value without content that keeps transfer nodes in
 * order. */
extern const CleaveTensorType cleave_transfer_token;

/* The graph to which transfers are added, and the token of the last transfer node. */
typedef struct
{
  CleaveGraph *graph;
  GArray *transport; /* one CleaveTransport, to which the transfer nodes refer */
  CleaveResult *token;
} CleaveTransfers;

/* A message. `letters` has one letter for each dimension of the value, such as "XCXX". In the sent
 * bytes, the dimension with the letter C is innermost, and the other dimensions keep their order.
 * NULL: all dimensions keep their order. */
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
/* Adds an Expect. Returns the result of the Expect: the memory into which the message arrives. The
 * Receive of the message has this result as its operand. */
CleaveResult *cleave_transfers_add_expect (CleaveTransfers *transfers,
                                           const char *name,
                                           const CleaveTransferMessage *message,
                                           const CleaveTensorType *type);
CleaveResult *cleave_transfers_add_receive (CleaveTransfers *transfers,
                                            const char *name,
                                            const CleaveTransferMessage *message,
                                            CleaveResult *expected);
/* Adds a node that stands for a received value, in a graph that is only analyzed and never runs.
 * The value arrives when a node reads it. */
CleaveResult *cleave_transfers_add_arrival (CleaveTransfers *transfers,
                                            const char *name,
                                            const CleaveTransferMessage *message,
                                            const CleaveTensorType *type);
