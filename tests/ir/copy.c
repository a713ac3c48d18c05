/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies between two views of equal shapes. Each copy must equal a copy element by element, and
 * change no other byte. */

#include "test.h"

#include "../../lib/ir/copy.h"

static const CleaveElement elements[] = { CLEAVE_INT8, CLEAVE_INT16, CLEAVE_INT32, CLEAVE_INT64 };

/* Sets the strides of a view: dimensions in random order, with gaps between rows if `gaps`. Returns
 * the number of elements that the view occupies in memory, with all gaps. */
static gint64
lay_out (CleaveView *view, GRand *rand, gboolean gaps)
{
  guint dims[CLEAVE_MAX_RANK], rank = view->type.shape.rank;
  gint64 stride = 1;

  for (guint i = 0; i < rank; i++)
    dims[i] = i;
  for (guint i = rank; i > 1; i--)
    {
      guint j = (guint) g_rand_int_range (rand, 0, (gint32) i), keep = dims[j];

      dims[j] = dims[i - 1];
      dims[i - 1] = keep;
    }
  for (guint i = 0; i < rank; i++)
    {
      view->stride[dims[i]] = stride;
      stride *= view->type.shape.dim[dims[i]] + (gaps ? g_rand_int_range (rand, 0, 3) : 0);
    }
  return MAX (stride, 1);
}

static void
fill (guint8 *bytes, gint64 n, GRand *rand)
{
  for (gint64 i = 0; i < n; i++)
    bytes[i] = (guint8) g_rand_int (rand);
}

/* Copies element by element: the expected result of a copy. */
static void
copy_simply (const CleaveView *to, const CleaveView *from)
{
  gsize size = cleave_element_size (to->type.element);

  for (gint64 n = 0; n < cleave_shape_n_elements (&to->type.shape); n++)
    {
      gint64 rest = n, t = 0, f = 0;

      for (guint d = to->type.shape.rank; d > 0; d--)
        {
          t += rest % to->type.shape.dim[d - 1] * to->stride[d - 1];
          f += rest % to->type.shape.dim[d - 1] * from->stride[d - 1];
          rest /= to->type.shape.dim[d - 1];
        }
      memcpy ((guint8 *) to->data + t * (gint64) size, (guint8 *) from->data + f * (gint64) size,
              size);
    }
}

/* Returns the number of elements in memory from the first element of a view to its last one, both
 * included. */
static gint64
reach (const CleaveView *view)
{
  gint64 last = 0;

  for (guint d = 0; d < view->type.shape.rank; d++)
    last += (view->type.shape.dim[d] - 1) * view->stride[d];
  return MAX (last, 0) + 1;
}

/* Copies between two views, and asserts that the elements are right and that bytes around them do
 * not change. Data begins `misaligned` bytes after an aligned address. */
static void
check_views (const CleaveView *to_like, const CleaveView *from_like, GRand *rand, guint misaligned)
{
  CleaveView from = *from_like, to = *to_like;
  gint64 size = (gint64) cleave_element_size (to.type.element);
  gint64 n_from = reach (&from) * size, n_to = reach (&to) * size;
  g_autofree guint8 *source = g_malloc ((gsize) n_from + misaligned);
  g_autofree guint8 *target = g_malloc ((gsize) n_to + misaligned);
  g_autofree guint8 *want = NULL;

  fill (source, n_from + misaligned, rand);
  fill (target, n_to + misaligned, rand);
  want = g_memdup2 (target, (gsize) n_to + misaligned);
  from.data = source + misaligned;
  to.data = want + misaligned;
  copy_simply (&to, &from);
  to.data = target + misaligned;
  cleave_view_copy (&to, &from);
  ck_assert (memcmp (target, want, (gsize) n_to + misaligned) == 0);
}

/* Copies between random layouts of a type. */
static void
check_copy (const CleaveTensorType *type, GRand *rand, gboolean gaps, guint misaligned)
{
  CleaveView from = { .type = *type }, to = { .type = *type };

  lay_out (&from, rand, gaps);
  lay_out (&to, rand, gaps);
  check_views (&to, &from, rand, misaligned);
}

static void
draw_shape (CleaveShape *shape, GRand *rand, guint rank, gint32 least, gint32 most)
{
  shape->rank = rank;
  for (guint d = 0; d < rank; d++)
    shape->dim[d] = g_rand_int_range (rand, least, most + 1);
}

START_TEST (a_copy_moves_every_element_and_no_other)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (600); seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTensorType type = { elements[seed % 4], { 0, { 0 } } };

      draw_shape (&type.shape, rand, (guint) g_rand_int_range (rand, 0, 9), seed % 7 == 0 ? 0 : 1,
                  4);
      check_copy (&type, rand, seed % 3 > 0, 0);
    }
}
END_TEST

START_TEST (tiles_and_remainders_are_transposed)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (120); seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTensorType type = { elements[seed % 4], { 0, { 0 } } };

      draw_shape (&type.shape, rand, 2 + seed / 4 % 2, 1, seed / 4 % 2 == 0 ? 150 : 40);
      check_copy (&type, rand, seed % 3 == 0, (guint) cleave_element_size (type.element));
    }
}
END_TEST

START_TEST (short_rows_and_few_channels_are_copied)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (160); seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTensorType type = { elements[seed % 4], { 3, { 0 } } };

      draw_shape (&type.shape, rand, 3, 1, 30);
      type.shape.dim[seed / 4 % 3] = 1 + seed / 12;
      check_copy (&type, rand, seed % 2 == 0, 0);
    }
}
END_TEST

/* A line is a run of elements along one dimension. Interleaves a few long lines into one line, and
 * copies an interleaved line back to separate lines. The numbers and lengths of lines are not
 * multiples of a vector. Bytes before and after the lines do not change. */
