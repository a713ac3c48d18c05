/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The store of packed weights. A base is the constant that was packed. */

#include "../../lib/runtime/packed-weights.h"

#include <string.h>

#include "test.h"

/* Packs weights by a copy. Adds 1 to the guint `data`, so that the test sees how often the function
 * was called. */
static void
pack (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  guint *n_calls = (guint *) data;

  (*n_calls)++;
  memcpy (to, cleave_tensor_get_data (base), 8);
}

START_TEST (a_base_is_packed_once_for_each_key)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);
  g_autoptr (CleaveTensor) a = cleave_random_tensor (&type, 1, FALSE);
  g_autoptr (CleaveTensor) b = cleave_random_tensor (&type, 2, FALSE);
  CleaveWeights *weights = cleave_weights_new (NULL);
  guint n_calls = 0;
  gconstpointer first = cleave_weights_get (weights, a, "x", 8, pack, &n_calls);

  ck_assert_mem_eq (first, cleave_tensor_get_data (a), 8);
  ck_assert_ptr_eq (cleave_weights_get (weights, a, "x", 8, pack, &n_calls), first);
  ck_assert_uint_eq (n_calls, 1);
  ck_assert_ptr_ne (cleave_weights_get (weights, a, "y", 8, pack, &n_calls), first);
  ck_assert_mem_eq (cleave_weights_get (weights, b, "x", 8, pack, &n_calls),
                    cleave_tensor_get_data (b), 8);
  ck_assert_uint_eq (n_calls, 3);
  ck_assert_int_eq (cleave_weights_get_n_bytes (weights), 24);
  cleave_weights_free (weights);
}
END_TEST

START_TEST (a_packed_base_lives_until_it_is_released)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);
  CleaveTensor *a = cleave_random_tensor (&type, 1, FALSE);
  CleaveWeights *weights = cleave_weights_new (NULL);
  guint n_calls = 0;

  cleave_weights_get (weights, a, "x", 8, pack, &n_calls);
  cleave_tensor_unref (a);
  /* The new tensor cannot have the address of the old one, since the store still has a reference to
   * the old one. */
  a = cleave_random_tensor (&type, 2, FALSE);
  ck_assert_mem_eq (cleave_weights_get (weights, a, "x", 8, pack, &n_calls),
                    cleave_tensor_get_data (a), 8);
  ck_assert_uint_eq (n_calls, 2);
  cleave_tensor_unref (a);
  cleave_weights_free (weights);
}
END_TEST

START_TEST (packed_bytes_outlive_a_released_base)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);
  CleaveTensor *a = cleave_random_tensor (&type, 1, FALSE);
  g_autoptr (CleaveTensor) b = cleave_random_tensor (&type, 1, FALSE);
  CleaveWeights *weights = cleave_weights_new (NULL);
  guint n_calls = 0;
  gconstpointer packed = cleave_weights_get (weights, a, "x", 8, pack, &n_calls);

  cleave_weights_let_go (weights, a);
  cleave_weights_let_go (weights, b); /* does nothing: no packed weights belong to `b` */
  cleave_tensor_unref (a);
  ck_assert_mem_eq (packed, cleave_tensor_get_data (b), 8);
  cleave_weights_free (weights);
}
END_TEST

START_TEST (a_program_that_never_runs_packs_nothing)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);
  g_autoptr (CleaveTensor) a = cleave_random_tensor (&type, 1, FALSE);
  CleaveWeights *weights = cleave_weights_new_unpacked ();
  guint n_calls = 0;

  ck_assert_ptr_nonnull (cleave_weights_get (weights, a, "x", 8, pack, &n_calls));
  ck_assert_uint_eq (n_calls, 0);
  ck_assert_mem_eq (cleave_weights_ask (weights, a, "question", 8, pack, &n_calls),
                    cleave_tensor_get_data (a), 8);
  ck_assert_uint_eq (n_calls, 1);
  cleave_weights_free (weights);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "weights", a_base_is_packed_once_for_each_key,
                   a_packed_base_lives_until_it_is_released, packed_bytes_outlive_a_released_base,
                   a_program_that_never_runs_packs_nothing, NULL);
}

CLEAVE_TEST_SUITE ("weights", add_tests)
