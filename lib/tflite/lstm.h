/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Operands and options of the LSTM operators UNIDIRECTIONAL_SEQUENCE_LSTM and
 * BIDIRECTIONAL_SEQUENCE_LSTM. convert-lstm.c reads operands and options into a CleaveTfliteLstm,
 * and then adds a TfliteLstm for integers; convert-lstm-floats.c adds the nodes for floats. The
 * inputs of a direction are, in this order: weights of x, weights of the hidden state, peepholes,
 * biases, and a projection. Weights and biases come in the order of the gates: input gate, forget
 * gate, cell gate, output gate. */

#include "convert.h"

enum { LSTM_X, LSTM_W, LSTM_R = 5, LSTM_PEEPHOLES = 9, LSTM_B = 12, LSTM_PROJECTION = 16 };
/* Indices of inputs of BIDIRECTIONAL_SEQUENCE_LSTM: the first weights of the second direction, and
 * the first auxiliary input. LSTM_N_BIDIRECTIONAL is the number of inputs. */
enum { LSTM_BACK_W = 18, LSTM_AUXILIARY = 39, LSTM_N_BIDIRECTIONAL = 48 };
enum { INPUT, FORGET, CELL, OUTPUT, N_GATES };

typedef struct
{
  gint64 time_major, batch, time, inputs, hidden;
  float cell_clip; /* bound of the cell state, which is clamped to [-cell_clip, cell_clip]; 0:
                    * not clamped */
  guint first;     /* index of the first input that has weights of this direction */
  CleaveResult *x, *w[N_GATES], *r[N_GATES], *b[N_GATES], *h, *c;
} CleaveTfliteLstm;

/* Reads operands and options of UNIDIRECTIONAL_SEQUENCE_LSTM. Fails for peepholes, a projection and
 * layer normalization, which the reference kernels lack, too. */
gboolean cleave_tflite_read_lstm (CleaveTfliteImport *import, CleaveTfliteLstm *l, GError **error);
/* Reads operands and options of one direction of BIDIRECTIONAL_SEQUENCE_LSTM. `is_reverse`: the
 * second direction. */
gboolean cleave_tflite_read_lstm_direction (CleaveTfliteImport *import,
                                            gboolean is_reverse,
                                            CleaveTfliteLstm *l,
                                            GError **error);
/* Returns the constants of the four gates, concatenated along dimension 0 in the order of
 * `gates`. */
CleaveResult *
cleave_tflite_stack_gates (CleaveTfliteImport *import, CleaveResult *const *gates, GError **error);
