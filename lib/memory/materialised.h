/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Views that only joins read late: a copy of what such a view sees may take the place of its whole
 * operand, which can go then. */

/* Whether a view is there for joins alone, which may have to copy it anyway. */
gboolean cleave_storage_is_for_joins (const CleaveNode *view);
/* Of each node in the order, by id: the position after which joins alone read its result, through
 * views; CLEAVE_NEVER: none.  NULL: of no node, as most often. */
guint *
cleave_storage_find_done (const CleaveGraph *graph, const GPtrArray *order, const guint *position);
/* By those: the position after which what `view` sees may be kept as a copy, since all else that
 * reads its operand is done; CLEAVE_NEVER if it is no view that only joins read. */
guint cleave_storage_materialise_after (const guint *done, const CleaveNode *view);
/* Whether a few rows of a value that is otherwise done are materialised for later readers,
 * so that the whole of it need not stay. */
gboolean cleave_storage_is_materialised (const CleaveStorage *storage, const CleaveNode *view);
