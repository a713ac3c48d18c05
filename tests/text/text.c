/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The format of graphs as text. A graph that is printed and read must be the same graph. */

#include "graphs.h"
#include "random-graph.h"
#include "random-ops.h"
#include "run-help.h"

#include "../../lib/ir/graph-private.h"

#include <glib/gstdio.h>
#include <string.h>

static CleaveGraph *
read_text (const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  ck_assert_msg (graph != NULL, "%s\n%s", error == NULL ? "" : error->message, text);
  return graph;
}

static void
assert_same_node (const CleaveNode *a, const CleaveNode *b, const char *text)
{
  ck_assert_msg (a->op == b->op && a->n_operands == b->n_operands && a->n_results == b->n_results &&
                     g_str_equal (a->name, b->name) &&
                     cleave_attrs_equal (a->op, a->attrs, b->attrs),
                 "%s '%s' is another node\n%s", a->op->name, a->name, text);
  for (guint i = 0; i < a->n_operands; i++)
    {
      const CleaveResult *x = a->operands[i].result, *y = b->operands[i].result;

      ck_assert ((x == NULL) == (y == NULL));
      ck_assert (x == NULL || (x->index == y->index && g_str_equal (x->node->name, y->node->name)));
    }
  for (guint i = 0; i < a->n_results; i++)
    {
      ck_assert_str_eq (a->results[i].name == NULL ? "" : a->results[i].name,
                        b->results[i].name == NULL ? "" : b->results[i].name);
      ck_assert (cleave_tensor_type_equal (&a->results[i].type, &b->results[i].type));
    }
}

static void
assert_same (const CleaveGraph *a, const CleaveGraph *b, const char *text)
{
  g_autoptr (GPtrArray) nodes = cleave_graph_get_order (a, NULL);
  g_autoptr (GPtrArray) others = cleave_graph_get_order (b, NULL);

  ck_assert_str_eq (a->name, b->name);
  ck_assert_uint_eq (nodes->len, others->len);
  for (guint i = 0; i < nodes->len; i++)
    assert_same_node (nodes->pdata[i], others->pdata[i], text);
  ck_assert_uint_eq (a->inputs->len, b->inputs->len);
  for (guint i = 0; i < a->inputs->len; i++)
    ck_assert_str_eq (cleave_graph_get_input (a, i)->node->name,
                      cleave_graph_get_input (b, i)->node->name);
  ck_assert_uint_eq (a->outputs->len, b->outputs->len);
  for (guint i = 0; i < a->outputs->len; i++)
    ck_assert_str_eq (cleave_graph_get_output_name (a, i), cleave_graph_get_output_name (b, i));
}

/* Asserts that reading and printing a graph's text gives the same text. Checks both forms: the
 * short form of cleave_graph_print(), and the full form of cleave_graph_to_text(). Reading the full
 * form must also give the same graph. */
static void
assert_round_trip (const CleaveGraph *graph)
{
  g_autofree char *brief = cleave_graph_print (graph), *full = NULL, *full_again = NULL;
  g_autofree char *brief_again = NULL;
  g_autoptr (CleaveGraph) from_brief = read_text (brief), from_full = NULL;

  brief_again = cleave_graph_print (from_brief);
  ck_assert_str_eq (brief, brief_again);
  full = cleave_graph_to_text (graph, NULL, NULL);
  from_full = read_text (full);
  full_again = cleave_graph_to_text (from_full, NULL, NULL);
  ck_assert_str_eq (full, full_again);
  assert_same (graph, from_full, full);
}

static void
split_all (CleaveGraph *graph, guint32 seed)
{
  static const char *const pipelines[] = { "split{all dims=0 num-chunks=2}",
                                           "split{all dims=-1 num-chunks=3},clean-up" };
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (pipelines[seed % 2], NULL);

  cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL);
}

