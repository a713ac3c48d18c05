/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Drawings of graphs as DOT. Most tests draw toy graphs (toy-ops.h), and find their vertices, edges
 * and clusters in the text. */

#include "build-config.h"
#include "toy-ops.h"

#include <glib/gstdio.h>
#include <graphviz/cgraph.h>

static char *
print (const CleaveGraph *graph, const CleaveDotOptions *options)
{
  g_autoptr (GError) error = NULL;
  char *dot = cleave_dot_print (graph, options, &error);

  cleave_assert_no_error (error);
  return dot;
}

static guint
count (const char *text, const char *what)
{
  guint n = 0;

  for (const char *at = strstr (text, what); at != NULL; at = strstr (at + 1, what))
    n++;
  return n;
}

static const char *const same_operands[] = { "A", "B", NULL };
static const char *const same_results[] = { "Y", NULL };

/* An element-wise op of this test, with one or two operands, such as Add. */
static const CleaveOp same = {
  .name = "Same",
  .operands = same_operands,
  .results = same_results,
  .min_operands = 1,
  .infer = cleave_infer_same,
  .maps = cleave_maps_same,
};

static CleaveResult *
add_same (CleaveGraph *graph, const char *name, CleaveResult *a, CleaveResult *b)
{
  CleaveResult *operands[] = { a, b };
  CleaveNode *node =
      cleave_graph_add (graph, &same, name, operands, b == NULL ? 1 : 2, 1, NULL, NULL);

  ck_assert_ptr_nonnull (node);
  return cleave_node_get_result (node, 0);
}

/* Makes a graph of pieces, like the result of a split. Two nodes have two pieces each, for rows 0:2
 * and 2:4 of a matrix. One operand is constant. */
static CleaveGraph *
split_graph (void)
{
  CleaveGraph *graph = cleave_graph_new ("two pieces");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 3), row = CLEAVE_TYPE (CLEAVE_FLOAT32, 3);
  CleaveRange ranges[2] = { CLEAVE_RANGE (0, 2, 0, 3), CLEAVE_RANGE (2, 4, 0, 3) };
  g_autoptr (CleaveTensor) value = cleave_random_tensor (&row, 1, FALSE);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
  CleaveResult *b = cleave_graph_add_constant (graph, "bias", value);
  CleaveResult *parts[2], *y;

  for (guint i = 0; i < 2; i++)
    {
      CleaveResult *slice = cleave_graph_add_slice_range (graph, "slice", x, &ranges[i], NULL);
      parts[i] = add_same (graph, "relu", add_same (graph, "add", slice, b), NULL);
    }
  y = cleave_graph_add_assemble (graph, "all", parts, ranges, 2, NULL);
  ck_assert (cleave_graph_add_output (graph, "y", y, NULL));
  return graph;
}

START_TEST (names_are_read_back)
{
  static const char *const names[] = {
    "a\"b",   "{c|d}", "<e>",      "f\\",          "g\nh",     "i\\nj",     "k\\\\", "l\\\"m",
    "plain",  "node",  "n\\\no",   "<b>x</b>",     "é",        "3x",        "<\\",   "&amp;",
    "tab\tx", "\\N",   "a b\\",    "digraph",      "output x", "cluster_0", "->",    "x:y:n",
    "//",     "p\\q",  "#r",       "a,b",          "[z]",      "/* */",     ";",     "-1.5",
    "\"",     "<",     "> \\ <\\", "strict graph", "%x",       "%3",
  };
  g_autoptr (CleaveGraph) graph = toy_graph ("i x");
  g_autofree char *dot = NULL;
  CleaveResult *last = toy_find (graph, "x");
  Agraph_t *read;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    last = cleave_node_get_result (
        cleave_graph_add (graph, &toy_work, names[i], &last, 1, 1, NULL, NULL), 0);
  ck_assert (cleave_graph_add_output (graph, "x", last, NULL));
  dot = print (graph, NULL);
  read = agmemread (dot);
  ck_assert_ptr_nonnull (read);
  ck_assert_int_eq (agnnodes (read), G_N_ELEMENTS (names) + 2);
  ck_assert_int_eq (agnedges (read), G_N_ELEMENTS (names) + 1);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      gboolean is_lost = agnode (read, (char *) names[i], FALSE) == NULL;
      gboolean cannot_be = strchr ("<>%", *names[i]) != NULL && strpbrk (names[i], "\\%") != NULL;

      ck_assert_msg (is_lost == cannot_be, "node %u", i);
    }
  /* DOT cannot represent names such as "%x". In these names, the writer replaces characters by
   * references such as &#37;. */
  ck_assert_ptr_nonnull (agnode (read, (char *) "&#37;x", FALSE));
  ck_assert_ptr_nonnull (agnode (read, (char *) "<&#92;", FALSE));
  agclose (read);
}
END_TEST

