/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lines of views (lib/ops/lines.h): the runs of elements that a kernel processes at once. */

#include "apply.h"

/* Divides all views into lines of equal length, and returns the number and the length of the lines
 * as text, such as "6x4". */
static char *
describe (const CleaveView *const *views, guint n_views)
{
  GString *out = g_string_new (NULL);
  CleaveLines lines;
  guint n = 0;
  gint64 length = 0;

  for (gboolean more = cleave_lines_init_views (&lines, views, n_views); more;
       more = cleave_lines_next (&lines))
    {
      n++;
      length = lines.length;
    }
  g_string_append_printf (out, "%ux%d", n, (int) length);
  return g_string_free (out, FALSE);
}

START_TEST (adjacent_dimensions_are_merged)
{
  CleaveView dense = cleave_view_dense (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 1, 5, 6), NULL);
  CleaveView turned = dense, part = dense,
             row = cleave_view_dense (&CLEAVE_TYPE (CLEAVE_FLOAT32, 6), NULL);
  const struct
  {
    const CleaveView *a, *b;
    const char *lines;
  } cases[] = {
    { &dense, &dense, "1x120" }, { &turned, &turned, "1x120" }, { &part, &part, "4x30" },
    { &dense, &row, "20x6" },    { &turned, &dense, "30x4" },
  };

  turned.stride[0] = 1; /* dimension 0 is innermost in memory */
  turned.stride[2] = 24;
  turned.stride[3] = 4;
  part.stride[0] = 60;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const CleaveView *views[] = { cases[i].a, cases[i].b };
      g_autofree char *lines = describe (views, 2);

      ck_assert_str_eq (lines, cases[i].lines);
    }
}
END_TEST

START_TEST (a_scalar_has_one_line_and_an_empty_view_none)
{
  CleaveView scalar = cleave_view_dense (&CLEAVE_SCALAR (CLEAVE_FLOAT32), NULL);
  CleaveView empty = cleave_view_dense (&CLEAVE_TYPE (CLEAVE_FLOAT32, 3, 0), NULL);
  const CleaveView *one[] = { &scalar }, *none[] = { &empty };
  g_autofree char *a = describe (one, 1);
  g_autofree char *b = describe (none, 1);

  ck_assert_str_eq (a, "1x1");
  ck_assert_str_eq (b, "0x0");
}
END_TEST

/* cleave_lines_next() visits the chosen dimensions in row-major order, whatever their strides are.
 * After the last index it begins again with the first. */
START_TEST (chosen_dimensions_keep_their_order)
{
  CleaveView view = cleave_view_dense (&CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 3, 2), NULL);
  const CleaveView *views[] = { &view };
  CleaveLines lines;

  for (int round = 0; round < 2; round++)
    {
      GString *out = g_string_new (NULL);
      g_autofree char *text = NULL;

      if (round == 0)
        ck_assert (cleave_lines_init_dims (&lines, views, 1, 1u << 0 | 1u << 2));
      do
        for (gint64 i = 0; i < lines.length; i++)
          g_string_append_printf (out, "%d ", (int) (lines.offset[0] + i * lines.step[0]));
      while (cleave_lines_next (&lines));
      text = g_string_free (out, FALSE);
      ck_assert_str_eq (text, "0 1 6 7 ");
    }
}
END_TEST

START_TEST (plain_lines_are_not_copied)
{
  float data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  CleaveView view = cleave_view_dense (&CLEAVE_TYPE (CLEAVE_FLOAT32, 8), data);
  CleaveLineBuffer buffer;
  const float *strided;
  const double *real;

  ck_assert_ptr_eq (cleave_line_read (&view, 2, 1, 3, CLEAVE_WIDE_F32, &buffer), &data[2]);
  ck_assert_ptr_eq (cleave_line_begin (&view, 2, 1, CLEAVE_WIDE_F32, &buffer), &data[2]);
  ck_assert_ptr_eq (cleave_line_begin (&view, 2, 2, CLEAVE_WIDE_F32, &buffer), &buffer);
  strided = cleave_line_read (&view, 6, -2, 3, CLEAVE_WIDE_F32, &buffer);
  ck_assert (strided[0] == 7 && strided[1] == 5 && strided[2] == 3);
  real = cleave_line_read (&view, 1, 0, 2, CLEAVE_WIDE_F64, &buffer);
  ck_assert (real[0] == 2 && real[1] == 2);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "lines", adjacent_dimensions_are_merged,
                   a_scalar_has_one_line_and_an_empty_view_none, chosen_dimensions_keep_their_order,
                   plain_lines_are_not_copied, NULL);
}

CLEAVE_TEST_SUITE ("lines", add_tests)
