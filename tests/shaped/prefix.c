/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests graphs of one model for two sizes of its inputs. The library decides whether the smaller
 * graph computes the first elements of the larger graph's outputs. If the answer is yes, the test
 * compares the bits of these elements. The padding of the inputs may have any values. */

#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"

#include <string.h>

#include "../../lib/shaped/prefix.h"

static CleaveGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  cleave_assert_no_error (error);
  return graph;
}

static CleaveTensor *
first_of (CleaveTensor *tensor, const CleaveShape *shape)
{
  CleaveRange range = { .rank = shape->rank };

  for (guint d = 0; d < shape->rank; d++)
    range.dim[d].end = shape->dim[d];
  return cleave_tensor_new_slice (tensor, &range);
}

/* Runs both graphs on inputs that differ in the padding alone, and compares the outputs. */
static void
assert_same_first (const CleaveGraph *part, const CleaveGraph *whole, guint32 seed)
{
  g_autoptr (GPtrArray) large = run_random_inputs (whole, seed);
  g_autoptr (GPtrArray) small =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) want = NULL, got = NULL;

  for (guint i = 0; i < large->len; i++)
    {
      g_autoptr (CleaveTensor) first = first_of (
          large->pdata[i], &cleave_result_get_type (cleave_graph_get_input (part, i))->shape);

      g_ptr_array_add (small, cleave_tensor_dup_dense (first));
    }
  want = run_graph (part, small, 1 + seed % 3);
  got = run_graph (whole, large, 1 + seed % 2);
  for (guint i = 0; i < want->len; i++)
    {
      g_autoptr (CleaveTensor) first =
          first_of (got->pdata[i], &cleave_tensor_get_type (want->pdata[i])->shape);

      if (!cleave_tensor_equal (want->pdata[i], first))
        ck_abort_msg ("seed %u: output %u differs", seed, i);
    }
}

/* Parses the graph of one of the sizes: replaces "[n]" in the text by the extent. */
static CleaveGraph *
parse_sized (const char *text, const char *extent)
{
  g_autoptr (GString) sized = g_string_new (text);

  g_string_replace (sized, "[n]", extent, 0);
  return parse (sized->str);
}

static const struct
{
  const char *what;
  gboolean fits;
  const char *text;
} cases[] = {
  { "rows of a product", TRUE,
    "%x = Input : float32 [n]x8\n%w = Constant seed=1 : float32 8x4\n%m = MatMul %x, %w\n"
    "%y = Relu %m\noutput %y\n" },
  { "pictures of a batch", TRUE,
    "%x = Input : float32 [n]x3x8x8\n%w = Constant seed=1 : float32 4x3x3x3\n"
    "%c = Conv %x, %w pads=1,1,1,1\n%g = GlobalAveragePool %c\n%f = Flatten %g\n"
    "%y = Softmax %f\noutput %y\n" },
  { "tokens through a normalization", TRUE,
    "%x = Input : float32 1x[n]x8\n%s = Constant seed=1 : float32 8\n"
    "%y = LayerNormalization %x, %s\noutput %y\n" },
  { "scores of all pairs of tokens", TRUE,
    "%x = Input : float32 [n]x8\n%t = Transpose %x perm=1,0\n%y = MatMul %x, %t\noutput %y\n" },
  { "a softmax over tokens", FALSE,
    "%x = Input : float32 [n]x8\n%t = Transpose %x perm=1,0\n%m = MatMul %x, %t\n"
    "%y = Softmax %m axis=-1\noutput %y\n" },
  { "a mean over tokens", FALSE,
    "%x = Input : float32 [n]x8\n%y = ReduceMean %x axes=0\noutput %y\n" },
  { "rows of padded pictures", FALSE,
    "%x = Input : float32 1x3x[n]x8\n%w = Constant seed=1 : float32 4x3x3x3\n"
    "%y = Conv %x, %w pads=1,1,1,1\noutput %y\n" },
  { "the fifth row", FALSE, "%x = Input : float32 [n]x8\n%y = Slice %x 4:5,0:8\noutput %y\n" },
  { "two halves of the columns", TRUE,
    "%x = Input : float32 [n]x8\n%a, %b = Split %x axis=1\n%y = Concat %b, %a axis=1\n"
    "output %y\n" },
  { "a constant as large as the input", FALSE,
    "%x = Input : float32 [n]x8\n%c = Constant seed=[n] : float32 [n]x8\n%y = Add %x, %c\n"
    "output %y\n" },
};