START_TEST (random_graphs_survive_print_and_parse)
{
  for (guint32 seed = 0; seed < 20; seed++)
    {
      g_autoptr (CleaveGraph) a = random_graph (seed, 15), b = cleave_random_graph (seed, 15);

      assert_round_trip (a);
      assert_round_trip (b);
      split_all (a, seed);
      split_all (b, seed);
      assert_round_trip (a);
      assert_round_trip (b);
    }
}
END_TEST

START_TEST (nodes_of_all_ops_survive_print_and_parse)
{
  for (guint l = 0; cleave_random_op_lists[l] != NULL; l++)
    for (const CleaveRandomOp *op = cleave_random_op_lists[l]; op->op != NULL; op++)
      for (guint32 seed = 0; seed < 4; seed++)
        {
          g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
          g_autoptr (CleaveGraph) graph = cleave_graph_new ("a \"b");
          CleaveNode *node = op->make (graph, rand);

          for (guint r = 0; r < cleave_node_get_n_results (node); r++)
            {
              g_autofree char *name = g_strdup_printf ("y %u, -> \n", r);

              cleave_graph_add_output (graph, name, cleave_node_get_result (node, r), NULL);
              if (r % 2 == 0)
                cleave_result_set_name (cleave_node_get_result (node, r), name);
            }
          assert_round_trip (graph);
        }
}
END_TEST

START_TEST (names_may_be_anything)
{
  static const char *const names[] = { "a b", "a\"b",  "\"",  "a # b", "a -> b", "->", "a,b",
                                       "-",   "{c|d}", "<e>", "f\\",   "a\nb",   "é",  " x ",
                                       "#",   "%1",    "\t",  "\\n",   "a > b",  "> " };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (4));

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      CleaveResult *y = cleave_graph_add_unary (graph, "Relu", names[i], x, NULL, NULL);
      g_autofree char *own = g_strconcat (names[i], "'", NULL);

      ck_assert (cleave_graph_add_output (graph, names[i], y, NULL));
      cleave_result_set_name (y, own);
    }
  assert_round_trip (graph);
}
END_TEST

START_TEST (constants_of_all_types_keep_their_bits)
{
  for (CleaveElement e = CLEAVE_FLOAT32; e < CLEAVE_N_ELEMENTS; e++)
    {
      static const gint64 extents[] = { 0, 1, 5, 4096 };

      for (guint i = 0; i < G_N_ELEMENTS (extents); i++)
        {
          g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
          CleaveTensorType type = CLEAVE_TYPE (e, extents[i]);
          g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, 3, TRUE);
          guint8 *data = cleave_tensor_get_mutable_data (tensor);

          /* The elements have any bits, including NaNs with payloads. */
          for (gint64 k = 0; e != CLEAVE_BOOL && k < cleave_tensor_type_n_bytes (&type); k++)
            data[k] = (guint8) (k % 7 == 0 ? 0xff : (guint) k * 37);
          cleave_graph_add_output (graph, "y", cleave_graph_add_constant (graph, "w", tensor),
                                   NULL);
          assert_round_trip (graph);
        }
    }
}
END_TEST

START_TEST (large_constants_are_in_a_separate_file)
{
  g_autofree char *folder = g_dir_make_tmp (NULL, NULL);
  g_autofree char *path = g_build_filename (folder, "a.cleave", NULL), *text = NULL, *again = NULL;
  g_autofree char *data = g_strconcat (path, ".data", NULL), *file = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g"), read = NULL;
  CleaveResult *a = cleave_test_weights (graph, "a", CLEAVE_SHAPE (30, 10));
  CleaveResult *b = cleave_test_weights (graph, "b", CLEAVE_SHAPE (3));
  g_autoptr (GError) error = NULL;

  cleave_graph_add_output (graph, "a", a, NULL);
  cleave_graph_add_output (graph, "b", b, NULL);
  ck_assert (cleave_graph_save_text (graph, path, NULL));
  ck_assert (g_file_get_contents (path, &file, NULL, NULL));
  ck_assert_ptr_nonnull (strstr (file, "file=a.cleave.data offset=0 : float32 30x10"));
  read = cleave_graph_load_text (path, &error);
  cleave_assert_no_error (error);
  text = cleave_graph_to_text (graph, NULL, NULL);
  again = cleave_graph_to_text (read, NULL, NULL);
  ck_assert_str_eq (text, again);
  g_clear_pointer (&read, cleave_graph_unref);
  g_unlink (data);
  ck_assert_ptr_null (cleave_graph_load_text (path, &error));
  ck_assert_ptr_nonnull (
      strstr (error->message, "there is no regular file 'a.cleave.data' beside the text"));
  g_unlink (path);
  g_rmdir (folder);
}
END_TEST