/* A node of rank 0 computes a value. Rank 0 sends the value once, although two nodes of rank 1 read
 * the value. Rank 1 computes the output and sends it to rank 0. */
START_TEST (ranks_are_framed_and_messages_dashed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (
      "graph g\n%x = Input : float32 4x3\n%a = Relu %x\n%b = Neg %a\n%c = Abs %a\n"
      "%d = Add %b, %c\noutput %d\n",
      NULL, NULL);
  const int ranks[] = { 0, 0, 1, 1, 1 };
  CleaveDotOptions options = { .ranks = ranks, .n_ranks = 5 };
  g_autofree char *dot = print (graph, &options);
  Agraph_t *read = agmemread (dot), *first, *second;

  ck_assert_int_eq (agnsubg (read), 2);
  first = agsubg (read, (char *) "cluster_rank_0", FALSE);
  second = agsubg (read, (char *) "cluster_rank_1", FALSE);
  ck_assert_int_eq (agnnodes (first), 3);
  ck_assert_int_eq (agnnodes (second), 3);
  ck_assert_ptr_nonnull (agnode (first, (char *) "output d", FALSE));
  ck_assert_ptr_nonnull (agnode (second, (char *) "b", FALSE));
  ck_assert_uint_eq (count (dot, "style=dashed"), 3);
  ck_assert_uint_eq (count (dot, "xlabel=\"48 bytes\""), 2);
  agclose (read);
}
END_TEST

START_TEST (the_same_graph_gives_the_same_text)
{
  g_autoptr (CleaveGraph) graph = split_graph ();
  g_autoptr (CleaveGraph) again = split_graph ();
  g_autofree char *one = print (graph, NULL), *two = print (again, NULL),
                  *three = print (graph, NULL);

  ck_assert_str_eq (one, two);
  ck_assert_str_eq (one, three);
}
END_TEST

START_TEST (parallel_subgraphs_are_clusters)
{
  g_autoptr (CleaveGraph) graph = split_graph ();
  g_autoptr (CleaveGraph) chain = toy_graph ("i x; w a x; w b a; o b");
  CleaveDotOptions options = { .no_clusters = TRUE };
  g_autofree char *dot = print (graph, NULL), *without = print (graph, &options),
                  *line = print (chain, NULL);
  Agraph_t *read = agmemread (dot);

  ck_assert_int_eq (agnsubg (read), 2);
  for (Agraph_t *sub = agfstsubg (read); sub != NULL; sub = agnxtsubg (sub))
    {
      ck_assert_int_eq (agnnodes (sub), 3);
      ck_assert_ptr_null (agnode (sub, (char *) "all", FALSE));
    }
  ck_assert (strstr (dot, "subgraph 0") < strstr (dot, "subgraph 1"));
  agclose (read);
  ck_assert_uint_eq (count (without, "subgraph"), 0);
  ck_assert_uint_eq (count (line, "subgraph"), 0);
}
END_TEST

START_TEST (constants_are_folded_unless_shown)
{
  g_autoptr (CleaveGraph) graph = split_graph ();
  CleaveDotOptions options = { .show_constants = TRUE };
  g_autofree char *folded = print (graph, NULL), *shown = print (graph, &options);

  ck_assert_uint_eq (count (folded, "bias"), 0);
  ck_assert_uint_eq (count (folded, ">B: float32 3<"), 2);
  ck_assert_uint_eq (count (shown, ">B: float32 3<"), 0);
  ck_assert_uint_eq (count (shown, "bias -> add"), 2);
  ck_assert_uint_eq (count (shown, "color=blue"), 1);
}
END_TEST

