/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random ops that depend on the positions of elements. */

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

/* Adds a ScatterElements. The indices have the rank of the data, and along some dimensions a
 * smaller extent. */
static CleaveNode *
make_scatter_elements (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 1, 4, 1, 5), updates = type;
  CleaveScatterAttrs a = { pick_axis (rand, &type.shape),
                           (CleaveScatterReduction) pick (rand, 0, 4) };
  guint axis = (guint) (a.axis < 0 ? a.axis + type.shape.rank : a.axis);
  CleaveResult *operands[3];

  for (guint d = 0; d < type.shape.rank; d++)
    updates.shape.dim[d] =
        d == axis ? pick (rand, 1, 6) : MAX (1, type.shape.dim[d] - (pick (rand, 0, 3) == 0));
  operands[0] = add_input (graph, "data", &type);
  operands[1] = add_indices (graph, rand, &updates.shape, type.shape.dim[axis]);
  operands[2] = add_input (graph, "updates", &updates);
  return cleave_graph_add (graph, cleave_op_lookup ("ScatterElements"), NULL, operands, 3, 1, &a,
                           NULL);
}

static CleaveNode *
make_scatter_nd (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 1, 4, 1, 4), updates = { type.element, { 0 } };
  CleaveScatterAttrs a = { .reduction = (CleaveScatterReduction) pick (rand, 0, 4) };
  guint taken = (guint) pick (rand, 1, (gint32) type.shape.rank);
  CleaveShape shape = { .rank = (guint) pick (rand, 0, 2) };
  gint64 least = 4;
  CleaveResult *operands[3];

  for (guint d = 0; d < shape.rank; d++)
    updates.shape.dim[updates.shape.rank++] = shape.dim[d] = pick (rand, 1, 3);
  shape.dim[shape.rank++] = taken;
  for (guint d = 0; d < type.shape.rank; d++)
    if (d < taken)
      least = MIN (least, type.shape.dim[d]);
    else
      updates.shape.dim[updates.shape.rank++] = type.shape.dim[d];
  operands[0] = add_input (graph, "data", &type);
  operands[1] = add_indices (graph, rand, &shape, least);
  operands[2] = add_input (graph, "updates", &updates);
  return cleave_graph_add (graph, cleave_op_lookup ("ScatterND"), NULL, operands, 3, 1, &a, NULL);
}

/* Adds a OneHot. Some indices are out of range, and select no element. */
static CleaveNode *
make_one_hot (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType indices = pick_type (rand, 0, 3, 1, 4),
                   values = CLEAVE_TYPE (pick_element (rand), 2);
  CleaveOneHotAttrs a = { .depth = pick (rand, 1, 6),
                          .axis = pick (rand, -(gint32) indices.shape.rank - 1,
                                        (gint32) indices.shape.rank) };
  gint64 begin = pick (rand, 0, (gint32) a.depth - 1);
  CleaveResult *operands[] = { add_indices (graph, rand, &indices.shape, a.depth + 1),
                               add_input (graph, "values", &values) };

  if (pick (rand, 0, 2) == 0)
    a.part = CLEAVE_INTS (begin, pick (rand, (gint32) begin + 1, (gint32) a.depth));
  return cleave_graph_add (graph, cleave_op_lookup ("OneHot"), NULL, operands, 2, 1, &a, NULL);
}

static CleaveNode *
make_reverse_sequence (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 2, 4, 1, 5);
  gint64 batch = pick (rand, 0, 1), lengths[5];
  CleaveReverseSequenceAttrs a = { batch, 1 - batch };
  CleaveTensorType n = CLEAVE_TYPE (CLEAVE_INT64, type.shape.dim[batch]);
  CleaveResult *operands[2] = { add_input (graph, "x", &type) };

  for (gint64 b = 0; b < type.shape.dim[batch]; b++)
    lengths[b] = pick (rand, 1, (gint32) type.shape.dim[1 - batch]);
  operands[1] = add_numbers (graph, &n, lengths);
  return cleave_graph_add (graph, cleave_op_lookup ("ReverseSequence"), NULL, operands, 2, 1, &a,
                           NULL);
}

/* clang-format off */
const CleaveRandomOp cleave_random_ops_index[] = {
  { "EyeLike", make_eye_like },
  { "OneHot", make_one_hot },
  { "ReverseSequence", make_reverse_sequence },
  { "ScatterElements", make_scatter_elements },
  { "ScatterND", make_scatter_nd },
  { "Trilu", make_trilu },
  { NULL, NULL },
};
