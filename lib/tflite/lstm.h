/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Operands and options of UNIDIRECTIONAL_SEQUENCE_LSTM, on integers and on floats. Inputs 1 to 4
 * are the weights of x for the gates input, forget, cell and output. Inputs 5 to 8 are the weights
 * of the hidden state, and inputs 12 to 15 the biases. */

#include "convert.h"

enum { LSTM_X, LSTM_W, LSTM_R = 5, LSTM_PEEPHOLES = 9, LSTM_B = 12, LSTM_PROJECTION = 16 };
enum { INPUT, FORGET, CELL, OUTPUT, N_GATES };

typedef struct
{
  gint64 time_major, batch, time, inputs, hidden;
  float cell_clip; /* limit of the cell state; 0: none */
  CleaveResult *x, *w[N_GATES], *r[N_GATES], *b[N_GATES], *h, *c;
} CleaveTfliteLstm;

/* Reads operands and options. Fails for peepholes, a projection and layer normalization, which the
 * reference kernels lack, too. */
gboolean cleave_tflite_read_lstm (CleaveTfliteImport *import, CleaveTfliteLstm *l, GError **error);
/* Concatenates the constants of the four gates along dimension 0. */
CleaveResult *
cleave_tflite_stack_gates (CleaveTfliteImport *import, CleaveResult *const *gates, GError **error);
