/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Makes parts of values, each once, and reads them where they are made: past Slices, Splits,
 * Concats and Assembles, and as constants that share the bytes of a constant.  It knows nodes by
 * their address: a node that it has met must not be removed while it lives, but by itself. */
typedef struct _CleaveSlicer CleaveSlicer;

CleaveSlicer *cleave_slicer_new (CleaveGraph *graph);
void cleave_slicer_free (CleaveSlicer *slicer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSlicer, cleave_slicer_free)

/* From now on, values of this node are read from it, even if it only passes them on. */
void cleave_slicer_stop_at (CleaveSlicer *slicer, CleaveNode *node);
/* The value of a range of `value`.  If a node must be added, it is called `name`. */
CleaveResult *cleave_slicer_get (CleaveSlicer *slicer,
                                 CleaveResult *value,
                                 const CleaveRange *range,
                                 const char *name);
/* A value of the same bits as a result of a node that takes parts (Slice, Split), read where it is
 * made; the result itself if that is how it is read already. */
CleaveResult *cleave_slicer_forward (CleaveSlicer *slicer, CleaveResult *result);
/* Whether the last call added the node that makes this value. */
gboolean cleave_slicer_made (const CleaveSlicer *slicer, const CleaveResult *result);

/* Slices that it made and that nothing reads any more. */
const GPtrArray *cleave_slicer_get_spent (const CleaveSlicer *slicer);
