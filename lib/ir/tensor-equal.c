/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compares the types and all elements of two tensors. */

#include "copy.h"
#include "deferred-tensor.h"
#include "nan.h"

/* Returns whether two views of the same shape have equal elements. Each memcmp() compares a run
 * that is contiguous in both views. */
static gboolean
are_equal (const CleaveView *a, const CleaveView *b)
{
  CleaveCopyLoops loops = cleave_copy_loops_of_views (a, b);
  const char *x = a->data, *y = b->data;
  gint64 index[CLEAVE_MAX_LOOPS] = { 0 }, run = 1;
  gint d;

  if (cleave_shape_n_elements (&a->type.shape) == 0)
    return TRUE;
  while (loops.rank > 0 && loops.to[loops.rank - 1] == run * loops.size &&
         loops.from[loops.rank - 1] == run * loops.size)
    run *= loops.n[--loops.rank];
  do
    {
      if (!cleave_nans_equal (a->type.element, x, y, run))
        return FALSE;
      for (d = (gint) loops.rank - 1; d >= 0; d--)
        {
          x += loops.to[d];
          y += loops.from[d];
          if (++index[d] < loops.n[d])
            break;
          x -= loops.to[d] * loops.n[d];
          y -= loops.from[d] * loops.n[d];
          index[d] = 0;
        }
    }
  while (d >= 0);
  return TRUE;
}

/* Returns whether two tensors whose elements need 4 bits are equal, without unpacking the tensors.
 * The number of elements must be even. */
static gboolean
are_packed_equal (const CleaveTensor *a, const CleaveTensor *b)
{
  g_autoptr (CleaveTensor) x = cleave_tensor_dup_packed (a);
  g_autoptr (CleaveTensor) y = cleave_tensor_dup_packed (b);

  return cleave_tensor_equal (x, y);
}

/**
 * cleave_tensor_equal:
 * @a: a tensor
 * @b: a tensor
 *
 * Compares the types and the bits of all elements: -0 differs from 0. Any NaN equals any other NaN.
 *
 * Returns: whether the tensors are equal
 *
 * Since: 0.1
 */
gboolean
cleave_tensor_equal (const CleaveTensor *a, const CleaveTensor *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);
  if (!cleave_tensor_type_equal (cleave_tensor_get_type (a), cleave_tensor_get_type (b)))
    return FALSE;
  if (cleave_tensor_get_bits (a) != CLEAVE_BITS_8 &&
      cleave_tensor_get_bits (a) == cleave_tensor_get_bits (b) &&
      cleave_shape_n_elements (&cleave_tensor_get_type (a)->shape) % 2 == 0)
    return are_packed_equal (a, b);

  CleaveView x = cleave_view_tensor (a), y = cleave_view_tensor (b);

  return are_equal (&x, &y);
}
