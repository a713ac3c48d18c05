/* SPDX-License-Identifier: GPL-2.0-or-later */

/* RNN, GRU and LSTM. Also the list of all tables of ops. */

#include "trial.h"

#include "trial-ops.h"

static guint
maybe (Trial *trial, const TrialType *type)
{
  return chance (trial, 50) ? use_type (trial, type) : 0;
}

static void
set_gates (Trial *trial, gboolean lstm, gboolean gru, gint64 hidden, gint64 directions)
{
  static const char *const names[] = { "forward", "reverse", "bidirectional" };

  set_int (trial, "hidden_size", hidden);
  set_string (trial, "direction", names[directions == 2 ? 2 : pick (trial, 2)]);
  if (chance (trial, 20))
    set_float (trial, "clip", pick_real (trial, 0.5, 2));
  if (gru && chance (trial, 50))
    set_int (trial, "linear_before_reset", 1);
  if (lstm && chance (trial, 20))
    set_int (trial, "input_forget", 1);
}

static void
grow_recurrent (Trial *trial, const char *op)
{
  gboolean lstm = g_str_equal (op, "LSTM"), gru = g_str_equal (op, "GRU");
  gint64 gates = lstm ? 4 : gru ? 3 : 1, hidden = 1 + pick (trial, 9);
  gint64 directions = chance (trial, 30) ? 2 : 1;
  guint x = use_any (trial, NO_BF16, 3, 3), in[8], n = lstm ? 8 : 6;
  TrialType type = type_of (trial, x);
  gint64 steps = type.dim[0], batch = type.dim[1], width = type.dim[2];
  TrialType state = type_make (type.element, 3, directions, batch, hidden);
  const TrialType operands[] = {
    type,
    type_make (type.element, 3, directions, gates * hidden, width),
    type_make (type.element, 3, directions, gates * hidden, hidden),
    type_make (type.element, 2, directions, 2 * gates * hidden),
    type_make (I32, 1, batch),
    state,
    state,
    type_make (type.element, 2, directions, 3 * hidden),
  };
  TrialType y = type_make (type.element, 4, steps, directions, batch, hidden);

  if (!need (trial, steps > 0 && batch > 0 && width > 0))
    return;
  in[0] = x;
  for (guint i = 1; i < n; i++)
    in[i] = i <= 2                         ? use_type (trial, &operands[i])
            : i == 4 && chance (trial, 30) ? use_indices (trial, &operands[i], 1, steps)
            : i == 4                       ? 0
                                           : maybe (trial, &operands[i]);
  add_node (trial, op);
  for (guint i = 0; i < n; i++)
    add_in (trial, in[i]);
  set_gates (trial, lstm, gru, hidden, directions);
  add_out (trial, &y);
  if (chance (trial, 50))
    add_out (trial, &state);
  if (lstm && chance (trial, 50))
    {
      if (g_array_index (trial->nodes, TrialNode, trial->nodes->len - 1).n_out == 1)
        add_out (trial, &state);
      add_out (trial, &state);
    }
  add_work (trial, steps * directions * batch * gates * hidden * (width + hidden));
}

const TrialOp trial_recurrent[] = {
  { "RNN", grow_recurrent, 3 },
  { "GRU", grow_recurrent, 3 },
  { "LSTM", grow_recurrent, 3 },
  { NULL, NULL, 0 },
};

const TrialOp *const trial_tables[] = {
  trial_elementwise, trial_windows, trial_samples,   trial_products, trial_reductions, trial_moves,
  trial_shapes,      trial_indices, trial_quantized, trial_signal,   trial_recurrent,  NULL,
};
