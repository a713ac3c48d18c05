/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random ops that move data. */

#include "graphs.h"
#include "random-pick.h"

#include <string.h>

static CleaveNode *
make_concat (CleaveGraph *graph, GRand *rand)
{
  static const char *const names[] = { "a", "b", "c", "d" };
  CleaveTensorType type = pick_type (rand, 1, 4, 1, 4);
  gint64 axis = pick_axis (rand, &type.shape);
  guint n = (guint) pick (rand, 1, 4), d = (guint) (axis < 0 ? axis + type.shape.rank : axis);
  CleaveResult *operands[4];

  for (guint i = 0; i < n; i++)
    {
      type.shape.dim[d] = pick (rand, i == 0 ? 1 : 0, 4);
      operands[i] = add_input (graph, names[i], &type);
    }
  if (n > 1 && pick (rand, 0, 3) == 0)
    operands[n - 1] = operands[0];
  return node_of (cleave_graph_add_concat (graph, NULL, operands, n, axis, NULL));
}

static CleaveNode *
make_split (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 1, 4, 1, 6);
  gint64 axis = pick_axis (rand, &type.shape), sizes[3], *extent;
  guint n = (guint) pick (rand, 1, 3);

  extent = &type.shape.dim[axis < 0 ? axis + type.shape.rank : axis];
  for (guint i = 0; i < n; i++)
    sizes[i] = pick (rand, i == 0 ? 1 : 0, 3);
  *extent = sizes[0] + (n > 1 ? sizes[1] : 0) + (n > 2 ? sizes[2] : 0);
  return cleave_graph_add_split (graph, NULL, add_input (graph, "x", &type), axis, sizes, n, NULL);
}

static CleaveNode *
make_slice (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 1, 4, 1, 8);
  CleaveSliceAttrs a = { .starts.n = type.shape.rank,
                         .ends.n = type.shape.rank,
                         .steps.n = type.shape.rank };

  for (guint d = 0; d < type.shape.rank; d++)
    {
      a.starts.v[d] = pick (rand, -9, 9);
      a.ends.v[d] = pick (rand, -9, 9);
      a.steps.v[d] = pick (rand, 0, 3) == 0 ? pick (rand, -3, -1) : pick (rand, 1, 3);
      if (pick (rand, 0, 1) == 0)
        {
          a.starts.v[d] = a.steps.v[d] > 0 ? pick (rand, 0, 1) : -1;
          a.ends.v[d] = a.steps.v[d] > 0 ? G_MAXINT64 : G_MININT64;
        }
    }
  return node_of (cleave_graph_add_slice (graph, NULL, add_input (graph, "x", &type), &a, NULL));
}

static CleaveNode *
make_transpose (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 0, 5, 1, 4);
  CleaveInts perm = { .n = pick (rand, 0, 4) == 0 ? 0 : type.shape.rank };

  for (guint d = 0; d < perm.n; d++)
    {
      guint other = (guint) pick (rand, 0, (gint32) d);

      perm.v[d] = perm.v[other];
      perm.v[other] = d;
    }
  return node_of (
      cleave_graph_add_transpose (graph, NULL, add_input (graph, "x", &type), &perm, NULL));
}

/* Adds a Reshape whose extents are random products of the factors of the operand's extents. */
static CleaveNode *
make_reshape (CleaveGraph *graph, GRand *rand)
{
  static const gint64 factors[] = { 1, 2, 2, 3 };
  CleaveTensorType type = { pick_element (rand), { 0, { 0 } } };
  CleaveInts shape = { 0 };
  guint n = (guint) pick (rand, 0, 5);

  for (guint i = 0; i < n; i++)
    {
      gint64 factor = factors[pick (rand, 0, 3)];

      if (type.shape.rank == 0 || pick (rand, 0, 1) == 0)
        type.shape.dim[type.shape.rank++] = 1;
      if (shape.n == 0 || pick (rand, 0, 1) == 0)
        shape.v[shape.n++] = 1;
      type.shape.dim[type.shape.rank - 1] *= factor;
      shape.v[shape.n - 1] *= factor;
    }
  if (shape.n > 0 && pick (rand, 0, 3) == 0)
    shape.v[pick (rand, 0, (gint32) shape.n - 1)] = -1;
  return node_of (
      cleave_graph_add_reshape (graph, NULL, add_input (graph, "x", &type), &shape, NULL));
}

