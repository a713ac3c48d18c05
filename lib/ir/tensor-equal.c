/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compares the types and all elements of two tensors. */

#include "copy.h"
#include "nan.h"

/* Compares two views, one run at a time that is contiguous in both. */
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

/**
 * cleave_tensor_equal:
 * @a: a tensor
 * @b: a tensor
 *
 * Compares the types and the bits of all elements: -0 differs from 0. Any NaN equals any other.
 *
 * Returns: whether the tensors are equal
 *
 * Since: 0.1
 */
gboolean
cleave_tensor_equal (const CleaveTensor *a, const CleaveTensor *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);
  CleaveView x = cleave_view_tensor (a), y = cleave_view_tensor (b);

  return cleave_tensor_type_equal (&x.type, &y.type) && are_equal (&x, &y);
}
