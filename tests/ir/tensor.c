/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tensors: slices that share bytes, comparisons of bits, and elements that are computed when they
 * are read. */

#include "test.h"

#include <math.h>

#include "../../lib/ir/deferred-tensor.h"

static CleaveTensor *
count_to (gint64 rows, gint64 columns)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT32, rows, columns);
  CleaveTensor *tensor = cleave_tensor_new (&type, NULL);

  for (gint64 i = 0; i < rows * columns; i++)
    ((gint32 *) cleave_tensor_get_mutable_data (tensor))[i] = (gint32) i;
  return tensor;
}

START_TEST (a_slice_shares_the_bytes)
{
  g_autoptr (CleaveTensor) whole = count_to (4, 5);
  CleaveRange range = CLEAVE_RANGE (1, 3, 2, 5), inner = CLEAVE_RANGE (1, 2, 0, 2), of_base;
  g_autoptr (CleaveTensor) slice = cleave_tensor_new_slice (whole, &range);
  g_autoptr (CleaveTensor) again = cleave_tensor_new_slice (slice, &inner);
  CleaveRange want = CLEAVE_RANGE (2, 3, 2, 4);

  ck_assert_ptr_eq (cleave_tensor_get_data (slice),
                    (const gint32 *) cleave_tensor_get_data (whole) + 7);
  ck_assert_int_eq (cleave_tensor_get_strides (slice)[0], 5);
  ck_assert (!cleave_tensor_is_dense (slice));
  ck_assert_ptr_eq (cleave_tensor_get_base (again, &of_base), whole);
  ck_assert (cleave_range_equal (&of_base, &want));
  ck_assert_int_eq (*(const gint32 *) cleave_tensor_get_data (again), 12);
}
END_TEST

START_TEST (a_dense_copy_has_the_same_elements)
{
  g_autoptr (CleaveTensor) whole = count_to (4, 5);
  CleaveRange range = CLEAVE_RANGE (1, 3, 2, 5);
  g_autoptr (CleaveTensor) slice = cleave_tensor_new_slice (whole, &range);
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (slice);
  const gint32 want[] = { 7, 8, 9, 12, 13, 14 };

  ck_assert (cleave_tensor_is_dense (dense));
  ck_assert_mem_eq (cleave_tensor_get_data (dense), want, sizeof want);
  ck_assert (cleave_tensor_equal (slice, dense));
}
END_TEST

START_TEST (a_slice_outlives_its_base)
{
  CleaveTensor *whole = count_to (4, 5);
  CleaveRange range = CLEAVE_RANGE (3, 4, 4, 5);
  g_autoptr (CleaveTensor) slice = cleave_tensor_new_slice (whole, &range);

  cleave_tensor_unref (whole);
  ck_assert_int_eq (*(const gint32 *) cleave_tensor_get_data (slice), 19);
}
END_TEST

START_TEST (aligned_bytes_are_shared)
{
  static const gint32 data[] = { 1, 2, 3 };
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, sizeof data);
  g_autoptr (GBytes) odd = g_bytes_new_from_bytes (bytes, 1, 8);
  CleaveTensorType three = CLEAVE_TYPE (CLEAVE_INT32, 3), two = CLEAVE_TYPE (CLEAVE_INT32, 2);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveTensor) shared = cleave_tensor_new_from_bytes (&three, bytes, &error);
  g_autoptr (CleaveTensor) copied = cleave_tensor_new_from_bytes (&two, odd, &error);

  ck_assert_ptr_eq (cleave_tensor_get_data (shared), data);
  ck_assert_ptr_null (cleave_tensor_get_mutable_data (shared));
  ck_assert_mem_eq (cleave_tensor_get_data (copied), (const char *) data + 1, 8);
  ck_assert_ptr_null (cleave_tensor_new_from_bytes (&two, bytes, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_SHAPE, "int32 2 needs 8 bytes, not 12");
}
END_TEST

START_TEST (equality_is_of_bits)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);
  const float a[] = { NAN, 0.0f }, b[] = { NAN, -0.0f };
  g_autoptr (CleaveTensor) x = cleave_tensor_new_copy (&type, a, NULL);
  g_autoptr (CleaveTensor) y = cleave_tensor_new_copy (&type, a, NULL);
  g_autoptr (CleaveTensor) z = cleave_tensor_new_copy (&type, b, NULL);

  ck_assert (cleave_tensor_equal (x, y));
  ck_assert (!cleave_tensor_equal (x, z));
}
END_TEST