START_TEST (a_few_long_lines_are_interleaved)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (1200); seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      gint64 n_lines = 2 + seed / 4 % 15, length = g_rand_int_range (rand, 1, 90);
      CleaveTensorType type = { elements[seed % 4], { 3, { 3, length, n_lines } } };
      CleaveView from = { .type = type }, to = { .type = type };
      gint64 stride = length + g_rand_int_range (rand, 0, 3);

      to.stride[0] = from.stride[0] = stride * n_lines;
      to.stride[1] = n_lines;
      to.stride[2] = from.stride[1] = 1;
      from.stride[2] = stride;
      check_views (&to, &from, rand, seed % 8);
      check_views (&from, &to, rand, seed % 8);
    }
}
END_TEST

/* Copies every second element of a row to a dense row, and copies one element to a whole row. */
START_TEST (strided_lines_are_copied)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (400); seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      gint64 length = g_rand_int_range (rand, 1, seed % 8 < 4 ? 90 : 6000);
      CleaveTensorType type = { elements[seed % 4], { 2, { 3, length } } };
      CleaveView from = { .type = type }, to = { .type = type };

      to.stride[1] = 1;
      to.stride[0] = length + 1;
      from.stride[1] = seed / 8 % 2 == 0 ? 2 : 0;
      from.stride[0] = 2 * length;
      check_views (&to, &from, rand, seed % 8);
    }
}
END_TEST

/* Returns a shape whose extents are random products of these factors. */
static CleaveShape
draw_dims (const gint64 *factors, guint n_factors, GRand *rand)
{
  CleaveShape shape = { (guint) g_rand_int_range (rand, 1, 6), { 0 } };

  for (guint d = 0; d < shape.rank; d++)
    shape.dim[d] = 1;
  for (guint i = 0; i < n_factors; i++)
    shape.dim[g_rand_int_range (rand, 0, (gint32) shape.rank)] *= factors[i];
  return shape;
}

/* Copies element by element. Element i of one view, in row-major order, is element i of the other
 * view. */
static void
copy_reshaped_simply (const CleaveView *to, const CleaveView *from)
{
  g_autofree guint8 *flat = g_malloc0 ((gsize) MAX (cleave_tensor_type_n_bytes (&to->type), 1));
  CleaveView between = cleave_view_dense (&from->type, flat);

  copy_simply (&between, from);
  between = cleave_view_dense (&to->type, flat);
  copy_simply (to, &between);
}

START_TEST (shapes_with_as_many_elements_are_copied_in_row_major_order)
{
  static const gint64 factors[] = { 2, 3, 2, 5, 3, 4 };

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (2000); seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      guint n_factors = (guint) g_rand_int_range (rand, 1, 7);
      CleaveElement element = elements[seed % 4];
      CleaveView to = { .type = { element, draw_dims (factors, n_factors, rand) } };
      CleaveView from = { .type = { element, draw_dims (factors, n_factors, rand) } };
      gint64 size = (gint64) cleave_element_size (element);
      gint64 n_from = lay_out (&from, rand, seed % 3 == 0) * size;
      gint64 n_to = lay_out (&to, rand, seed % 3 == 1) * size;
      g_autofree guint8 *source = g_malloc ((gsize) n_from);
      g_autofree guint8 *target = g_malloc0 ((gsize) n_to);
      g_autofree guint8 *want = g_malloc0 ((gsize) n_to);

      fill (source, n_from, rand);
      from.data = source;
      to.data = want;
      copy_reshaped_simply (&to, &from);
      to.data = target;
      cleave_view_copy_reshaped (&to, &from);
      ck_assert_msg (memcmp (target, want, (gsize) n_to) == 0, "seed %u", seed);
    }
}
END_TEST

/* The copies are large enough for non-temporal stores. */
START_TEST (large_copies_are_complete)
{
  static const gint64 shapes[][3] = { { 1100, 1024, 1 }, { 3, 700, 520 }, { 256, 65, 80 } };

  for (guint32 seed = 0; seed < 12; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTensorType type = { CLEAVE_INT32, { 3, { 0 } } };

      memcpy (type.shape.dim, shapes[seed % 3], sizeof shapes[0]);
      check_copy (&type, rand, FALSE, seed % 2 * 4);
    }
}
END_TEST

START_TEST (one_element_fills_a_view)
{
  guint32 element = 0x7fc01234, data[7 * 9];
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 7, 9);
  CleaveView to = cleave_view_dense (&type, data);
  CleaveView from = { .data = &element, .type = type };

  memset (data, 0, sizeof data);
  cleave_view_copy (&to, &from);
  for (guint i = 0; i < G_N_ELEMENTS (data); i++)
    ck_assert_uint_eq (data[i], element);
}
END_TEST

START_TEST (negative_strides_are_copied)
{
  gint16 data[5] = { 1, 2, 3, 4, 5 }, back[5];
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT16, 5);
  CleaveView to = cleave_view_dense (&type, back), from = cleave_view_dense (&type, &data[4]);

  from.stride[0] = -1;
  cleave_view_copy (&to, &from);
  for (guint i = 0; i < 5; i++)
    ck_assert_int_eq (back[i], 5 - (gint) i);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "copies", a_copy_moves_every_element_and_no_other, tiles_and_remainders_are_transposed,
      short_rows_and_few_channels_are_copied, strided_lines_are_copied,
      a_few_long_lines_are_interleaved, shapes_with_as_many_elements_are_copied_in_row_major_order,
      large_copies_are_complete, one_element_fills_a_view, negative_strides_are_copied, NULL);
}

CLEAVE_TEST_SUITE ("copy", add_tests)
