/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Calls reference kernels directly, on tensors. The suites in tests/ops use these functions to
 * compare an op with numbers that the test states. No program is made. */

#include <math.h>
#include <string.h>

#include "../../lib/ir/graph-private.h"
#include "../../lib/ops/lines.h"
#include "test.h"

#define CLEAVE_APPLY_MAX 5

/* Returns a tensor of these numbers. The op Cast defines how a number is converted to the element
 * type. */
static inline CleaveTensor *
cleave_apply_tensor (CleaveElement element, CleaveShape shape, const double *values)
{
  CleaveTensorType type = { element, shape };
  CleaveTensor *tensor = cleave_tensor_new (&type, NULL);
  CleaveView view = cleave_view_dense (&type, cleave_tensor_get_mutable_data (tensor));

  cleave_line_write (&view, 0, 1, cleave_shape_n_elements (&shape), CLEAVE_WIDE_F64, values);
  return tensor;
}

/* Returns element `i` in row-major order as a double. */
static inline double
cleave_apply_at (const CleaveTensor *tensor, gint64 i)
{
  CleaveElement element = cleave_tensor_get_type (tensor)->element;
  gconstpointer data = cleave_tensor_get_data (tensor);

  return cleave_real_load (element,
                           (const char *) data + i * (gint64) cleave_element_size (element));
}

/* Adds a node of the op with inputs of these types as operands. Returns NULL and sets the error
 * if the op refuses them. */
static inline CleaveNode *
cleave_apply_add (CleaveGraph *graph,
                  const char *op,
                  const CleaveTensorType *types,
                  guint n_operands,
                  guint n_results,
                  gconstpointer attrs,
                  GError **error)
{
  CleaveResult *operands[CLEAVE_APPLY_MAX] = { NULL };

  for (guint k = 0; k < n_operands; k++)
    if (types[k].element != CLEAVE_NONE)
      {
        g_autofree char *name = g_strdup_printf ("x%u", k);

        operands[k] = cleave_graph_add_input (graph, name, &types[k], NULL);
        ck_assert (operands[k] != NULL);
      }
  return cleave_graph_add (graph, cleave_op_lookup (op), "y", operands, n_operands, n_results,
                           attrs, error);
}

/* Returns result `r` of the op on these tensors. */
static inline CleaveTensor *
cleave_apply_nth (const char *op,
                  CleaveTensor *const *tensors,
                  guint n_operands,
                  guint n_results,
                  gconstpointer attrs,
                  guint r)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType types[CLEAVE_APPLY_MAX] = { 0 };
  CleaveView operands[CLEAVE_APPLY_MAX] = { 0 }, results[CLEAVE_APPLY_MAX];
  CleaveTensor *made[CLEAVE_APPLY_MAX] = { NULL };
  g_autoptr (GError) error = NULL;
  CleaveNodeCall call;
  CleaveNode *node;

  for (guint k = 0; k < n_operands; k++)
    if (tensors[k] != NULL)
      {
        types[k] = *cleave_tensor_get_type (tensors[k]);
        operands[k] = cleave_view_tensor (tensors[k]);
      }
  node = cleave_apply_add (graph, op, types, n_operands, n_results, attrs, &error);
  cleave_assert_no_error (error);
  for (guint k = 0; k < n_results; k++)
    {
      made[k] = cleave_tensor_new (&node->results[k].type, NULL);
      memset (cleave_tensor_get_mutable_data (made[k]), 0xa5,
              (gsize) cleave_tensor_type_n_bytes (&node->results[k].type));
      results[k] = cleave_view_tensor (made[k]);
    }
  node->op->compute (cleave_node_call_init (&call, node), operands, results);
  cleave_node_call_clear (&call);
  for (guint k = 0; k < n_results; k++)
    if (k != r)
      cleave_tensor_unref (made[k]);
  return made[r];
}

static inline CleaveTensor *
cleave_apply (const char *op, CleaveTensor *const *tensors, guint n_operands, gconstpointer attrs)
{
  return cleave_apply_nth (op, tensors, n_operands, 1, attrs, 0);
}

/* Asserts that the elements are these numbers: exactly, or, for floats, within `tolerance`
 * relative to max (1, |number|). */
static inline void
cleave_apply_check (const char *what,
                    const CleaveTensor *tensor,
                    const double *expected,
                    double tolerance)
{
  gint64 n = cleave_shape_n_elements (&cleave_tensor_get_type (tensor)->shape);

  for (gint64 i = 0; i < n; i++)
    {
      double got = cleave_apply_at (tensor, i), want = expected[i];

      if (got == want || (got != got && want != want))
        continue;
      /* the assertions of Check write to a file */
      if (!(fabs (got - want) <= tolerance * MAX (1, fabs (want))))
        ck_abort_msg ("%s: element %d is %.17g, not %.17g", what, (int) i, got, want);
    }
}

/* Asserts that adding the op with operands of these types fails with this message. */
static inline void
cleave_apply_fails (const char *op,
                    const CleaveTensorType *types,
                    guint n_operands,
                    guint n_results,
                    gconstpointer attrs,
                    CleaveError code,
                    const char *message)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  GError *error = NULL;

  ck_assert_msg (cleave_apply_add (graph, op, types, n_operands, n_results, attrs, &error) == NULL,
                 "no error: %s", message);
  cleave_assert_error (&error, code, message);
}
