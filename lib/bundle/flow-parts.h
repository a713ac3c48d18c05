/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The parts of the layout of a segment, in the order in which they run, and short functions that
 * they share:
 *
 *   flow.c        checks that steps can be a segment, and counts the bytes
 *   flow-slots.c  which values are whole, the columns of bands, steps that share memory
 *   flow-rows.c   runs the loop without computing, to find the rows of rings and the lag of the end
 *   flow-steady.c skips rows of that run
 */

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

/* Returns the step of the segment that produces an operand, or CLEAVE_BUNDLE_NONE. */
static inline guint
find_producer (const CleaveBundleFlow *flow, const CleaveBundleStep *step, guint operand)
{
  guint producer = cleave_bundle_value (flow->model, step->operands[operand])->producer;

  return producer == CLEAVE_BUNDLE_NONE || producer < flow->segment.first ? CLEAVE_BUNDLE_NONE
                                                                          : producer;
}

/* Returns whether a step may write a row over the same row of an operand. */
static inline gboolean
is_in_place (const CleaveBundleFlow *flow, guint s, guint operand)
{
  const CleaveBundleStep *step = get_step (flow, s);

  return !step->is_sum && (step->layer->in_place >> operand & 1);
}

/* Sets which values of the segment are whole, the columns of the bands, and which steps share
 * memory. Returns FALSE if the segment cannot have more than one band. */
gboolean cleave_bundle_flow_set_slots (CleaveBundleFlow *flow);
/* Skips rows if the loop is in a steady state. The rows of step `target` are computed, and no step
 * waits for another one. */
void cleave_bundle_flow_skip (CleaveBundleFlow *flow, guint target);
/* Sets the rows of rings, and how far the end lies before the value under it. */
void cleave_bundle_flow_set_rows (CleaveBundleFlow *flow);
