/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Random picks for the functions that make ops (random-ops.h). Callers make at most one pick in an
 * argument list: compilers evaluate arguments in different orders, and a seed must give the same op
 * everywhere. */

#include "random-ops.h"

/* Returns a number from `min` to `max`, both included. */
static inline gint64
pick (GRand *rand, gint32 min, gint32 max)
{
  return g_rand_int_range (rand, min, max + 1);
}

/* Returns any of the 13 element types. */
static inline CleaveElement
pick_element (GRand *rand)
{
  return (CleaveElement) pick (rand, CLEAVE_FLOAT32, CLEAVE_BOOL);
}

/* Returns a float type, mostly float32. */
static inline CleaveElement
pick_float (GRand *rand)
{
  return pick (rand, 0, 2) > 0 ? CLEAVE_FLOAT32
                               : (CleaveElement) pick (rand, CLEAVE_FLOAT32, CLEAVE_BFLOAT16);
}

static inline CleaveTensorType
pick_type (GRand *rand, guint min_rank, guint max_rank, gint32 min_extent, gint32 max_extent)
{
  CleaveTensorType type = { pick_element (rand),
                            { (guint) pick (rand, (gint32) min_rank, (gint32) max_rank), { 0 } } };

  for (guint d = 0; d < type.shape.rank; d++)
    type.shape.dim[d] = pick (rand, min_extent, max_extent);
  return type;
}

static inline gint64
pick_axis (GRand *rand, const CleaveShape *shape)
{
  return pick (rand, -(gint32) shape->rank, (gint32) shape->rank - 1);
}

static inline CleaveResult *
add_input (CleaveGraph *graph, const char *name, const CleaveTensorType *type)
{
  return cleave_graph_add_input (graph, name, type, NULL);
}

static inline CleaveResult *
add_numbers (CleaveGraph *graph, const CleaveTensorType *type, const gint64 *numbers)
{
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (type, NULL);
  gpointer data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < cleave_shape_n_elements (&type->shape); i++)
    if (type->element == CLEAVE_INT32)
      ((gint32 *) data)[i] = (gint32) numbers[i];
    else
      ((gint64 *) data)[i] = numbers[i];
  return cleave_graph_add_constant (graph, "indices", tensor);
}

static inline CleaveNode *
node_of (CleaveResult *result)
{
  return result == NULL ? NULL : cleave_result_get_node (result);
}

/* Adds a node of any op with one operand and one result. */
static inline CleaveNode *
add_node (CleaveGraph *graph, const char *op, CleaveResult *x, gconstpointer attrs)
{
  return cleave_graph_add (graph, cleave_op_lookup (op), NULL, &x, 1, 1, attrs, NULL);
}

/* Returns indices in the range of an extent, some of them negative. */
static inline CleaveResult *
add_indices (CleaveGraph *graph, GRand *rand, const CleaveShape *shape, gint64 extent)
{
  CleaveTensorType type = { pick (rand, 0, 1) == 0 ? CLEAVE_INT32 : CLEAVE_INT64, *shape };
  gint64 n = cleave_shape_n_elements (shape);
  g_autofree gint64 *numbers = g_new0 (gint64, (gsize) MAX (n, 1));

  for (gint64 i = 0; i < n; i++)
    numbers[i] = pick (rand, -(gint32) extent, (gint32) extent - 1);
  return add_numbers (graph, &type, numbers);
}