/* Returns a tensor of the numbers 0, 1, 2, ..., except that element number `at` is `other`. */
static CleaveTensor *
new_counted (const CleaveTensorType *type, gint64 at, float other)
{
  CleaveTensor *tensor = cleave_tensor_new (type, NULL);
  float *data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < cleave_shape_n_elements (&type->shape); i++)
    data[i] = i == at ? other : (float) i;
  return tensor;
}

/* A comparison of slices depends on every element, and not on bytes between the elements. */
START_TEST (parts_are_compared_without_a_copy)
{
  const CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 3, 5, 2);
  const CleaveRange range = { 4, { { 1, 4 }, { 0, 3 }, { 2, 4 }, { 0, 2 } } };
  g_autoptr (CleaveTensor) whole = new_counted (&type, -1, 0);
  g_autoptr (CleaveTensor) part = cleave_tensor_new_slice (whole, &range);
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (part);

  ck_assert (cleave_tensor_equal (part, dense) && cleave_tensor_equal (dense, part));
  for (gint64 i = 0; i < cleave_shape_n_elements (&type.shape); i++)
    {
      g_autoptr (CleaveTensor) other = new_counted (&type, i, -1);
      g_autoptr (CleaveTensor) same = cleave_tensor_new_slice (other, &range);
      gboolean is_read = i / 30 >= 1 && i / 2 % 5 >= 2 && i / 2 % 5 < 4;

      ck_assert (cleave_tensor_equal (part, same) == !is_read);
      ck_assert (cleave_tensor_equal (same, dense) == !is_read);
      ck_assert (!cleave_tensor_equal (whole, other));
    }
}
END_TEST

/* The bits of NaNs (quiet and signaling, with either sign), and of the values next to NaNs. */
static const struct
{
  CleaveElement element;
  guint64 nans[4], infinity;
} floats[] = {
  { CLEAVE_FLOAT32, { 0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff }, 0x7f800000 },
  { CLEAVE_FLOAT64,
    { 0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001, 0xffffffffffffffff },
    0x7ff0000000000000 },
  { CLEAVE_FLOAT16, { 0x7e00, 0xfe00, 0x7c01, 0xffff }, 0x7c00 },
  { CLEAVE_BFLOAT16, { 0x7fc0, 0xffc0, 0x7f81, 0xffff }, 0x7f80 },
  { CLEAVE_INT16, { 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0 }, 0xffc0 },
};

/* Returns a tensor of 3x2 elements whose first column has these bits. If `apart`, returns a slice
 * of this tensor instead: the first column alone. The elements of the slice are not adjacent in
 * memory. */
static CleaveTensor *
new_tensor (CleaveElement element, guint64 bits, gboolean apart)
{
  gsize size = cleave_element_size (element);
  CleaveTensorType type = CLEAVE_TYPE (element, 3, 2);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);
  CleaveRange column = { 2, { { 0, 3 }, { 0, 1 } } };

  for (gsize i = 0; i < 3; i++)
    memcpy ((char *) cleave_tensor_get_mutable_data (tensor) + 2 * i * size, &bits, size);
  column.dim[1].end = apart ? 1 : 2;
  return cleave_tensor_new_slice (tensor, &column);
}

/* If `equal`, asserts that the tensors are equal, and that their canonical bytes are equal.
 * Otherwise, asserts that the tensors differ, and that their canonical bytes differ. */
static void
assert_equal (CleaveTensor *a, CleaveTensor *b, gboolean equal)
{
  g_autoptr (CleaveTensor) x = cleave_tensor_dup_canonical (a);
  g_autoptr (CleaveTensor) y = cleave_tensor_dup_canonical (b);
  gsize n_bytes = (gsize) cleave_tensor_type_n_bytes (cleave_tensor_get_type (x));

  ck_assert (cleave_tensor_equal (a, b) == equal);
  ck_assert (cleave_tensor_equal (b, a) == equal);
  ck_assert ((memcmp (cleave_tensor_get_data (x), cleave_tensor_get_data (y), n_bytes) == 0) ==
             equal);
}

