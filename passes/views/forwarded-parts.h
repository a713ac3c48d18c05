/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The parts that a forwarder makes. forwarding.c decides from which value the forwarder makes a
 * part. */

#include "forwarding.h"
#include "strided-range.h"

/* The key of a part that the forwarder has made: the strided range `window` of a value. */
typedef struct
{
  CleaveResult *value;
  CleaveStridedRange window;
} CleaveForwardedPart;

struct _CleaveForwarder
{
  CleaveGraph *graph;
  const CleaveOp *slice, *assemble;
  GHashTable *parts; /* maps a CleaveForwardedPart to the CleaveResult that has its value */
  GHashTable *joins; /* maps a CleaveNode to its CleaveJoin; to NULL if it is not a join */
  GQueue pending; /* CleaveResult: results of Slices that could read a value nearer to the inputs */
  GHashTable *stops; /* set of CleaveNode (cleave_forwarder_stop_at()): the forwarder does not
                        read past these nodes */
  /* set of CleaveNode that the caller owns (cleave_forwarder_stop_among()): the forwarder does not
   * read past these nodes; NULL: no such set */
  GHashTable *other_stops;
  GPtrArray *spent; /* CleaveNode: Slices that were replaced and have no users */
  CleaveNode *made;
  guint depth; /* depth of the recursion of add_stored() */
};

guint cleave_forwarded_part_hash (gconstpointer part);
gboolean cleave_forwarded_part_equal (gconstpointer a, gconstpointer b);
/* Returns whether a part needs no Slice: it becomes a constant or a constant expression. */
gboolean cleave_forwarded_part_is_constant (const CleaveResult *value,
                                            const CleaveStridedRange *window);
/* Returns the part `window` of a value: the value itself, a constant, a constant expression or a
 * Slice. Returns the same result for equal parts; a new node gets the name `name`. */
CleaveResult *cleave_forwarded_part_get (CleaveForwarder *forwarder,
                                         CleaveResult *value,
                                         const CleaveStridedRange *window,
                                         const char *name);
