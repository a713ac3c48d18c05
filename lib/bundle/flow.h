/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A segment: consecutive steps that run as one loop, and the memory that the loop takes. The
 * planner (plan.c) lays out candidate segments with these functions, and compares their bytes and
 * MACs. write.c lays out the chosen segments again to print them.
 *
 * The loop computes the rows of the last step one after the other. Before a step computes a row,
 * the steps that compute its operands compute all rows that it needs and that do not exist yet. So
 * a value inside the segment needs only a ring: memory for the rows from the oldest row that a step
 * still needs to the newest row. In a chain, the number of these rows is the height of the reader's
 * window:
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
  gboolean is_whole; /* a step after the segment reads the result, or the result is an output of the
                      * graph */
  guint shares;      /* index of the step whose memory this step uses; usually this step */
  /* previous and next step that use the same memory; CLEAVE_BUNDLE_NONE: none */
  guint before, next;
  gint64 capacity; /* number of rows in memory; valid only if the step uses its own memory, that is,
                    * `shares` is its own index */
  gint64 columns;  /* number of columns in memory */
} CleaveBundleSlot;

/* An overlay: the result of a segment shares memory with a value that dies in the segment. The
 * result begins `lag` bytes or more before that value, so that each row overwrites only bytes that
 * no step still needs. If the rows are computed upward, from the last to the first, the result ends
 * after the value instead. So the results of a chain of segments can alternate between two
 * positions.
 *
 *   value        .....[==========]
 *   result       [=========]            begins `lag` bytes before the value
 *   or, upward   ..........[=========]  ends `lag` bytes after the value */
typedef struct
{
  guint end, value; /* indices of the segment's result and of the overlaid value;
                     * CLEAVE_BUNDLE_NONE: no overlay */
  gint64 lag;       /* smallest distance, in bytes, from the begin of the result to the begin of the
                     * overlaid value. If the rows are computed upward: from the end of the value to
                     * the end of the result. A negative lag -n lets the result begin at most n bytes
                     * after the value (upward: end at most n bytes before the end of the value) */
} CleaveBundleOverlay;

typedef struct
{
  guint first, end; /* the steps [first, end) are the segment */
  guint n_bands;
  gboolean is_upward;
  gint64 ring_bytes, macs;
  CleaveBundleOverlay overlay;
} CleaveBundleSegment;

/* A segment has at most this many steps. The limit bounds the time of the search. */
#define CLEAVE_BUNDLE_MAX_STEPS 96

/* The result of a dry run: the number of rows in each ring, for all segments that end at one step.
 * The dry run executes the loop of the longest of these segments once, without computing.
 *
 *   a -> b -> c -> d       the dry run of a to d also gives the rows of b to d, c to d, and d
 *
 * A step requests rows only from earlier steps. So the steps c and d compute their rows in the same
 * order in the segments a to d, b to d, and c to d. flow-runs.c keeps the results of the last dry
 * runs. */
typedef struct
{
  guint first, end; /* the steps [first, end) are the longest segment of the dry run. If `end` is 0,
                     * there was no dry run */
  guint *next; /* indexed by step minus `first`: the next step that uses the step's memory (`next`
                  of its CleaveBundleSlot) */
  gint64 *capacity; /* indexed by step minus `first`: number of rows that the step's memory needs in
                     * a segment in which no earlier step uses this memory */
  CleaveBundleOverlay *overlays; /* indexed by step minus `first`: overlay of the segment that
                                  * begins at the step; invalid in a dry run with several bands */
} CleaveBundleRun;

/* A group of segments of a dry run (CleaveBundleRun): the segments that begin at the steps [first,
 * end). Their results overlay the same value, and the same steps read that value. */
typedef struct
{
  guint first, end;
  CleaveBundleOverlay overlay;
  guint first_reader, n_readers; /* index of the group's first entry in `readers` of
                                  * CleaveBundleFlow, and number of its entries */
} CleaveBundleOverlayGroup;

/* The state of the layout of segments of a model. The segment that is laid out now is `segment`. */
typedef struct
{
  const CleaveBundleModel *model;
  gint64 align;
  CleaveBundleSegment segment;
  CleaveBundleSlot *slots; /* indexed by step minus segment.first: memory of the step's result */
  CleaveSpan *columns;     /* indexed by band * number of steps + step - segment.first: columns that
                            * the step computes in the band */
  gint64 *made; /* indexed by step minus segment.first: number of rows that the step has computed */
  gint64 *mark; /* earlier copy of `made` (flow-steady.c). At the time of the copy, the target step,
                 * whose rows the dry run currently requests, had computed `marked_row` rows */
  gint64 marked_row;
  gint64 n_skipped;   /* number of rows of target steps that flow-steady.c has skipped, in all dry
                       * runs */
  gint64 n_runs;      /* number of dry runs in flow-rows.c */
  gboolean walks_all; /* for tests: make a full dry run for each segment. Skip no rows
                       * (flow-steady.c), and use no result of an earlier dry run (flow-runs.c) */
  /* indexed by step minus segment.first: the reader that requested the step's next row */
  guint *reader;
  CleaveBundleRun runs[3]; /* the last dry runs (CleaveBundleRun). [0]: of a segment in one band;
                            * [1]: of a segment in several bands; [2]: of a segment whose loop
                            * computes rows upward (`is_upward`) */
  GArray *overlays;        /* CleaveBundleOverlayGroup: the overlays of all segments for which the
                            * current dry run counts the rows of rings */
  GArray *readers;         /* CleaveBundleReader: the operands that read the overlaid values. The
                            * fields `first_reader` and `n_readers` of a CleaveBundleOverlayGroup
                            * select the entries of the group */
  guint8 *overlaid;        /* indexed by step minus segment.first: bit i is set if an overlay in
                            * `overlays` overwrites operand i of the step */
  guint end_slot;          /* index of the step whose memory holds the result of the segment */
} CleaveBundleFlow;

void cleave_bundle_flow_init (CleaveBundleFlow *flow, const CleaveBundleModel *model, gint64 align);
void cleave_bundle_flow_clear (CleaveBundleFlow *flow);

/* Lays out the segment of steps [first, end) in `n_bands` bands. Returns FALSE if these steps
 * cannot be a segment. */
gboolean cleave_bundle_flow_run (CleaveBundleFlow *flow, guint first, guint end, guint n_bands);
/* Returns the step that has a whole result and uses the memory of step `owner`; CLEAVE_BUNDLE_NONE
 * if there is none. */
guint cleave_bundle_flow_find_whole (const CleaveBundleFlow *flow, guint owner);
/* Lays out the segment of steps [first, end) in one band. The loop of this segment computes rows
 * upward, from the last row to the first. Returns FALSE if these steps cannot be such a segment. */
gboolean cleave_bundle_flow_run_upward (CleaveBundleFlow *flow, guint first, guint end);
/* Lays out `segment` again, as cleave_bundle_flow_run() or cleave_bundle_flow_run_upward() did. */
void cleave_bundle_flow_repeat (CleaveBundleFlow *flow, const CleaveBundleSegment *segment);
/* Returns whether step `end` or a later step reads a value or a view of it, or the value is an
 * output. */
static inline gboolean
cleave_bundle_is_read_after (const CleaveBundleModel *model, guint value, guint end)
{
  return cleave_bundle_value (model, cleave_bundle_value (model, value)->base)->last_reader >= end;
}
