/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests views: a slice of a view is a view, too. */

#include "test.h"

#include "../../lib/ir/view.h"

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
  cleave_add_case (suite, "views", a_slice_of_a_view_moves_its_origin, NULL);
}

CLEAVE_TEST_SUITE ("view", add_tests)
