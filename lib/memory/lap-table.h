/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The buffers that may take part in laps (laps.c), and the bytes of them that each step reads or
 * writes. */

#include "buffers.h"

/* The bytes [begin, end) of a buffer that one step reads or writes. */
typedef struct
{
  gint64 begin, end;
  guint step;
  gboolean writes;
} CleaveLapAccess;

/* A buffer that may take part in laps. After a lap has moved buffer x into buffer y, y also
 * contains the bytes and the accesses of x. */
typedef struct
{
  guint buffer;
  GArray *accesses; /* CleaveLapAccess: the ranges of this buffer that steps read or write, sorted
                       by step */
  gint64 n_bytes;
  guint first, last; /* the first and the last step that uses the buffer */
  guint own_first;   /* the first step that uses the value for which the buffer was made */
  GArray *members;   /* CleaveLapMember: the values in the buffer, sorted by their begins */
  gboolean is_bound; /* whether the buffer holds an input or output of the graph; a lap makes each
                      * run copy this input or output (io-bindings.c) */
  guint over; /* index of the CleaveLapBuffer into which a lap moved this buffer; CLEAVE_NEVER: not
               * moved */
  gboolean is_shared; /* whether a lap moved another buffer into this buffer */
  gint64 shift;       /* offset of this buffer in the buffer `over`, in bytes */
} CleaveLapBuffer;

/* The buffers that may take part in laps, before any lap. */
typedef struct
{
  CleaveStorage *storage;
  GArray *buffers; /* CleaveLapBuffer: sorted by first step */
  guint *index_of; /* indexed by buffer of the storage: index in `buffers`; CLEAVE_NEVER: the buffer
                    * takes no part in laps */
  const CleaveStep *step; /* the step that cleave_lap_table_init() visits, and its index */
  guint at;
} CleaveLapTable;

static inline CleaveLapBuffer *
cleave_lap_buffer (const GArray *buffers, guint i)
{
  return &g_array_index (buffers, CleaveLapBuffer, i);
}

/* Finds the buffers of a storage that may take part in laps. The table refers to the storage. */
void
cleave_lap_table_init (CleaveLapTable *table, CleaveStorage *storage, const CleaveGraph *graph);
void cleave_lap_table_clear (CleaveLapTable *table);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveLapTable, cleave_lap_table_clear)
/* Returns a copy of the buffers. The copy shares the arrays of accesses and of members with the
 * table. */
GArray *cleave_lap_table_copy_buffers (const CleaveLapTable *table);