/* In a dense block, every value is an operand of every later join. A join is drawn with two edges
 * and the names of its other operands. */
START_TEST (operands_of_large_joins_are_named_instead_of_drawn_as_edges)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("dense");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 3);
  CleaveResult *parts[8];
  g_autofree char *dot = NULL;

  parts[0] = add_same (graph, "first", cleave_graph_add_input (graph, "x", &type, NULL), NULL);
  for (guint i = 1; i < 8; i++)
    parts[i] = add_same (graph, "layer", parts[i - 1], NULL);
  for (guint n = 6; n <= 8; n++)
    {
      g_autofree char *name = g_strdup_printf ("join%u", n);

      cleave_graph_add_output (graph, name,
                               cleave_graph_add_concat (graph, name, parts, n, 0, NULL), NULL);
    }
  dot = print (graph, NULL);
  ck_assert_uint_eq (count (dot, ">and first<"), 2);
  ck_assert_uint_eq (count (dot, ">and 2 more<"), 1);
  ck_assert_uint_eq (count (dot, ">and 3 more<"), 1);
}
END_TEST

START_TEST (pieces_show_their_range)
{
  g_autoptr (CleaveGraph) graph = split_graph ();
  g_autofree char *dot = print (graph, NULL);

  ck_assert_uint_eq (count (dot, ">dim 0 0:2<"), 2);
  ck_assert_uint_eq (count (dot, ">dim 0 2:4<"), 2);
}
END_TEST

/* A range in the options replaces the range that the drawing finds for a node. Element-wise nodes
 * before that node get the new range, too. */
START_TEST (ranges_may_come_from_the_options)
{
  g_autoptr (CleaveGraph) graph = split_graph ();
  CleaveDotPiece piece = { cleave_graph_find_node (graph, "relu"),
                           CLEAVE_RANGE (6, 8, 1, 4),
                           { 0 } };
  CleaveDotOptions options = { .pieces = &piece, .n_pieces = 1 };
  g_autofree char *dot = print (graph, &options);

  ck_assert_uint_eq (count (dot, ">dim 0 0:2<"), 0);
  ck_assert_uint_eq (count (dot, ">dim 0 6:8, dim 1 1:4<"), 2);
  ck_assert_uint_eq (count (dot, ">dim 0 2:4<"), 2);
}
END_TEST

/* If halo rows are joined to a piece, the drawing still shows the range of the piece without the
 * halo rows. */
START_TEST (halo_rows_do_not_change_the_range_of_a_piece)
{
  g_autoptr (CleaveGraph) graph = split_graph ();
  CleaveResult *add = toy_find (graph, "add_1");
  CleaveRange row = CLEAVE_RANGE (0, 1, 0, 3), ranges[2] = { row, CLEAVE_RANGE (1, 3, 0, 3) };
  CleaveResult *halo =
      cleave_graph_add_slice_range (graph, "halo", toy_find (graph, "add"), &row, NULL);
  CleaveResult *parts[2] = { halo, add };
  CleaveResult *all = cleave_graph_add_assemble (graph, "seam", parts, ranges, 2, NULL);
  g_autofree char *dot = NULL;

  ck_assert (cleave_graph_add_output (graph, "z", all, NULL));
  dot = print (graph, NULL);
  ck_assert_uint_eq (count (dot, ">dim 0 2:4<"), 2);
  ck_assert_uint_eq (count (dot, ">dim 0 1:3<"), 0);
}
END_TEST

START_TEST (ports_have_the_names_of_onnx)
{
  g_autoptr (CleaveGraph) graph = split_graph ();
  g_autofree char *dot = print (graph, NULL);

  ck_assert_uint_eq (count (dot, "x -> slice;"), 1);
  ck_assert_uint_eq (count (dot, "relu:Y:s -> all;"), 1);
  ck_assert_uint_eq (count (dot, "relu_1:Y:s -> all;"), 1);
}
END_TEST