START_TEST (a_part_of_a_graph_is_found)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) part = parse_sized (cases[i].text, "5"),
                              whole = parse_sized (cases[i].text, "9");
      g_autoptr (GString) why = g_string_new (NULL);
      gboolean fits = cleave_graph_is_prefix (part, whole, why);

      if (fits != cases[i].fits)
        ck_abort_msg ("%s: expected %d. %s", cases[i].what, cases[i].fits, why->str);
      ck_assert (fits == (why->len == 0));
      ck_assert (!cleave_graph_is_prefix (whole, part, NULL));
      if (fits)
        assert_same_first (part, whole, i);
    }
}
END_TEST

START_TEST (the_reason_names_the_node)
{
  g_autoptr (CleaveGraph) part = parse_sized (cases[5].text, "5"),
                          whole = parse_sized (cases[5].text, "9");
  g_autoptr (GString) why = g_string_new (NULL);

  ck_assert (!cleave_graph_is_prefix (part, whole, why));
  ck_assert_ptr_nonnull (strstr (why->str, "ReduceMean 'y'"));
}
END_TEST

/* Returns `text`, the text of a graph, with larger inputs. If dimension d of an input has the
 * extent `extent`, the extent grows by `more`. */
static char *
enlarge (const char *text, guint d, gint64 extent, gint64 more)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *type = strstr (lines[i], " = Input : float32 ");
      g_auto (GStrv) extents = NULL;
      g_autofree char *joined = NULL, *head = NULL;

      if (type == NULL)
        continue;
      type += strlen (" = Input : float32 ");
      extents = g_strsplit (type, "x", -1);
      if (g_strv_length (extents) <= d || g_ascii_strtoll (extents[d], NULL, 10) != extent)
        continue;
      g_free (extents[d]);
      extents[d] = g_strdup_printf ("%" G_GINT64_FORMAT, extent + more);
      joined = g_strjoinv ("x", extents);
      head = g_strndup (lines[i], (gsize) (type - lines[i]));
      g_free (lines[i]);
      lines[i] = g_strconcat (head, joined, NULL);
    }
  return g_strjoinv ("\n", lines);
}

/* Enlarges a dimension of the first input of the graph `part`. Returns 1 if
 * cleave_graph_is_prefix() says that `part` computes the first elements of the larger graph's
 * values, 0 if not, and -1 if the larger graph is not valid. If it returns 1, asserts that these
 * elements have the same bits. */
static int
try_larger (const CleaveGraph *part, guint32 seed)
{
  const CleaveShape *shape = &cleave_result_get_type (cleave_graph_get_input (part, 0))->shape;
  guint d = seed % MAX (shape->rank, 1);
  g_autofree char *text = cleave_graph_to_text (part, NULL, NULL);
  g_autofree char *larger = enlarge (text, d, shape->dim[d], 1 + seed % 5);
  g_autoptr (CleaveGraph) same = cleave_graph_parse (text, NULL, NULL);
  g_autoptr (CleaveGraph) whole = cleave_graph_parse (larger, NULL, NULL);

  if (shape->rank == 0 || same == NULL || whole == NULL)
    return -1;
  if (!cleave_graph_is_prefix (same, whole, NULL))
    return 0;
  assert_same_first (same, whole, seed);
  return 1;
}

START_TEST (parts_of_random_graphs_have_the_same_bits)
{
  guint n[3] = { 0 };

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (600); seed++)
    {
      g_autoptr (CleaveGraph) graph = seed % 2 == 0 ? random_graph (seed, 2 + seed % 9)
                                                    : cleave_random_graph (seed, 2 + seed % 7);

      n[1 + try_larger (graph, seed / 2)]++;
    }
  cleave_assert (n[2] > CLEAVE_TRIALS (600) / 20);
  cleave_assert (n[1] > CLEAVE_TRIALS (600) / 20);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "prefix", a_part_of_a_graph_is_found, the_reason_names_the_node,
                   parts_of_random_graphs_have_the_same_bits, NULL);
}

CLEAVE_TEST_SUITE ("prefix", add_tests)
