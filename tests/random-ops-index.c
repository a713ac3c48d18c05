/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random ops that ask where an element stands. */

#include "random-pick.h"

static CleaveNode *
make_trilu (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 2, 4, 1, 5);
  CleaveTriluAttrs a = { pick (rand, -7, 7), pick (rand, 0, 1) == 0 };

  return add_node (graph, "Trilu", add_input (graph, "x", &type), &a);
}

static CleaveNode *
make_eye_like (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 2, 2, 1, 6);
  CleaveEyeAttrs a = { pick (rand, 0, 1) == 0 ? CLEAVE_NONE : pick_element (rand),
                       pick (rand, -4, 4) };

  return add_node (graph, "EyeLike", add_input (graph, "x", &type), &a);
}

/* clang-format off */
const CleaveRandomOp cleave_random_ops_index[] = {
  { "EyeLike", make_eye_like },
  { "Trilu", make_trilu },
  { NULL, NULL },
};
