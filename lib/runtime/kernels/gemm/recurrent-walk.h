/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the steps of a recurrent layer have in common. */

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

/* W or R: its columns are the units of all gates, and its rows those of all directions. */
typedef struct
{
  CleavePanels panels;
  const float *packed; /* NULL: by each run */
  gint64 first, k;
} CleaveRecurrentMatrix;

typedef struct
{
  CleaveElement element; /* of all but lengths; what is in scratch are floats */
  CleaveRecurrentMatrix w, r;
  gint64 n, n_columns, n_inputs; /* units, those of all gates */
  gint64 n_times, n_batch, n_directions;
  gint64 n_steps; /* of a block */
  gboolean is_gru, is_lstm;
  gboolean has_sums; /* X is what cleave_op_recurrent_sums makes */
} CleaveRecurrentPlan;

/* Scratch, and what one direction works on. */
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

/* FALSE: strides go back. */
gboolean cleave_recurrent_plan_matrix (const CleaveKernelInstance *instance,
                                       CleaveWeights *weights,
                                       guint operand,
                                       CleaveRecurrentMatrix *matrix);
gsize cleave_recurrent_round_up (gsize n_bytes);
/* Of scratch, that packing takes in each run; 0 if there is no matrix. */
gsize cleave_recurrent_bytes_of_matrix (const CleaveRecurrentMatrix *matrix);
const float *cleave_recurrent_pack_matrix (const CleaveRecurrentMatrix *matrix,
                                           const CleaveView *view,
                                           char **scratch);
/* Adds x times the columns [begin, end) to y, whose first column is `begin`; or begins with the
 * bias.  Panels from the last to the first if `turned`: what was read last is in the cache. */
void cleave_recurrent_multiply (const CleaveRecurrentMatrix *matrix,
                                const float *a,
                                gint64 direction,
                                gint64 begin,
                                gint64 end,
                                CleaveDirect *d,
                                gboolean turned);

/* Steps of a sequence, and which of them comes as number `step`. */
gint64 cleave_recurrent_length_of (const CleaveRecurrentWalk *walk, gint64 batch);
gint64 cleave_recurrent_time_of (const CleaveRecurrentWalk *walk, gint64 step, gint64 length);
/* Rows of X in the order of the steps; zeros for sequences that are over. */
void cleave_recurrent_read_inputs (const CleaveRecurrentWalk *walk,
                                   gint64 step,
                                   gint64 n_steps,
                                   float *to);
/* Initial states, or zeros; last states. */
void cleave_recurrent_read_states (const CleaveRecurrentWalk *walk, guint operand, float *to);
void
cleave_recurrent_write_states (const CleaveRecurrentWalk *walk, guint result, const float *from);
/* A row of Y; NULL: zeros. */
void cleave_recurrent_write_row (const CleaveRecurrentWalk *walk,
                                 gint64 time,
                                 gint64 batch,
                                 const float *from);
/* The row of a state as the element type has it. */
void cleave_recurrent_round (const CleaveRecurrentWalk *walk, float *row);
/* What a list has for this direction; zeros where there is none. */
void cleave_recurrent_read_list (
    const CleaveRecurrentWalk *walk, guint operand, gint64 first, gint64 n, float *to);
/* The sum of both, but for the gate of which R h is made apart. */
void cleave_recurrent_read_biases (const CleaveRecurrentWalk *walk);
