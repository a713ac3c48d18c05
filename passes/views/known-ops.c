/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Looks up all known ops by their names when cleave_known_op() is first called. */

#include "known-ops.h"

static const CleaveOp *known[CLEAVE_N_KNOWN_OPS];

/* clang-format off */
static gpointer
look_up (gpointer data)
{
#define X(word, name) known[CLEAVE_KNOWN_##word] = cleave_op_lookup (name);
  CLEAVE_KNOWN_OPS (X)
#undef X
  return known;
}
/* clang-format on */

const CleaveOp *
cleave_known_op (CleaveKnownOp op)
{
  static GOnce once = G_ONCE_INIT;

  g_once (&once, look_up, NULL);
  return known[op];
}
