/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Functions that read an op's table of attributes. The test has an op of its own, with every kind
 * of attribute. */

#include "test.h"

#include "../../lib/ir/op.h"

typedef struct
{
  gint64 group, axis;
  gboolean flag;
  int mode;
  double alpha;
  CleaveInts strides, axes;
  CleaveDoubles scales;
  GArray *sizes, *ranges;
  CleaveElement to;
  CleaveTensor *value;
} Attrs;

static const char *const modes[] = { "constant", "reflect", NULL };
static const char *const names[] = { "X", NULL };

static const CleaveAttr table[] = {
  { "group", CLEAVE_ATTR_INT, CLEAVE_FIELD (Attrs, group), .fallback = 1, .has_minimum = TRUE,
    .minimum = 1 },
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (Attrs, axis), .fallback = 0, .flags = CLEAVE_ATTR_AXIS },
  { "flag", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (Attrs, flag), .fallback = 1 },
  { "mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (Attrs, mode), .names = modes },
  { "alpha", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (Attrs, alpha), .fallback = 0.5 },
  { "strides", CLEAVE_ATTR_INTS, CLEAVE_FIELD (Attrs, strides), .fallback = 1, .has_minimum = TRUE,
    .minimum = 1 },
  { "axes", CLEAVE_ATTR_INTS, CLEAVE_FIELD (Attrs, axes), .flags = CLEAVE_ATTR_AXIS },
  { "scales", CLEAVE_ATTR_DOUBLES, CLEAVE_FIELD (Attrs, scales) },
  { "sizes", CLEAVE_ATTR_ARRAY, CLEAVE_FIELD (Attrs, sizes), .has_minimum = TRUE },
  { "ranges", CLEAVE_ATTR_RANGES, CLEAVE_FIELD (Attrs, ranges) },
  { "to", CLEAVE_ATTR_ELEMENT, CLEAVE_FIELD (Attrs, to) },
  { "value", CLEAVE_ATTR_TENSOR, CLEAVE_FIELD (Attrs, value) },
  { 0 },
};

static const CleaveOp op = {
  .name = "Test",
  .operands = names,
  .results = names,
  .attrs_size = sizeof (Attrs),
  .attrs = table,
};

static const CleaveTensorType operand = { CLEAVE_FLOAT32, { 3, { 2, 3, 4 } } };
static const CleaveCall call = { .op = &op, .n_operands = 1, .n_results = 1, .operands = &operand };

static Attrs *
defaults (void)
{
  Attrs *attrs = cleave_attrs_copy (&op, NULL);

  attrs->to = CLEAVE_INT8;
  return attrs;
}

static Attrs *
everything (void)
{
  const gint64 sizes[] = { 2, 0 };
  CleaveRange range = CLEAVE_RANGE (0, 1, 2, 3);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_UINT8, 2);
  Attrs *attrs = defaults ();

  attrs->group = 2;
  attrs->axis = -1;
  attrs->flag = 0;
  attrs->mode = 1;
  attrs->alpha = -0.25;
  attrs->strides = CLEAVE_INTS (2, 1);
  attrs->axes = CLEAVE_INTS (-1, 0);
  attrs->scales = CLEAVE_DOUBLES (1, 2.5);
  attrs->sizes = g_array_append_vals (g_array_new (FALSE, FALSE, sizeof (gint64)), sizes, 2);
  attrs->ranges = g_array_append_vals (g_array_new (FALSE, FALSE, sizeof (CleaveRange)), &range, 1);
  attrs->value = cleave_tensor_new (&type, NULL);
  return attrs;
}

static void
assert_print (gconstpointer attrs, const char *want)
{
  g_autoptr (GString) out = g_string_new (NULL);

  cleave_attrs_print (&op, attrs, out);
  ck_assert_str_eq (out->str, want);
}

START_TEST (defaults_are_not_printed)
{
  Attrs *attrs = defaults ();

  assert_print (attrs, " to=int8");
  cleave_attrs_free (&op, attrs);
}
END_TEST

START_TEST (every_kind_is_normalized_and_printed)
{
  Attrs *attrs = everything ();
  g_autoptr (GError) error = NULL;

  cleave_attrs_normalize (&call, attrs, &error);
  cleave_assert_no_error (error);
  assert_print (
      attrs,
      " group=2 axis=2 flag=0 mode=reflect alpha=-0.25 strides=2,1 axes=2,0 scales=1,2.5 sizes=2,0"
      " ranges=0:1,2:3 to=int8 value=[uint8 2=0]");
  cleave_attrs_free (&op, attrs);
}
END_TEST

START_TEST (zero_and_lists_of_defaults_mean_the_default)
{
  Attrs *attrs = defaults ();

  attrs->group = 0;
  attrs->strides = CLEAVE_INTS (1, 1, 1);
  ck_assert (cleave_attrs_normalize (&call, attrs, NULL));
  assert_print (attrs, " to=int8");
  cleave_attrs_free (&op, attrs);
}
END_TEST

START_TEST (a_copy_is_equal_and_hashes_alike)
{
  Attrs *attrs = everything ();
  Attrs *copy = cleave_attrs_copy (&op, attrs);

  ck_assert (cleave_attrs_equal (&op, attrs, copy));
  ck_assert_uint_eq (cleave_attrs_hash (&op, attrs), cleave_attrs_hash (&op, copy));
  cleave_attrs_free (&op, copy);
  cleave_attrs_free (&op, attrs);
}
END_TEST

/* The hash of a slice of a tensor depends on the elements of the slice alone. If the hash did not
 * depend on these elements, all columns of a matrix would have one hash and be compared with each
 * other. */
