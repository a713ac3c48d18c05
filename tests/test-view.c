/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "test.h"

#include "../lib/ir/view.h"

/* Copies between random strided views of every element size, checked element by element. */
START_TEST (a_copy_moves_every_element_and_no_other)
{
  static const CleaveElement elements[] = { CLEAVE_INT8, CLEAVE_INT16, CLEAVE_INT32, CLEAVE_INT64 };

  for (guint32 seed = 0; seed < 400; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTensorType type = { elements[seed % 4],
                                { (guint) g_rand_int_range (rand, 0, 5), { 0 } } };
      gsize size = cleave_element_size (type.element);
      g_autoptr (CleaveTensor) from = NULL;
      g_autofree guint8 *to = NULL, *want = NULL;
      CleaveView source, target;
      gint64 stride = 1;
      gsize n_bytes;

      for (guint d = 0; d < type.shape.rank; d++)
        type.shape.dim[d] = g_rand_int_range (rand, seed % 7 == 0 ? 0 : 1, 6);
      from = cleave_random_tensor (&type, seed, FALSE);
      source = cleave_view_tensor (from);
      target = source;
      for (guint i = 0; i < type.shape.rank; i++) /* dimensions in a turned order, with gaps */
        {
          guint d = (i + seed) % type.shape.rank;

          target.stride[d] = stride;
          stride *= type.shape.dim[d] + g_rand_int_range (rand, 0, 3);
        }
      n_bytes = (gsize) MAX (stride, 1) * size;
      to = g_malloc0 (n_bytes);
      want = g_malloc0 (n_bytes);
      target.data = to;
      for (gint64 n = 0; n < cleave_shape_n_elements (&type.shape); n++)
        {
          gint64 rest = n, at = 0;

          for (guint d = type.shape.rank; d > 0; d--)
            {
              at += rest % type.shape.dim[d - 1] * target.stride[d - 1];
              rest /= type.shape.dim[d - 1];
            }
          memcpy (want + (gsize) at * size, (const guint8 *) source.data + (gsize) n * size, size);
        }
      cleave_view_copy (&target, &source);
      ck_assert_msg (memcmp (to, want, n_bytes) == 0, "seed %u", seed);
    }
}
END_TEST

START_TEST (a_slice_of_a_view_moves_its_origin)
{
  gint16 data[24] = { 0 };
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT16, 4, 6);
  CleaveView whole = cleave_view_dense (&type, data);
  CleaveRange range = CLEAVE_RANGE (1, 3, 2, 6);
  CleaveView part = cleave_view_slice (&whole, &range);

  ck_assert_ptr_eq (part.data, &data[8]);
  ck_assert_int_eq (part.type.shape.dim[1], 4);
  ck_assert (cleave_view_is_dense (&whole));
  ck_assert (!cleave_view_is_dense (&part));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "views", a_copy_moves_every_element_and_no_other,
                   a_slice_of_a_view_moves_its_origin, NULL);
}

CLEAVE_TEST_MAIN ("view", add_tests)
