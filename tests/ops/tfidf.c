/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op TfIdfVectorizer, which counts n-grams of a sequence. */

#include "op-case.h"

static GArray *
array_of (guint n, const gint64 *numbers)
{
  return g_array_append_vals (g_array_new (FALSE, FALSE, sizeof (gint64)), numbers, n);
}

#define ARRAY(...)                                                                                 \
  array_of (sizeof ((gint64[]){ __VA_ARGS__ }) / sizeof (gint64), (gint64[]){ __VA_ARGS__ })

static CleaveResult *
add (CleaveGraph *graph, CleaveTfidfAttrs *attrs, GError **error)
{
  static const gint64 numbers[] = { 1, 1, 3, 2, 1, 1, 1, 1 };
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, 2, 4);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, numbers, NULL);
  CleaveResult *x = cleave_graph_add_constant (graph, "x", tensor);
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("TfIdfVectorizer"), "t", &x, 1, 1, attrs, error);

  g_array_unref (attrs->ngram_counts);
  g_array_unref (attrs->ngram_indexes);
  g_array_unref (attrs->pool_int64s);
  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

/* Returns attributes with four n-grams. Positions in the output: 0 for the n-gram (1), 1 for (2), 3
 * for (1, 3), and 2 for (1, 1). */
static CleaveTfidfAttrs
make (gint64 max_skip)
{
  return (CleaveTfidfAttrs){
    CLEAVE_TFIDF_TF, 1, 2, max_skip, ARRAY (0, 2), ARRAY (0, 1, 3, 2), ARRAY (1, 2, 1, 3, 1, 1)
  };
}

START_TEST (n_grams_are_counted)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveTfidfAttrs a = make (0);
  CleaveResult *y = add (graph, &a, &error);

  cleave_assert_infers (y, &error, "float32 2x4");
  cleave_assert_values (y, "2 1 1 1 4 0 3 0");
  cleave_assert_chunk (y, "1:2,0:4",
                       "1:2,0:4 mode=TF min_gram_length=1 max_gram_length=2 max_skip_count=0 "
                       "ngram_counts=0,2 ngram_indexes=0,1,3,2 pool_int64s=1,2,1,3,1,1");
  a = make (1); /* the attributes with max_skip_count 1: counts the pair (1, 3) also if one element
                 * lies between 1 and 3 */
  cleave_assert_values (add (graph, &a, &error), "2 1 1 2 4 0 5 0");
}
END_TEST

START_TEST (an_inconsistent_pool_is_refused)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveTfidfAttrs a = make (0);

  g_array_set_size (a.ngram_indexes, 3);
  cleave_assert_infers (add (graph, &a, &error), &error,
                        "TfIdfVectorizer 't': ngram_indexes has 3 entries, the pool 4 n-grams");
  a = make (0);
  g_array_index (a.ngram_indexes, gint64, 1) = -1;
  cleave_assert_infers (add (graph, &a, &error), &error,
                        "TfIdfVectorizer 't': entry 1 of ngram_indexes is -1");
  a = make (0);
  g_array_index (a.ngram_counts, gint64, 1) = 3;
  cleave_assert_infers (add (graph, &a, &error), &error,
                        "TfIdfVectorizer 't': entry 1 of ngram_counts: the pool cannot have "
                        "2-grams from 3 to 6");
  a = make (0);
  a.min_gram_length = 3;
  cleave_assert_infers (add (graph, &a, &error), &error,
                        "TfIdfVectorizer 't': max_gram_length 2 is below min_gram_length");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "tfidf", n_grams_are_counted, an_inconsistent_pool_is_refused, NULL);
}

CLEAVE_TEST_SUITE ("tfidf", add_tests)