START_TEST (parts_of_a_tensor_hash_by_their_elements)
{
  const CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 8, 4);
  const CleaveRange left = { 2, { { 0, 8 }, { 0, 2 } } }, right = { 2, { { 0, 8 }, { 2, 4 } } };
  g_autoptr (CleaveTensor) whole = cleave_tensor_new (&type, NULL);
  g_autoptr (CleaveTensor) a = cleave_tensor_new_slice (whole, &left);
  g_autoptr (CleaveTensor) b = cleave_tensor_new_slice (whole, &right);
  g_autoptr (CleaveTensor) dense = NULL;
  Attrs x = { .value = a }, y = { .value = b }, z = { 0 };

  cleave_tensor_fill_random (whole, "x", 1);
  dense = cleave_tensor_dup_dense (a);
  z.value = dense;
  ck_assert (cleave_attrs_equal (&op, &x, &z));
  ck_assert_uint_eq (cleave_attrs_hash (&op, &x), cleave_attrs_hash (&op, &z));
  ck_assert_uint_ne (cleave_attrs_hash (&op, &x), cleave_attrs_hash (&op, &y));
}
END_TEST

/* Equality and the hash depend on each field, and not on padding bytes and unused entries. */
START_TEST (every_field_counts)
{
  Attrs *attrs = everything ();
  Attrs *other = everything ();
  guint hash = cleave_attrs_hash (&op, attrs);

  other->strides.v[5] = 77;
  ck_assert (cleave_attrs_equal (&op, attrs, other));
  ck_assert_uint_eq (cleave_attrs_hash (&op, other), hash);

#define DIFFERS(change, back)                                                                      \
  change;                                                                                          \
  ck_assert_msg (!cleave_attrs_equal (&op, attrs, other), #change);                                \
  ck_assert_msg (cleave_attrs_hash (&op, other) != hash, #change);                                 \
  back;
  DIFFERS (other->group = 3, other->group = 2)
  DIFFERS (other->flag = 1, other->flag = 0)
  DIFFERS (other->mode = 0, other->mode = 1)
  DIFFERS (other->alpha = 0.25, other->alpha = -0.25)
  DIFFERS (other->strides.v[1] = 2, other->strides.v[1] = 1)
  DIFFERS (other->scales.v[1] = 2, other->scales.v[1] = 2.5)
  DIFFERS (g_array_index (other->sizes, gint64, 1) = 1, g_array_index (other->sizes, gint64, 1) = 0)
  DIFFERS (g_array_index (other->ranges, CleaveRange, 0).dim[1].end = 4,
           g_array_index (other->ranges, CleaveRange, 0).dim[1].end = 3)
  DIFFERS (other->to = CLEAVE_INT16, other->to = CLEAVE_INT8)
  DIFFERS (*(guint8 *) cleave_tensor_get_mutable_data (other->value) = 1,
           *(guint8 *) cleave_tensor_get_mutable_data (other->value) = 0)
#undef DIFFERS
  cleave_attrs_free (&op, other);
  cleave_attrs_free (&op, attrs);
}
END_TEST

static void
assert_wrong (Attrs *attrs, const char *message)
{
  g_autoptr (GError) error = NULL;

  ck_assert (!cleave_attrs_normalize (&call, attrs, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_ATTRIBUTE, message);
}

START_TEST (a_value_out_of_range_is_an_error)
{
  Attrs *attrs = everything ();

  attrs->group = -1;
  assert_wrong (attrs, "group must be at least 1, not -1");
  attrs->group = 1;
  attrs->axis = 3;
  assert_wrong (attrs, "axis must be between -3 and 2 for rank 3, not 3");
  attrs->axis = -3;
  attrs->mode = 2;
  assert_wrong (attrs, "mode has no value 2");
  attrs->mode = 0;
  attrs->strides.v[1] = 0;
  assert_wrong (attrs, "strides must be at least 1, not 0");
  attrs->strides.n = 0;
  attrs->axes.v[0] = -4;
  assert_wrong (attrs, "axes must be between -3 and 2 for rank 3, not -4");
  attrs->axes.n = 17;
  assert_wrong (attrs, "axes has 17 entries, more than 16");
  attrs->axes.n = 0;
  g_array_index (attrs->sizes, gint64, 0) = -2;
  assert_wrong (attrs, "sizes must be at least 0, not -2");
  g_array_index (attrs->sizes, gint64, 0) = 2;
  attrs->to = CLEAVE_NONE;
  assert_wrong (attrs, "to has no value 0");
  cleave_attrs_free (&op, attrs);
}
END_TEST

/* The attribute `axes` of a call without operands is checked as if the operand were a scalar. The
 * op may report the missing operand later. */
START_TEST (axes_without_an_operand_are_those_of_a_scalar)
{
  const CleaveCall none = { .op = &op, .n_results = 1 };
  Attrs *attrs = defaults ();
  g_autoptr (GError) error = NULL;

  attrs->axes = CLEAVE_INTS (-1, 0);
  ck_assert (cleave_attrs_normalize (&none, attrs, &error));
  ck_assert_int_eq (attrs->axes.v[0], 0);
  attrs->axes = CLEAVE_INTS (1);
  ck_assert (!cleave_attrs_normalize (&none, attrs, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_ATTRIBUTE,
                       "axes must be between -1 and 0 for rank 0, not 1");
  cleave_attrs_free (&op, attrs);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "attributes", axes_without_an_operand_are_those_of_a_scalar,
                   defaults_are_not_printed, every_kind_is_normalized_and_printed,
                   zero_and_lists_of_defaults_mean_the_default, a_copy_is_equal_and_hashes_alike,
                   parts_of_a_tensor_hash_by_their_elements, every_field_counts,
                   a_value_out_of_range_is_an_error, NULL);
}

CLEAVE_TEST_SUITE ("attrs", add_tests)