static CleaveNode *
make_flatten (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 0, 4, 1, 4);
  gint64 axis = pick (rand, -(gint32) type.shape.rank, (gint32) type.shape.rank);

  return node_of (
      cleave_graph_add_flatten (graph, NULL, add_input (graph, "x", &type), axis, NULL));
}

static CleaveNode *
make_squeeze (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 0, 5, 1, 4);
  CleaveInts axes = { 0 };
  gboolean all = pick (rand, 0, 2) == 0;

  for (guint d = 0; d < type.shape.rank; d++)
    if (pick (rand, 0, 2) == 0)
      {
        type.shape.dim[d] = 1;
        axes.v[axes.n++] = d;
      }
  return node_of (cleave_test_add (graph, "Squeeze", NULL,
                                   (CleaveResult *[]){ add_input (graph, "x", &type) }, 1,
                                   all ? NULL : &(CleaveAxesAttrs){ axes }, NULL));
}

static CleaveNode *
make_unsqueeze (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 0, 4, 1, 4);
  CleaveInts axes = { (guint) pick (rand, 0, 3), { 0 } };
  gint64 rank = type.shape.rank + axes.n, axis = 0;

  for (guint i = 0; i < axes.n; i++, axis++)
    {
      axis = pick (rand, (gint32) axis, (gint32) (rank - axes.n + i));
      axes.v[i] = pick (rand, 0, 1) == 0 ? axis - rank : axis;
    }
  return node_of (cleave_test_add (graph, "Unsqueeze", NULL,
                                   (CleaveResult *[]){ add_input (graph, "x", &type) }, 1,
                                   &(CleaveAxesAttrs){ axes }, NULL));
}

static CleaveNode *
make_pad (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 0, 4, 1, 5);
  CleavePadAttrs a = { .mode = (CleavePadMode) pick (rand, 0, 2),
                       .constant_value = (double) pick (rand, -3, 3) };

  a.pads.n = 2 * type.shape.rank;
  for (guint d = 0; d < type.shape.rank; d++)
    {
      a.pads.v[d] = pick (rand, -1, 5);
      a.pads.v[type.shape.rank + d] = pick (rand, a.pads.v[d] < 0 ? 1 : -1, 5);
    }
  return node_of (cleave_test_add (
      graph, "Pad", NULL, (CleaveResult *[]){ add_input (graph, "x", &type) }, 1, &a, NULL));
}

static CleaveNode *
make_expand (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 0, 3, 1, 4);
  CleaveInts shape = { .n = (guint) pick (rand, 0, 4) };

  for (guint i = 1; i <= shape.n; i++)
    {
      gint64 *x = i <= type.shape.rank ? &type.shape.dim[type.shape.rank - i] : NULL;

      shape.v[shape.n - i] = pick (rand, 1, 4);
      if (x != NULL && *x != 1 && pick (rand, 0, 1) == 0)
        shape.v[shape.n - i] = 1;
      else if (x != NULL && *x != 1)
        *x = pick (rand, 0, 1) == 0 ? 1 : shape.v[shape.n - i];
    }
  return node_of (cleave_test_add (graph, "Expand", NULL,
                                   (CleaveResult *[]){ add_input (graph, "x", &type) }, 1,
                                   &(CleaveReshapeAttrs){ .shape = shape }, NULL));
}

static CleaveNode *
make_tile (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 0, 4, 1, 3);
  CleaveTileAttrs a = { { .n = type.shape.rank } };

  for (guint d = 0; d < type.shape.rank; d++)
    a.repeats.v[d] = pick (rand, 1, 3);
  return add_node (graph, "Tile", add_input (graph, "x", &type), &a);
}

static CleaveNode *
make_gather (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 1, 4, 1, 5);
  CleaveTensorType indices = pick_type (rand, 0, 3, 1, 3);
  gint64 axis = pick_axis (rand, &type.shape);
  gint64 extent = type.shape.dim[axis < 0 ? axis + type.shape.rank : axis];

  return node_of (
      cleave_test_add (graph, "Gather", NULL,
                       (CleaveResult *[]){ add_input (graph, "data", &type),
                                           add_indices (graph, rand, &indices.shape, extent) },
                       2, &(CleaveAxisAttrs){ axis }, NULL));
}