START_TEST (a_nan_equals_any_nan)
{
  for (guint f = 0; f < G_N_ELEMENTS (floats); f++)
    for (guint i = 0; i < G_N_ELEMENTS (floats[f].nans); i++)
      for (gboolean apart = FALSE; apart <= TRUE; apart++)
        {
          CleaveElement element = floats[f].element;
          guint64 sign = (guint64) 1 << (8 * cleave_element_size (element) - 1);
          g_autoptr (CleaveTensor) a = new_tensor (element, floats[f].nans[0], apart);
          g_autoptr (CleaveTensor) b = new_tensor (element, floats[f].nans[i], apart);
          g_autoptr (CleaveTensor) c = new_tensor (element, floats[f].infinity, apart);
          g_autoptr (CleaveTensor) zero = new_tensor (element, 0, apart);
          g_autoptr (CleaveTensor) minus_zero = new_tensor (element, sign, apart);

          assert_equal (a, b, TRUE);
          assert_equal (a, c, FALSE);
          assert_equal (b, c, FALSE);
          assert_equal (zero, minus_zero, FALSE);
        }
}
END_TEST

/* Copies keep the bits of NaNs. Only comparisons use the canonical bits. */
START_TEST (copies_keep_the_bits_of_a_nan)
{
  for (guint f = 0; f < G_N_ELEMENTS (floats); f++)
    {
      gsize size = cleave_element_size (floats[f].element);
      g_autoptr (CleaveTensor) a = new_tensor (floats[f].element, floats[f].nans[3], TRUE);
      g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (a);
      g_autoptr (CleaveTensor) canonical = cleave_tensor_dup_canonical (a);

      ck_assert (memcmp (cleave_tensor_get_data (a), &floats[f].nans[3], size) == 0);
      ck_assert (memcmp (cleave_tensor_get_data (dense), &floats[f].nans[3], size) == 0);
      ck_assert (memcmp (cleave_tensor_get_data (canonical), &floats[f].nans[0], size) == 0);
    }
}
END_TEST

START_TEST (empty_and_scalar_tensors)
{
  CleaveTensorType empty = CLEAVE_TYPE (CLEAVE_FLOAT64, 3, 0), scalar = CLEAVE_SCALAR (CLEAVE_BOOL);
  g_autoptr (CleaveTensor) none = cleave_tensor_new (&empty, NULL);
  g_autoptr (CleaveTensor) other = cleave_tensor_new (&empty, NULL);
  g_autoptr (CleaveTensor) one = cleave_tensor_new (&scalar, NULL);
  CleaveRange all = { 0 };
  g_autoptr (CleaveTensor) slice = cleave_tensor_new_slice (one, &all);

  ck_assert (cleave_tensor_equal (none, other));
  ck_assert (cleave_tensor_equal (one, slice));
}
END_TEST

/* Counts of the calls of count_up() and of forget(). */
typedef struct
{
  guint n_filled, n_freed;
} Calls;

static void
count_up (gpointer to, gpointer data)
{
  float *y = to;

  ((Calls *) data)->n_filled++;
  for (guint i = 0; i < 6; i++)
    y[i] = (float) i;
}

static void
forget (gpointer data)
{
  ((Calls *) data)->n_freed++;
}

START_TEST (deferred_elements_are_computed_once_and_only_if_they_are_read)
{
  const float want[] = { 3, 4, 5 };
  const CleaveRange second = CLEAVE_RANGE (1, 2, 0, 3);
  Calls calls = { 0 }, unread = { 0 };
  CleaveTensor *tensor = cleave_tensor_new_deferred (&CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 3), count_up,
                                                     &calls, forget, NULL);
  CleaveTensor *other = cleave_tensor_new_deferred (&CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 3), count_up,
                                                    &unread, forget, NULL);
  CleaveTensor *row = cleave_tensor_new_slice (tensor, &second);

  ck_assert (cleave_tensor_is_dense (tensor));
  ck_assert_uint_eq (calls.n_filled, 0);
  cleave_tensor_unref (tensor);
  ck_assert_mem_eq (cleave_tensor_get_data (row), want, sizeof want);
  ck_assert_mem_eq (cleave_tensor_get_data (row), want, sizeof want);
  ck_assert_uint_eq (calls.n_filled, 1);
  ck_assert_uint_eq (calls.n_freed, 1);
  cleave_tensor_unref (row);
  ck_assert_uint_eq (calls.n_freed, 1);
  cleave_tensor_unref (other);
  ck_assert_uint_eq (unread.n_filled, 0);
  ck_assert_uint_eq (unread.n_freed, 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "tensors", a_slice_shares_the_bytes, a_dense_copy_has_the_same_elements,
                   a_slice_outlives_its_base, aligned_bytes_are_shared, equality_is_of_bits,
                   parts_are_compared_without_a_copy, a_nan_equals_any_nan,
                   copies_keep_the_bits_of_a_nan, empty_and_scalar_tensors,
                   deferred_elements_are_computed_once_and_only_if_they_are_read, NULL);
}

CLEAVE_TEST_SUITE ("tensor", add_tests)