START_TEST (handwritten_texts_may_be_shorter)
{
  g_autoptr (CleaveGraph) graph = read_text ("# a comment\n"
                                             "graph small\n\n"
                                             "%x = Input : float32 1x4x8x8\n"
                                             "%w = Constant value=0.5 : float32 4x1x3x3\n"
                                             "  %c = Conv %x, %w group=4 pads=1,1,1,1\n"
                                             "%a, %b = Split %c axis=1 split=1,3 # halves\n"
                                             "output %a\r\n"
                                             "output %b # y");

  cleave_assert_dump (graph, "%0 = Input : float32 1x4x8x8  # x\n"
                             "%1 = Constant : float32 4x1x3x3  # w\n"
                             "%2 = Conv %0, %1 group=4 pads=1,1,1,1 : float32 1x4x8x8  # c\n"
                             "%3, %4 = Split %2 axis=1 split=1,3 : float32 1x1x8x8, float32 "
                             "1x3x8x8  # halves\n"
                             "output %3  # halves\n"
                             "output %4  # y\n");
  ck_assert_str_eq (cleave_graph_get_name (graph), "small");
}
END_TEST

/* Compares the printed text with the expected text, letter by letter. Other tests read printed
 * texts, and would not find a wrong text that the reader accepts. */
START_TEST (texts_are_readable)
{
  g_autoptr (CleaveGraph) graph = read_text (
      "%x = Input : float32 2\n%w = Constant value=0.5 : float32 2\n%v = Constant value=1,-0.1 : "
      "float32 2\n%a = LeakyRelu %x alpha=0.100000001\n%b = LeakyRelu %x alpha=0.1\noutput %a");
  g_autofree char *text = cleave_graph_to_text (graph, NULL, NULL);
  const CleaveNode *a = cleave_graph_find_node (graph, "a"),
                   *b = cleave_graph_find_node (graph, "b");

  ck_assert_str_eq (text, "graph graph\n%0 = Input : float32 2  # x\n"
                          "%1 = Constant value=0.5 : float32 2  # w\n"
                          "%2 = Constant value=1,-0.1 : float32 2  # v\n"
                          "%3 = LeakyRelu %0 alpha=0.100000001 : float32 2  # a\n"
                          "%4 = LeakyRelu %0 alpha=0.1 : float32 2  # b\noutput %3  # a\n");
  /* Node a has the float 0.1f as its attribute, as in an ONNX file. The text of this attribute is
   * 0.100000001. Node b has the double 0.1 as its attribute. */
  ck_assert (*(const double *) a->attrs == (double) 0.1f);
  ck_assert (*(const double *) b->attrs == 0.1);
}
END_TEST

#define X "%x = Input : float32 4\n"
#define BAD_FILE(name)                                                                             \
  "column 15: '" name "' must be a plain name (no '/', no '.' at the beginning) of a file "        \
  "beside the text; standard input has no files beside it"

