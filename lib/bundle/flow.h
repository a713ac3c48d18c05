/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A segment: consecutive steps that run as one loop, and the memory that the loop takes.
 *
 * The loop computes the rows of the last step one after the other. Before a row of a step is
 * computed, the steps that it reads compute the rows that it needs and that do not exist yet. So a
 * value inside the segment needs a ring of only the rows between the oldest one that is still
 * needed and the newest one. For a chain, that is the height of the reader's window:
 *
 *   conv 3x3 -> depthwise 3x3 -> conv 1x1       ring of 3 rows, ring of 1 row, whole value
 *
 * A segment may run several times, each time for a band of the columns of the last step. Then the
 * rings have the width of a band, and the columns that neighboring bands both need are computed
 * twice. A segment of one step is a layer that is computed whole. */

#include "../ir/align.h"

#include "model.h"

/* The result of a step inside a segment. */
typedef struct
{
  gboolean is_whole; /* read after the segment, or an output */
  guint shares;      /* the step of the segment whose memory this step uses, often its own */
  guint next;      /* the next step that uses the same memory; CLEAVE_BUNDLE_NONE: there is none */
  gint64 capacity; /* rows in memory; only for steps that use their own memory */
  gint64 columns;  /* columns in memory */
} CleaveBundleSlot;

/* The end of a segment may overlay a value that dies in the segment. It begins `lag` bytes or more
 * before that value: each row is written after the bytes under it were read for the last time. If
 * the rows are computed upward, from the last one to the first one, the end lies after the value
 * instead, so that a chain of segments can move to and fro in one place.
 *
 *   value        .....[==========]
 *   end          [=========]            begins `lag` bytes before the value
 *   end, upward  ..........[=========]  ends `lag` bytes after the value */
typedef struct
{
  guint end, value; /* indices of the two values; CLEAVE_BUNDLE_NONE: there is no overlay */
  gint64 lag; /* the lag in bytes; below 0 if the end of the segment may begin after the value */
} CleaveBundleOverlay;

typedef struct
{
  guint first, end; /* steps */
  guint n_bands;
  gboolean is_upward;
  gint64 ring_bytes, macs;
  CleaveBundleOverlay overlay;
} CleaveBundleSegment;

/* Computes segments of a model. */
typedef struct
{
  const CleaveBundleModel *model;
  gint64 align;
  CleaveBundleSegment segment;
  CleaveBundleSlot *slots; /* slots of the steps from segment.first on */
  CleaveSpan *columns;     /* columns of a step in a band: columns[band * n_steps + step - first] */
  gint64 *made;            /* rows that a step has computed */
  gint64 *mark; /* copy of `made` from when step `target` had computed `marked_row` rows; see
                   flow-steady.c */
  gint64 marked_row;
  gint64 n_skipped;   /* rows of the targets of all segments that were skipped */
  gboolean walks_all; /* skip no rows, to test flow-steady.c */
  guint *asker;       /* the step that asked a step for rows */
  CleaveBundleSlot
      *known; /* slots of the steps [known_first, known_end), which ran downward last */
  guint known_first, known_end;
  GArray *over;   /* CleaveBundleReader: the operands that read the value that the end overlays */
  guint end_slot; /* the step whose memory the end uses */
} CleaveBundleFlow;

void cleave_bundle_flow_init (CleaveBundleFlow *flow, const CleaveBundleModel *model, gint64 align);
void cleave_bundle_flow_clear (CleaveBundleFlow *flow);

/* Lays out the segment of steps [first, end) in a number of bands. Returns FALSE if these steps
 * cannot be a segment. */
gboolean cleave_bundle_flow_run (CleaveBundleFlow *flow, guint first, guint end, guint n_bands);
/* Returns the step with a whole result that uses the memory of step `owner`, or
 * CLEAVE_BUNDLE_NONE. */
guint cleave_bundle_flow_find_whole (const CleaveBundleFlow *flow, guint owner);
/* Lays out the segment for rows that are computed upward, in one band. */
gboolean cleave_bundle_flow_run_upward (CleaveBundleFlow *flow, guint first, guint end);
/* Lays out a segment again that cleave_bundle_flow_run() could lay out. */
void cleave_bundle_flow_repeat (CleaveBundleFlow *flow, const CleaveBundleSegment *segment);
/* Returns whether a value that is produced by a step before `end` is read by a later step or is an
 * output. */
static inline gboolean
cleave_bundle_is_read_after (const CleaveBundleModel *model, guint value, guint end)
{
  return cleave_bundle_value (model, cleave_bundle_value (model, value)->base)->last_reader >= end;
}