static CleaveNode *
make_gather_elements (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 1, 4, 1, 5);
  CleaveAxisAttrs a = { pick_axis (rand, &type.shape) };
  guint axis = (guint) (a.axis < 0 ? a.axis + type.shape.rank : a.axis);
  CleaveShape shape = type.shape;
  CleaveResult *operands[2];

  for (guint d = 0; d < shape.rank; d++)
    shape.dim[d] = pick (rand, 1, d == axis ? 6 : (gint32) shape.dim[d]);
  operands[0] = add_input (graph, "data", &type);
  operands[1] = add_indices (graph, rand, &shape, type.shape.dim[axis]);
  return cleave_graph_add (graph, cleave_op_lookup ("GatherElements"), NULL, operands, 2, 1, &a,
                           NULL);
}

static CleaveNode *
make_gather_nd (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 1, 5, 1, 4);
  CleaveGatherNdAttrs a = { pick (rand, 0, (gint32) type.shape.rank - 1) };
  gint64 taken = pick (rand, 1, (gint32) (type.shape.rank - a.batch_dims)), least = 4;
  CleaveShape shape = { .rank = (guint) (a.batch_dims + pick (rand, 0, 2)) };
  CleaveResult *operands[2];

  for (guint d = 0; d < shape.rank; d++)
    shape.dim[d] = d < a.batch_dims ? type.shape.dim[d] : pick (rand, 1, 3);
  shape.dim[shape.rank++] = taken;
  for (gint64 d = a.batch_dims; d < a.batch_dims + taken; d++)
    least = MIN (least, type.shape.dim[d]);
  operands[0] = add_input (graph, "data", &type);
  operands[1] = add_indices (graph, rand, &shape, least);
  return cleave_graph_add (graph, cleave_op_lookup ("GatherND"), NULL, operands, 2, 1, &a, NULL);
}

static CleaveNode *
make_depth_to_space (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 4, 4, 1, 4);
  CleaveDepthAttrs a = { .blocksize = pick (rand, 1, 3),
                         .mode = (CleaveDepthMode) pick (rand, 0, 1) };

  type.shape.dim[1] = pick (rand, 1, 3) * a.blocksize * a.blocksize;
  return node_of (cleave_test_add (graph, "DepthToSpace", NULL,
                                   (CleaveResult *[]){ add_input (graph, "x", &type) }, 1, &a,
                                   NULL));
}

static CleaveNode *
make_space_to_depth (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 4, 4, 1, 3);
  CleaveDepthAttrs a = { .blocksize = pick (rand, 1, 3) };

  type.shape.dim[2] *= a.blocksize;
  type.shape.dim[3] *= a.blocksize;
  return add_node (graph, "SpaceToDepth", add_input (graph, "x", &type), &a);
}

static CleaveNode *
make_resize (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 1, 4, 1, 4);
  CleaveResizeAttrs a = {
    .mode = (CleaveResizeMode) pick (rand, 0, 2),
    .coordinate_transformation_mode = (CleaveResizeCoordinates) pick (rand, 0, 4),
    .nearest_mode = (CleaveResizeNearest) pick (rand, 0, 3),
    .cubic_coeff_a = -0.75,
    .exclude_outside = pick (rand, 0, 1) == 0,
    .extrapolation_value = 9,
  };
  gboolean sizes = pick (rand, 0, 1) == 0;
  guint rank = type.shape.rank;

  if (a.mode != CLEAVE_RESIZE_NEAREST && type.element == CLEAVE_BOOL)
    type.element = CLEAVE_FLOAT64;
  a.sizes.n = sizes ? rank : 0;
  a.scales.n = sizes ? 0 : rank;
  a.roi.n = a.coordinate_transformation_mode == CLEAVE_RESIZE_TF_CROP_AND_RESIZE ? 2 * rank : 0;
  for (guint d = 0; d < rank; d++)
    {
      gint64 factor = pick (rand, 1, 4);
      gboolean crop = pick (rand, 0, 1) == 0;

      a.sizes.v[d] = pick (rand, 0, 3) > 0 ? type.shape.dim[d] * factor : pick (rand, 1, 9);
      a.scales.v[d] = pick (rand, 0, 3) > 0 ? (double) factor : g_rand_double_range (rand, 1, 3);
      a.roi.v[d] = crop ? g_rand_double_range (rand, -0.2, 0.3) : 0;
      if (2 * rank <= CLEAVE_MAX_RANK)
        a.roi.v[rank + d] = crop ? g_rand_double_range (rand, 0.9, 1.2) : 1;
    }
  return node_of (cleave_test_add (
      graph, "Resize", NULL, (CleaveResult *[]){ add_input (graph, "x", &type) }, 1, &a, NULL));
}