static const struct
{
  const char *text, *message;
} bad[] = {
  { "%x", "column 3: expected '=', not the end of the line" },
  { "x = Input : float32 4", "column 1: expected a value such as %1, not 'x'" },
  { "%x = Input", "column 11: expected ':' and a type" },
  { "%x = Input : float 4", "column 14: 'float' is not an element type" },
  { "%x = Input : float32 4y", "column 22: expected a shape such as 1x3x8x8 or scalar, not '4y'" },
  { "%x = Input : float32 1x1x1x1x1x1x1x1x1", "column 22: a shape has at most 8 dimensions" },
  { "%x = Input : float32 9999999999x9999999999",
    "column 14: float32 9999999999x9999999999 has more bytes than 64 bits can count" },
  { "%x = Inputs : float32 4", "column 6: there is no op 'Inputs'" },
  { "%x = Custom", "column 6: a Custom node cannot be read from a text" },
  { X "%y = Relu %z", "line 2, column 11: there is no value %z before this line" },
  { X "%x = Relu %x", "line 2, column 1: there are two values %x" },
  { X "%y = Relu %x # x", "line 2, column 16: there are two nodes 'x'" },
  { X "%y = Relu %x : float32 5", "line 2, column 14: result 0 is float32 4, not float32 5" },
  { X "%y = Relu %x : float32 4, float32 4", "line 2, column 14: 2 types for 1 results" },
  { X "%y = Relu %x, %x", "line 2, column 6: Relu 'y': takes 1 operands, not 2" },
  { X "%y = Relu %x alpha=1", "line 2, column 14: Relu has no attribute 'alpha'" },
  { X "%y = Elu %x alpha", "line 2, column 13: expected name=value or ':', not 'alpha'" },
  { X "%y = Elu %x alpha=1 alpha=1", "line 2, column 21: alpha is given twice" },
  { X "%y = Elu %x alpha=x", "line 2, column 13: alpha expects a number, not 'x'" },
  { X "%y = Slice %x 0", "line 2, column 15: expected begin:end or begin:end:step of at most 8 "
                         "dimensions, not '0'" },
  { X "%y = Relu %x # \"y", "line 2, column 16: expected a name" },
  { X "%y = Relu %x # y -> a, b",
    "line 2, column 16: expected at most 1 names of values after '->'" },
  { X "output %x # y\noutput %x # y", "line 3, column 13: there are two outputs 'y'" },
  { X "%y = Relu %x # y -> v\n%z = Relu %x # z -> v",
    "line 3, column 16: there are two values 'v'" },
  { "%w = Constant value=1,2 : float32 3",
    "column 15: 2 elements are given, but the tensor has 3" },
  { "%w = Constant value=1,2, : float32 3", "column 15: nothing comes after the last comma" },
  { "%w = Constant value=256 : uint8 3", "column 15: '256' is no uint8" },
  { "%w = Constant value=2 : bool 3", "column 15: '2' is no bool" },
  { "%w = Constant value=1 seed=1 : bool 3",
    "column 15: expected one of value=, seed= and file= with offset=" },
  { "%w = Constant file=a : uint8 3", BAD_FILE ("a") },
  { "%w = Constant file=../a : uint8 3", BAD_FILE ("../a") },
  { "%w = Constant : float32 100000x100000",
    "column 15: constants without a file take more bytes than a text may have" },
  { "\xff", "column 1: the text is not UTF-8" },
};

START_TEST (errors_give_the_position)
{
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      ck_assert_ptr_null (cleave_graph_parse (bad[i].text, NULL, &error));
      ck_assert_str_eq (error->message, bad[i].message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "there-and-back", random_graphs_survive_print_and_parse,
                   nodes_of_all_ops_survive_print_and_parse, names_may_be_anything,
                   constants_of_all_types_keep_their_bits, large_constants_are_in_a_separate_file,
                   NULL);
  cleave_add_case (suite, "by-hand", handwritten_texts_may_be_shorter, texts_are_readable,
                   errors_give_the_position, NULL);
}

CLEAVE_TEST_SUITE ("text", add_tests)
