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

/* The result of a step inside a segment, and its memory. */
typedef struct
{
  gboolean is_whole; /* read after the segment, or an output of the graph */
  guint shares; /* index of the step of the segment whose memory this step uses; often this step */
  guint before,
      next; /* steps before and after this one that use the same memory; CLEAVE_BUNDLE_NONE: none */
  gint64 capacity; /* number of rows in memory; only for steps that use their own memory */
  gint64 columns;  /* number of columns in memory */
} CleaveBundleSlot;

/* The result of a segment may overlay a value that dies in the segment. The result begins `lag`
 * bytes or more before that value: each row is written after the bytes under it were read for the
 * last time. If the rows are computed upward, from the last one to the first one, the result lies
 * after the value instead, so that a chain of segments can move to and fro in one place.
 *
 *   value        .....[==========]
 *   result       [=========]            begins `lag` bytes before the value
 *   or, upward   ..........[=========]  ends `lag` bytes after the value */
typedef struct
{
  guint end, value; /* indices of the segment's result and of the overlaid value;
                       CLEAVE_BUNDLE_NONE: no overlay */
  gint64 lag;       /* in bytes; negative: the result may begin after the value */
} CleaveBundleOverlay;

typedef struct
{
  guint first, end; /* steps [first, end) */
  guint n_bands;
  gboolean is_upward;
  gint64 ring_bytes, macs;
  CleaveBundleOverlay overlay;
} CleaveBundleSegment;

/* Limit on the steps of a segment, which bounds the time of the search. */
#define CLEAVE_BUNDLE_MAX_STEPS 96

/* The number of rows in the rings of all segments that end at one step, from one run of the longest
 * of these segments.
 *
 *   a -> b -> c -> d       a run of a to d gives the rows of b to d, c to d, and d, too
 *
 * A step asks only earlier steps for rows. So the steps of a shorter segment compute their rows in
 * the same order whether the earlier steps are in the segment or not. See flow-runs.c. */
typedef struct
{
  guint first, end; /* first step of the longest segment, and step after its last; `end` is 0 if
                       there was no run */
  guint *next;      /* indexed by step minus `first`: CleaveBundleSlot.next of the step */
  gint64 *capacity; /* indexed by step minus `first`: rows of its memory if no earlier step of the
                       segment uses it */
  CleaveBundleOverlay *overlays; /* indexed by step minus `first`: overlay of the segment that
                                    begins there; only for one band */
} CleaveBundleRun;

/* The overlay of the segments that begin at steps [first, end) of a run. All of them overlay the
 * same value, which the same operands read. */
typedef struct
{
  guint first, end;
  CleaveBundleOverlay overlay;
  guint first_reader, n_readers; /* its entries in flow->readers: index of the first, and number */
} CleaveBundleOverlayGroup;

/* State for laying out segments of a model. */
typedef struct
{
  const CleaveBundleModel *model;
  gint64 align;
  CleaveBundleSegment segment;
  CleaveBundleSlot *slots; /* indexed by step minus segment.first */
  CleaveSpan *columns;     /* columns of a step in a band: columns[band * n_steps + step - first] */
  gint64 *made; /* indexed by step minus segment.first: number of rows that the step has computed */
  gint64 *mark; /* copy of `made` from when step `target` had computed `marked_row` rows
                   (flow-steady.c) */
  gint64 marked_row;
  gint64 n_skipped;   /* number of rows that flow-steady.c has skipped in last steps, over all
                         segments */
  gint64 n_runs;      /* number of times that flow-rows.c has run the loop of a segment */
  gboolean walks_all; /* for tests of flow-steady.c and flow-runs.c: skip no rows, and use no
                         earlier run */
  guint *reader; /* indexed by step minus segment.first: the step that asked this step for rows */
  CleaveBundleRun runs[3]; /* the last runs: downward, downward in bands, and upward */
  GArray *overlays;        /* CleaveBundleOverlayGroup: overlays of the current run */
  GArray *readers;         /* CleaveBundleReader: readers of the values of the groups */
  guint8 *overlaid;        /* indexed by step: bit i is set if operand i is a value of a group */
  guint end_slot;          /* the step whose memory holds the result of the segment */
} CleaveBundleFlow;

void cleave_bundle_flow_init (CleaveBundleFlow *flow, const CleaveBundleModel *model, gint64 align);
void cleave_bundle_flow_clear (CleaveBundleFlow *flow);

/* Lays out the segment of steps [first, end) in `n_bands` bands. Returns FALSE if these steps
 * cannot be a segment. */
gboolean cleave_bundle_flow_run (CleaveBundleFlow *flow, guint first, guint end, guint n_bands);
/* Returns the step with a whole result that uses the memory of step `owner`; CLEAVE_BUNDLE_NONE if
 * there is none. */
guint cleave_bundle_flow_find_whole (const CleaveBundleFlow *flow, guint owner);
/* Lays out the segment for rows that are computed upward, from the last to the first, in one
 * band. */
gboolean cleave_bundle_flow_run_upward (CleaveBundleFlow *flow, guint first, guint end);
/* Lays out a segment again that cleave_bundle_flow_run() has laid out before. */
void cleave_bundle_flow_repeat (CleaveBundleFlow *flow, const CleaveBundleSegment *segment);
/* Returns whether a step from `end` on reads a value that an earlier step produces, or the value is
 * an output. */
static inline gboolean
cleave_bundle_is_read_after (const CleaveBundleModel *model, guint value, guint end)
{
  return cleave_bundle_value (model, cleave_bundle_value (model, value)->base)->last_reader >= end;
}
