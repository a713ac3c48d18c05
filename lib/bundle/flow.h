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
  gboolean is_whole;  /* read after the segment, or an output */
  guint shares;       /* the step of the segment whose memory this step uses, often its own */
  guint before, next; /* the steps before and after it that use the same memory;
                         CLEAVE_BUNDLE_NONE: there is none */
  gint64 capacity;    /* rows in memory; only for steps that use their own memory */
  gint64 columns;     /* columns in memory */
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

/* The longest segment that the planner tries, in steps. It bounds the time of the search. */
#define CLEAVE_BUNDLE_MAX_STEPS 96

/* The rows of all segments that end at one step, from one run of the longest of these segments.
 *
 *   a -> b -> c -> d       a run of a to d gives the rows of b to d, c to d, and d, too
 *
 * A step asks only earlier steps for rows. So the steps of a shorter segment compute their rows in
 * the same order whether the earlier steps are in the segment or not. See flow-runs.c. */
typedef struct
{
  guint first, end; /* the longest segment; `end` is 0 if there was no run */
  guint *next;      /* CleaveBundleSlot.next of each step, counted from `first` */
  gint64 *capacity; /* rows of each step's memory if no earlier step of the segment uses it */
  CleaveBundleOverlay *overlays; /* of the segments that begin at each step; only for one band */
} CleaveBundleRun;

/* The overlays of the segments that begin at steps [first, end) of a run. These segments have the
 * same overlay: the value under the end and the operands that read it are the same. */
typedef struct
{
  guint first, end;
  CleaveBundleOverlay overlay;
  guint first_reader, n_readers; /* indices of the operands that read the value */
} CleaveBundleOverlayGroup;

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
  gint64 n_runs;      /* runs of rows of a segment */
  gboolean walks_all; /* skip no rows and use no earlier run, to test flow-steady.c, flow-runs.c */
  guint *asker;       /* the step that asked a step for rows */
  CleaveBundleRun runs[3]; /* the last run downward, downward in bands, and upward */
  GArray *overlays;        /* CleaveBundleOverlayGroup: the overlays of the current run */
  GArray *readers;         /* CleaveBundleReader: readers of the groups' values */
  guint8 *overlaid;        /* bit i is set if a group's value is operand i of a step */
  guint end_slot;          /* the step whose memory the end uses */
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
