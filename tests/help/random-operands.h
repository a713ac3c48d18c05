/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Random operands of ops that serve any shape and many element types. random-ops-elementwise.c and
 * random-ops-axes.c use these functions. */

#include "random-ops.h"

/* The macros below are the sets of element types that elementwise.def names. */

#define FLOATS CLEAVE_FLOAT32, CLEAVE_FLOAT64, CLEAVE_FLOAT16, CLEAVE_BFLOAT16
#define SIGNED_WHOLES CLEAVE_INT8, CLEAVE_INT16, CLEAVE_INT32, CLEAVE_INT64
#define SIGNEDS FLOATS, SIGNED_WHOLES
#define UNSIGNEDS CLEAVE_UINT8, CLEAVE_UINT16, CLEAVE_UINT32, CLEAVE_UINT64

static const CleaveElement set_FLOAT[] = { FLOATS, CLEAVE_NONE };
static const CleaveElement set_SIGNED[] = { SIGNEDS, CLEAVE_NONE };
static const CleaveElement set_UNSIGNED[] = { UNSIGNEDS, CLEAVE_NONE };
static const CleaveElement set_WHOLE[] = { SIGNED_WHOLES, UNSIGNEDS, CLEAVE_NONE };
static const CleaveElement set_NUMBER[] = { SIGNEDS, UNSIGNEDS, CLEAVE_NONE };
static const CleaveElement set_BOOL[] = { CLEAVE_BOOL, CLEAVE_NONE };
static const CleaveElement set_ANY[] = { SIGNEDS, UNSIGNEDS, CLEAVE_BOOL, CLEAVE_NONE };

/* Returns an element type of the set. About every second result is the first type of the set, such
 * as float32. */
static inline CleaveElement
random_element (GRand *rand, const CleaveElement *set)
{
  gint32 n = 0;

  while (set[n] != CLEAVE_NONE)
    n++;
  return g_rand_boolean (rand) ? set[0] : set[g_rand_int_range (rand, 0, n)];
}

/* Returns a small shape of any rank. At times, the last dimension of a shape of rank 1 or 2 has
 * more elements than kernels process at once. */
static inline CleaveShape
random_shape (GRand *rand, guint min_rank)
{
  CleaveShape shape = { .rank = (guint) g_rand_int_range (rand, (gint32) min_rank, 6) };

  for (guint d = 0; d < shape.rank; d++)
    shape.dim[d] = g_rand_int_range (rand, 1, 6);
  if (shape.rank > 0 && shape.rank < 3 && g_rand_int_range (rand, 0, 4) == 0)
    shape.dim[shape.rank - 1] = g_rand_int_range (rand, 200, 600);
  return shape;
}

/* Returns a shape that broadcasts to `shape`. */
static inline CleaveShape
random_part (GRand *rand, const CleaveShape *shape)
{
  guint missing = g_rand_int_range (rand, 0, 3) > 0
                      ? 0
                      : (guint) g_rand_int_range (rand, 0, (gint32) shape->rank + 1);
  CleaveShape part = { .rank = shape->rank - missing };

  for (guint d = 0; d < part.rank; d++)
    part.dim[d] = g_rand_int_range (rand, 0, 4) == 0 ? 1 : shape->dim[missing + d];
  return part;
}

static inline CleaveResult *
add_input (CleaveGraph *graph, CleaveElement element, const CleaveShape *shape)
{
  g_autofree char *name = g_strdup_printf ("x%u", cleave_graph_get_n_inputs (graph));

  return cleave_graph_add_input (graph, name, &(CleaveTensorType){ element, *shape }, NULL);
}

static inline CleaveNode *
add (CleaveGraph *graph,
     const char *op,
     CleaveResult *const *operands,
     guint n_operands,
     guint n_results,
     gconstpointer attrs)
{
  return cleave_graph_add (graph, cleave_op_lookup (op), NULL, operands, n_operands, n_results,
                           attrs, NULL);
}

/* Adds an input, and an op whose only operand is the input. */
static inline CleaveNode *
add_to_input (CleaveGraph *graph,
              const char *op,
              CleaveElement element,
              const CleaveShape *shape,
              gconstpointer attrs)
{
  CleaveResult *x = add_input (graph, element, shape);

  return add (graph, op, &x, 1, 1, attrs);
}
