/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The plan of a recurrent layer (CleaveRecurrentPlan), the state of its run (CleaveRecurrentWalk),
 * and the functions that all files of the recurrent kernels share. recurrent.c makes the plan in
 * `prepare` and walks over the time steps in `run`; recurrent-matrix.c multiplies by W and R;
 * recurrent-rows.c reads and writes rows of operands and results. */

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

/* The matrix W or R. The matrix has a column for each hidden unit of each gate. The rows of the
 * matrix are the rows of direction 0, then the rows of direction 1. */
typedef struct
{
  CleavePanels panels;
  const float *packed; /* the packed matrix; NULL: each run packs it */
  gint64 first, k;
} CleaveRecurrentMatrix;

typedef struct
{
  CleaveElement element; /* element type of all operands except the sequence lengths; values in
                            scratch are floats */
  CleaveRecurrentMatrix w, r;
  gint64 n, n_columns, n_inputs; /* number of hidden units; number of hidden units times gates;
                                    number of elements of an input row */
  gint64 n_times, n_batch, n_directions;
  gint64 n_steps; /* number of time steps whose inputs one product multiplies */
  gboolean is_gru, is_lstm;
  gboolean has_sums; /* TRUE: operand X contains the results of cleave_op_recurrent_sums, so W is
                        already applied */
} CleaveRecurrentPlan;

/* State of a run: the direction that the run computes now, and pointers to arrays in scratch. */
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

/* Fills `matrix` with the sizes and the layout of matrix `operand` of an instance. If the operand
 * is constant, also packs it into panels. Returns FALSE if the operand has negative strides. */
gboolean cleave_recurrent_plan_matrix (const CleaveKernelInstance *instance,
                                       CleaveWeights *weights,
                                       guint operand,
                                       CleaveRecurrentMatrix *matrix);
gsize cleave_recurrent_round_up (gsize n_bytes);
/* Returns the bytes of scratch into which each run packs the matrix; 0 if runs do not pack it. */
gsize cleave_recurrent_bytes_of_matrix (const CleaveRecurrentMatrix *matrix);
const float *cleave_recurrent_pack_matrix (const CleaveRecurrentMatrix *matrix,
                                           const CleaveView *view,
                                           char **scratch);
/* Multiplies rows of `a` by the columns [begin, end) of the matrix. The sums begin with y if
 * `d->adds`, else with the bias. Column `begin` of the matrix is the first column of y.
 * `is_reversed`: computes the panels from last to first, since the last panels are still in the
 * cache. */
void cleave_recurrent_multiply (const CleaveRecurrentMatrix *matrix,
                                const float *a,
                                gint64 direction,
                                gint64 begin,
                                gint64 end,
                                CleaveDirect *d,
                                gboolean is_reversed);

/* cleave_recurrent_length_of() returns the number of steps of sequence `batch`.
 * cleave_recurrent_time_of() returns the time index of step `step`; in the backward direction, time
 * indices descend. */
gint64 cleave_recurrent_length_of (const CleaveRecurrentWalk *walk, gint64 batch);
gint64 cleave_recurrent_time_of (const CleaveRecurrentWalk *walk, gint64 step, gint64 length);
/* Copies the rows of X for n_steps time steps to scratch, in the order of the steps. Sets the rows
 * of sequences that have ended to zeros. */
void cleave_recurrent_read_inputs (const CleaveRecurrentWalk *walk,
                                   gint64 step,
                                   gint64 n_steps,
                                   float *to);
/* cleave_recurrent_read_states() reads the initial states; if the operand is absent, they are
 * zeros. cleave_recurrent_write_states() writes the final states. */
void cleave_recurrent_read_states (const CleaveRecurrentWalk *walk, guint operand, float *to);
void
cleave_recurrent_write_states (const CleaveRecurrentWalk *walk, guint result, const float *from);
/* Stores a row of result Y for one time index. `from` NULL: stores zeros. */
void cleave_recurrent_write_row (const CleaveRecurrentWalk *walk,
                                 gint64 time,
                                 gint64 batch,
                                 const float *from);
/* Rounds the elements of a row of a state to the layer's element type. */
void cleave_recurrent_round (const CleaveRecurrentWalk *walk, float *row);
/* Reads n elements, from index `first` on, of an operand that has a row for each direction. Reads
 * the row of the current direction. If the operand is absent, sets `to` to zeros. */
void cleave_recurrent_read_list (
    const CleaveRecurrentWalk *walk, guint operand, gint64 first, gint64 n, float *to);
/* Reads the biases of the products W x and R h, and stores their sums. If R h is computed
 * separately for a gate (GRU with linear_before_reset), stores the gate's bias of R h
 * separately. */
void cleave_recurrent_read_biases (const CleaveRecurrentWalk *walk);