static CleaveNode *
make_identity (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 0, 5, 1, 4);

  return add_node (graph, "Identity", add_input (graph, "x", &type), NULL);
}

static CleaveNode *
make_dropout (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 0, 5, 1, 4);
  CleaveDropoutAttrs a = { .ratio = 0.5, .seed = pick (rand, 0, 5) };
  CleaveResult *x = add_input (graph, "x", &type);

  return cleave_graph_add (graph, cleave_op_lookup ("Dropout"), NULL, &x, 1,
                           (guint) pick (rand, 1, 2), &a, NULL);
}

static CleaveNode *
make_constant_of_shape (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 0, 4, 1, 4), one = CLEAVE_TYPE (type.element, 1);
  guint8 bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  g_autoptr (CleaveTensor) value = cleave_tensor_new_copy (&one, bytes, NULL);
  CleaveFillAttrs a = { .shape.n = type.shape.rank,
                        .value = pick (rand, 0, 3) == 0 ? NULL : value };

  memcpy (a.shape.v, type.shape.dim, sizeof type.shape.dim);
  return cleave_graph_add (graph, cleave_op_lookup ("ConstantOfShape"), NULL, NULL, 0, 1, &a, NULL);
}

static CleaveNode *
make_range (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = CLEAVE_SCALAR (CLEAVE_FLOAT32);
  float numbers[] = { (float) pick (rand, -3, 3), (float) pick (rand, 4, 9), 0.75f };
  g_autoptr (CleaveTensor) start = cleave_tensor_new_copy (&type, &numbers[0], NULL);
  g_autoptr (CleaveTensor) limit = cleave_tensor_new_copy (&type, &numbers[1], NULL);
  g_autoptr (CleaveTensor) delta = cleave_tensor_new_copy (&type, &numbers[2], NULL);
  CleaveRangeAttrs a = { start, limit, delta };

  return cleave_graph_add (graph, cleave_op_lookup ("Range"), NULL, NULL, 0, 1, &a, NULL);
}

static CleaveNode *
make_shape (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_type (rand, 0, 5, 0, 4);
  CleaveShapeAttrs a = { pick (rand, -6, 6),
                         pick (rand, 0, 1) == 0 ? CLEAVE_SHAPE_END : pick (rand, -6, 6) };

  return add_node (graph, "Shape", add_input (graph, "x", &type), &a);
}

/* clang-format off */
const CleaveRandomOp cleave_random_ops_move[] = {
  { "Concat", make_concat },
  { "ConstantOfShape", make_constant_of_shape },
  { "DepthToSpace", make_depth_to_space },
  { "Dropout", make_dropout },
  { "Expand", make_expand },
  { "Flatten", make_flatten },
  { "Gather", make_gather },
  { "GatherElements", make_gather_elements },
  { "GatherND", make_gather_nd },
  { "Identity", make_identity },
  { "Pad", make_pad },
  { "Range", make_range },
  { "Reshape", make_reshape },
  { "Resize", make_resize },
  { "Shape", make_shape },
  { "Slice", make_slice },
  { "SpaceToDepth", make_space_to_depth },
  { "Split", make_split },
  { "Squeeze", make_squeeze },
  { "Tile", make_tile },
  { "Transpose", make_transpose },
  { "Unsqueeze", make_unsqueeze },
  { NULL, NULL },
};
