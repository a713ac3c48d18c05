/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

#include "../ir/graph-private.h"

/* What reads a value for another rank, and what makes one that another rank computed: steps of a
 * program as all others, so that the arena, the order and the threads take them into account.  A
 * token goes from each to the next, which is read by nobody: they run one by one, in the order in
 * which they are added. */

/* What the first of them reads, and what the last has made. */
extern const CleaveTensorType cleave_transfer_token;

/* `transport` is of one CleaveTransport; the nodes keep it. */
void cleave_transfer_add_send (CleaveGraph *graph,
                               const char *name,
                               GArray *transport,
                               guint message,
                               CleaveResult *value,
                               CleaveResult **token);
CleaveResult *cleave_transfer_add_receive (CleaveGraph *graph,
                                           const char *name,
                                           GArray *transport,
                                           guint message,
                                           const CleaveTensorType *type,
                                           CleaveResult **token);
