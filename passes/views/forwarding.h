/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Makes parts of values, each once, and reads them where they are made: past Slices, Splits,
 * Concats and Assembles, and as constants that share the bytes of a constant.  It knows nodes by
 * their address: a node that it has met must not be removed while it lives, but by itself. */
typedef struct _CleaveForwarder CleaveForwarder;

CleaveForwarder *cleave_forwarder_new (CleaveGraph *graph);
void cleave_forwarder_free (CleaveForwarder *forwarder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveForwarder, cleave_forwarder_free)

/* From now on, values of this node are read from it, even if it only passes them on. */
void cleave_forwarder_stop_at (CleaveForwarder *forwarder, CleaveNode *node);
/* From now on, values of all these nodes are read from them; the caller keeps the table. */
void cleave_forwarder_stop_among (CleaveForwarder *forwarder, GHashTable *nodes);
/* The value of a range of `value`.  If a node must be added, it is called `name`. */
CleaveResult *cleave_forwarder_get (CleaveForwarder *forwarder,
                                    CleaveResult *value,
                                    const CleaveRange *range,
                                    const char *name);
/* Whether a range of `value` is read from what it was made of. */
gboolean cleave_forwarder_reads_back (CleaveForwarder *forwarder,
                                      CleaveResult *value,
                                      const CleaveRange *range);
/* A value of the same bits as a result of a node that takes parts (Slice, Split), read where it is
 * made; the result itself if that is how it is read already. */
CleaveResult *cleave_forwarder_forward (CleaveForwarder *forwarder, CleaveResult *result);
/* Whether the last call added the node that makes this value. */
gboolean cleave_forwarder_made (const CleaveForwarder *forwarder, const CleaveResult *result);

/* Slices that it made and that nothing reads any more. */
const GPtrArray *cleave_forwarder_get_spent (const CleaveForwarder *forwarder);
