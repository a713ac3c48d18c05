/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The plan and the working state of a recurrent layer, and the functions that its steps share. */

#include "direct.h"
#include "panels.h"

#include "../../../ops/recurrent.h"

#define cleave_recurrent_plan_matrix CLEAVE_LEVELLED (cleave_recurrent_plan_matrix)
#define cleave_recurrent_round_up CLEAVE_LEVELLED (cleave_recurrent_round_up)
#define cleave_recurrent_bytes_of_matrix CLEAVE_LEVELLED (cleave_recurrent_bytes_of_matrix)
#define cleave_recurrent_pack_matrix CLEAVE_LEVELLED (cleave_recurrent_pack_matrix)
#define cleave_recurrent_multiply CLEAVE_LEVELLED (cleave_recurrent_multiply)
#define cleave_recurrent_length_of CLEAVE_LEVELLED (cleave_recurrent_length_of)
#define cleave_recurrent_time_of CLEAVE_LEVELLED (cleave_recurrent_time_of)
#define cleave_recurrent_read_inputs CLEAVE_LEVELLED (cleave_recurrent_read_inputs)
#define cleave_recurrent_read_states CLEAVE_LEVELLED (cleave_recurrent_read_states)
#define cleave_recurrent_write_states CLEAVE_LEVELLED (cleave_recurrent_write_states)
#define cleave_recurrent_write_row CLEAVE_LEVELLED (cleave_recurrent_write_row)
#define cleave_recurrent_round CLEAVE_LEVELLED (cleave_recurrent_round)
#define cleave_recurrent_read_list CLEAVE_LEVELLED (cleave_recurrent_read_list)
#define cleave_recurrent_read_biases CLEAVE_LEVELLED (cleave_recurrent_read_biases)

/* W or R. Its columns are the units of all gates; its rows are the rows of all directions. */
typedef struct
{
  CleavePanels panels;
  const float *packed; /* NULL: packed by each run */
  gint64 first, k;
} CleaveRecurrentMatrix;

typedef struct
{
  CleaveElement element; /* element type of all operands but lengths; scratch holds floats */
  CleaveRecurrentMatrix w, r;
  gint64 n, n_columns, n_inputs; /* units, units of all gates, and elements of an input row */
  gint64 n_times, n_batch, n_directions;
  gint64 n_steps; /* steps in a block */
  gboolean is_gru, is_lstm;
  gboolean has_sums; /* X holds the results of cleave_op_recurrent_sums */
} CleaveRecurrentPlan;

/* Pointers into scratch, and the direction that is being computed. */
typedef struct
{
  const CleaveRecurrentPlan *plan;
  const CleaveKernelInstance *instance;
  gint64 direction;
  gboolean backwards;
  CleaveRecurrentFunction functions[CLEAVE_RECURRENT_MAX_FUNCTIONS];
  const float *w, *r;
  float *x, *sums, *bias, *bias_r, *p, *h, *c, *reset;
} CleaveRecurrentWalk;

/* Plans a matrix; returns FALSE if it has negative strides. */
gboolean cleave_recurrent_plan_matrix (const CleaveKernelInstance *instance,
                                       CleaveWeights *weights,
                                       guint operand,
                                       CleaveRecurrentMatrix *matrix);
gsize cleave_recurrent_round_up (gsize n_bytes);
/* Returns the bytes of scratch that packing takes in each run; 0 if nothing is packed. */
gsize cleave_recurrent_bytes_of_matrix (const CleaveRecurrentMatrix *matrix);
const float *cleave_recurrent_pack_matrix (const CleaveRecurrentMatrix *matrix,
                                           const CleaveView *view,
                                           char **scratch);
/* Adds x times the columns [begin, end) to y, or to the bias. The first column of y is `begin`. If
 * `turned`, runs from the last panel to the first, since the last panels are still in the cache. */
void cleave_recurrent_multiply (const CleaveRecurrentMatrix *matrix,
                                const float *a,
                                gint64 direction,
                                gint64 begin,
                                gint64 end,
                                CleaveDirect *d,
                                gboolean turned);

/* Return the number of steps of a sequence, and the time index of step `step`. */
gint64 cleave_recurrent_length_of (const CleaveRecurrentWalk *walk, gint64 batch);
gint64 cleave_recurrent_time_of (const CleaveRecurrentWalk *walk, gint64 step, gint64 length);
/* Reads rows of X in the order of the steps; zeros for sequences that have ended. */
void cleave_recurrent_read_inputs (const CleaveRecurrentWalk *walk,
                                   gint64 step,
                                   gint64 n_steps,
                                   float *to);
/* Reads the initial states, or zeros; writes the last states. */
void cleave_recurrent_read_states (const CleaveRecurrentWalk *walk, guint operand, float *to);
void
cleave_recurrent_write_states (const CleaveRecurrentWalk *walk, guint result, const float *from);
/* Writes a row of Y; `from` NULL: zeros. */
void cleave_recurrent_write_row (const CleaveRecurrentWalk *walk,
                                 gint64 time,
                                 gint64 batch,
                                 const float *from);
/* Rounds a row of a state to the element type. */
void cleave_recurrent_round (const CleaveRecurrentWalk *walk, float *row);
/* Reads n elements of a per-direction operand; zeros if it is absent. */
void cleave_recurrent_read_list (
    const CleaveRecurrentWalk *walk, guint operand, gint64 first, gint64 n, float *to);
/* Reads the biases of W x and R h. Adds them up, except for a gate whose R h is computed
 * separately. */
void cleave_recurrent_read_biases (const CleaveRecurrentWalk *walk);
