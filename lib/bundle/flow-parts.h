/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The phases of the layout of a segment, in the order in which they run, and short functions that
 * the phases share. cleave_bundle_flow_run() (flow.h) runs these phases for each segment that the
 * planner tries.
 *
 *   flow.c          checks that steps can be a segment
 *   flow-slots.c    finds the values that are whole, the columns of bands, steps that share memory
 *   flow-runs.c     takes the rows of rings from the dry run of a longer segment, and counts bytes
 *   flow-rows.c     a dry run: runs the loop without computing, to find the rows of rings
 *   flow-overlay.c  finds the values that the segment's result may overlay, and the lag
 *   flow-steady.c   skips rows of the dry run */

#include "flow.h"

static inline const CleaveBundleStep *
get_step (const CleaveBundleFlow *flow, guint s)
{
  return cleave_bundle_step (flow->model, s);
}

static inline const CleaveBundleValue *
get_result (const CleaveBundleFlow *flow, guint s)
{
  return cleave_bundle_value (flow->model, get_step (flow, s)->result);
}

static inline CleaveBundleSlot *
get_slot (const CleaveBundleFlow *flow, guint s)
{
  return &flow->slots[s - flow->segment.first];
}

static inline gint64 *
get_made (const CleaveBundleFlow *flow, guint s)
{
  return &flow->made[s - flow->segment.first];
}

/* Returns the step of the segment that computes an operand; CLEAVE_BUNDLE_NONE if no step of the
 * segment computes it. */
static inline guint
find_producer (const CleaveBundleFlow *flow, const CleaveBundleStep *step, guint operand)
{
  guint producer = cleave_bundle_value (flow->model, step->operands[operand])->producer;

  return producer == CLEAVE_BUNDLE_NONE || producer < flow->segment.first ? CLEAVE_BUNDLE_NONE
                                                                          : producer;
}

/* Returns whether step `s` may write each row of its result over the same row of the operand. */
static inline gboolean
is_in_place (const CleaveBundleFlow *flow, guint s, guint operand)
{
  const CleaveBundleStep *step = get_step (flow, s);

  return !step->is_sum && (step->layer->in_place >> operand & 1);
}

/* Returns the rows of an operand that row number `next` of step `s` needs. Rows are numbered in the
 * order in which the segment computes them. */
static inline CleaveSpan
find_rows (const CleaveBundleFlow *flow, guint s, guint operand, gint64 next)
{
  const CleaveBundleStep *step = get_step (flow, s);
  gint64 rows = get_result (flow, s)->image.rows;
  gint64 extent = cleave_bundle_value (flow->model, step->operands[operand])->image.rows;
  CleaveSpan span;

  if (!flow->segment.is_upward)
    return cleave_bundle_step_rows (flow->model, step, operand, next);
  span = cleave_bundle_step_rows (flow->model, step, operand, rows - 1 - next);
  return (CleaveSpan){ extent - span.end, extent - span.begin };
}

/* Returns the oldest row of an operand that step `s` still needs; G_MAXINT64 if `s` needs none.
 * `next` is the number of the next row that `s` computes. */
static inline gint64
find_oldest_row (const CleaveBundleFlow *flow, guint s, guint operand, gint64 next)
{
  gint64 rows = get_result (flow, s)->image.rows;

  return next >= rows ? G_MAXINT64 : find_rows (flow, s, operand, next).begin;
}

/* Initializes the CleaveBundleSlot of each step of the segment. Returns FALSE if the steps of
 * flow->segment cannot be a segment. */
gboolean cleave_bundle_flow_begin (CleaveBundleFlow *flow);
/* Determines the whole values of the segment, the columns of the bands, and the steps that share
 * memory. Returns FALSE if the segment has several bands, and a step other than the last step has a
 * whole result. */
gboolean cleave_bundle_flow_set_slots (CleaveBundleFlow *flow);
/* Lists the overlays of this segment, and of all shorter segments with the same last step. */
void cleave_bundle_flow_list_overlays (CleaveBundleFlow *flow);
/* Increases the lags of overlays (CleaveBundleOverlay), so that the next row of step `s` overwrites
 * no byte that is still needed. Does nothing if `s` does not write to the memory of the segment's
 * result. */
void cleave_bundle_flow_grow_lags (CleaveBundleFlow *flow, guint s);
/* Skips rows if the loop is in a steady state, that is, repeats itself (flow-steady.c). `target`:
 * the step whose rows the loop currently computes; other steps compute only rows that these rows
 * need. */
void cleave_bundle_flow_skip (CleaveBundleFlow *flow, guint target);
/* Runs the loop of the segment without computing. For each step s, sets the `capacity` in the
 * step's CleaveBundleSlot: the number of rows of the ring to which s writes its result. If several
 * steps share a ring, the capacity of step s is valid for a segment that begins at s. */
void cleave_bundle_flow_run_rows (CleaveBundleFlow *flow);