START_TEST (an_empty_graph_is_drawn)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("<&\\>");
  g_autofree char *dot = print (graph, NULL);
  Agraph_t *read = agmemread (dot);

  ck_assert_int_eq (agnnodes (read), 0);
  agclose (read);
}
END_TEST

START_TEST (a_cycle_is_an_error)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x; w a x; w b a; o b");
  g_autoptr (GError) error = NULL;

  cleave_operand_set (cleave_node_get_operand (cleave_graph_find_node (graph, "a"), 0),
                      toy_find (graph, "b"));
  ck_assert_ptr_null (cleave_dot_print (graph, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_CYCLE, "cycle: 'a' → 'b' → 'a'");
}
END_TEST

/* This test of a missing module must run before any test that draws a picture, since the module for
 * pictures is loaded once. */
START_TEST (a_missing_module_is_an_error)
{
  g_autofree char *given = g_strdup (g_getenv ("CLEAVE_MODULE_DIR"));
  g_autofree char *folder = g_dir_make_tmp ("cleave-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "a.svg", NULL);
  g_autoptr (CleaveGraph) graph = split_graph ();
  g_autoptr (GError) error = NULL;

  g_setenv ("CLEAVE_MODULE_DIR", folder, TRUE);
  ck_assert (!cleave_dot_save (graph, NULL, path, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  ck_assert_msg (strstr (error->message, "the module libcleave-render.so") != NULL, "%s",
                 error->message);
  ck_assert (!g_file_test (path, G_FILE_TEST_EXISTS));
  if (given != NULL)
    g_setenv ("CLEAVE_MODULE_DIR", given, TRUE);
  else
    g_unsetenv ("CLEAVE_MODULE_DIR");
  g_rmdir (folder);
}
END_TEST

START_TEST (the_extension_selects_the_format)
{
  static const struct
  {
    const char *name, *begin;
  } files[] = {
    { "a.dot", "digraph cleave {" },
#ifdef HAS_PICTURES
    { "a.svg", "<?xml" },
    { "a.b.png", "\x89PNG" },
#endif
  };
  g_autoptr (CleaveGraph) graph = split_graph ();
  g_autofree char *folder = g_dir_make_tmp ("cleave-XXXXXX", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (folder, files[i].name, NULL), *text = NULL;
      g_autoptr (GError) error = NULL;

      cleave_dot_save (graph, NULL, path, &error);
      cleave_assert_no_error (error);
      ck_assert (g_file_get_contents (path, &text, NULL, NULL));
      ck_assert_msg (g_str_has_prefix (text, files[i].begin), "%s is %.20s", files[i].name, text);
      g_unlink (path);
    }
  g_rmdir (folder);
}
END_TEST

START_TEST (unknown_extensions_and_missing_folders_are_errors)
{
  g_autoptr (CleaveGraph) graph = split_graph ();
  g_autoptr (GError) error = NULL;

  ck_assert (!cleave_dot_save (graph, NULL, "a.pdf", &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "cannot draw to 'a.pdf': its ending must be .dot, .svg or .png");
  ck_assert (!cleave_dot_save (graph, NULL, "dot", &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "cannot draw to 'dot': its ending must be .dot, .svg or .png");
  ck_assert (!cleave_dot_save (graph, NULL, "/nowhere/a.dot", &error));
  ck_assert (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "print", names_are_read_back, the_same_graph_gives_the_same_text,
                   ranks_are_framed_and_messages_dashed, parallel_subgraphs_are_clusters,
                   constants_are_folded_unless_shown,
                   operands_of_large_joins_are_named_instead_of_drawn_as_edges,
                   pieces_show_their_range, ranges_may_come_from_the_options,
                   halo_rows_do_not_change_the_range_of_a_piece, ports_have_the_names_of_onnx,
                   an_empty_graph_is_drawn, a_cycle_is_an_error, NULL);
  cleave_add_case (suite, "save", a_missing_module_is_an_error, the_extension_selects_the_format,
                   unknown_extensions_and_missing_folders_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("dot", add_tests)
