/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Frames of drawings: rectangles around subgraphs, strips and ranks, and overviews with a box for
 * each frame. */

#include "build-config.h"
#include "toy-ops.h"

#include <math.h>

#include <glib/gstdio.h>

/* Returns "title: nodes" for each frame, with nodes in insertion order. */
static char *
print_frames (CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFrames) frames = cleave_frames_new (graph, &error);
  GString *out = g_string_new (NULL);

  cleave_assert_no_error (error);
  for (guint i = 0; i < cleave_frames_get_n_frames (frames); i++)
    {
      g_string_append_printf (out, "%s%s:", i == 0 ? "" : "; ",
                              cleave_frames_get_title (frames, i));
      for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
           node = cleave_node_get_next (node))
        if (cleave_frames_find (frames, node) == i)
          g_string_append_printf (out, " %s", cleave_node_get_name (node));
    }
  return g_string_free (out, FALSE);
}

static const struct
{
  const char *what, *graph, *frames;
} cases[] = {
  { "nothing", "", "" },
  { "a chain is one run", "i x; w a x; w b a; w c b; o c", "a … c: a b c" },
  { "a residual block is one with what follows", "i x; w a x; w b a; w c b a; w d c; o d",
    "a: a; b … d: b c d" },
  { "two pieces", "i x; v s0 x; v s1 x; w c0 s0; w c1 s1; j y c0 c1; o y",
    "subgraph 0: s0 c0; subgraph 1: s1 c1; y: y" },
  { "strips that hand rows on",
    "i x; v s0 x; v s1 x; w a0 s0; w a1 s1; v h a0; j g h a1; w b0 a0; w b1 g; j y b0 b1; o y",
    "strip 1 of 2: s0 a0 b0; strip 2 of 2: s1 a1 h g b1; y: y" },
  { "two branches that read one value are no strips",
    "i x; w a x; w b a; w c a; w d x; j y b c d; o y", "subgraph 0: a b c; subgraph 1: d; y: y" },
};

START_TEST (nodes_are_in_frames)
{
  g_autoptr (CleaveGraph) graph =
      *cases[_i].graph == '\0' ? cleave_graph_new (NULL) : toy_graph (cases[_i].graph);
  g_autofree char *frames = print_frames (graph);

  ck_assert_msg (g_str_equal (frames, cases[_i].frames), "%s: %s", cases[_i].what, frames);
}
END_TEST

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

START_TEST (strips_are_clusters)
{
  g_autoptr (CleaveGraph) graph = toy_graph (cases[4].graph);
  g_autofree char *dot = print (graph, NULL);

  ck_assert_uint_eq (count (dot, "subgraph cluster_"), 2);
  ck_assert_uint_eq (count (dot, "label=\"strip 2 of 2\""), 1);
}
END_TEST

START_TEST (an_overview_has_a_box_for_each_frame)
{
  g_autoptr (CleaveGraph) graph = toy_graph (cases[4].graph);
  CleaveDotOptions options = { .overview = TRUE };
  g_autofree char *dot = print (graph, &options);

  /* edges: from x to both strips (2), from strip 1 to strip 2, from both strips to y (2), from y to
   * the output */
  ck_assert_uint_eq (count (dot, " -> "), 6);
  ck_assert_uint_eq (count (dot, "strip 1 of 2</b>"), 1);
  ck_assert_uint_eq (count (dot, "3 nodes, "), 1);
  ck_assert_uint_eq (count (dot, "5 nodes, "), 1);
}
END_TEST

START_TEST (the_neighborhood_of_a_node_is_drawn)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x; w a x; w b a; w c b; w d c; w e d; o e");
  CleaveDotOptions options = { .around = cleave_graph_find_node (graph, "c"), .distance = 1 };
  g_autofree char *near = print (graph, &options), *further = NULL;

  ck_assert_uint_eq (count (near, " -> "), 2);
  ck_assert_uint_eq (count (near, ">a<"), 0);
  options.distance = 0;
  further = print (graph, &options);
  ck_assert_uint_eq (count (further, " -> "), 6);
}
END_TEST

START_TEST (long_names_are_shortened)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("names");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
  CleaveResult *a = cleave_graph_add_unary (graph, "Relu", "model/features/first", x, NULL, NULL);
  CleaveResult *b = cleave_graph_add_unary (
      graph, "Relu", "model/features/a_block_of_some_kind/a_layer_of_it/relu", a, NULL, NULL);
  g_autofree char *dot = NULL;

  ck_assert (cleave_graph_add_output (graph, "y", b, NULL));
  dot = print (graph, NULL);
  ck_assert_uint_eq (count (dot, ">first<"), 1);
  ck_assert_msg (count (dot, ">…a_layer_of_it/relu<") == 1, "%s", dot);
}
END_TEST

#ifdef HAS_PICTURES

START_TEST (boxes_are_laid_out)
{
  const double sizes[] = { 40, 20, 40, 20, 60, 20 };
  const guint edges[] = { 0, 1, 0, 2 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveDotLayout) layout = cleave_dot_layout_new (sizes, 6, edges, 4, &error);
  const double *route;
  guint n;

  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_dot_layout_get_n_boxes (layout), 3);
  ck_assert (cleave_dot_layout_get_y (layout, 0) < cleave_dot_layout_get_y (layout, 1));
  ck_assert (fabs (cleave_dot_layout_get_x (layout, 1) - cleave_dot_layout_get_x (layout, 2)) >=
             50);
  route = cleave_dot_layout_get_route (layout, 1, &n);
  ck_assert_uint_eq (n % 6,
                     2); /* x and y of a starting point, and of three points for each curve */
  ck_assert (route[1] < route[n - 1]);
  ck_assert (fabs (route[n - 2] - cleave_dot_layout_get_x (layout, 2)) <= 30);
}
END_TEST

START_TEST (an_edge_to_a_missing_box_is_an_error)
{
  const double sizes[] = { 40, 20 }, wrong[] = { 40, -1 };
  const guint edges[] = { 0, 1 };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_dot_layout_new (sizes, 2, edges, 2, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  g_clear_error (&error);
  ck_assert_ptr_null (cleave_dot_layout_new (wrong, 2, NULL, 0, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
}
END_TEST

/* The picture of a chain of 700 nodes is higher than a PNG may be. */
START_TEST (a_picture_that_is_too_large_is_an_error)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x");
  CleaveResult *last = toy_find (graph, "x");
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;

  for (guint i = 0; i < 700; i++)
    last = cleave_node_get_result (
        cleave_graph_add (graph, &toy_work, "n", &last, 1, 1, NULL, NULL), 0);
  bytes = cleave_dot_render (graph, NULL, "png", &error);
  ck_assert_ptr_null (bytes);
  ck_assert_msg (strstr (error->message, "a PNG has at most 32767 each way") != NULL, "%s",
                 error->message);
}
END_TEST

#endif

static void
add_tests (Suite *suite)
{
  TCase *test = tcase_create ("frames");

  tcase_add_loop_test (test, nodes_are_in_frames, 0, G_N_ELEMENTS (cases));
  suite_add_tcase (suite, test);
  cleave_add_case (suite, "pictures", strips_are_clusters, an_overview_has_a_box_for_each_frame,
                   the_neighborhood_of_a_node_is_drawn, long_names_are_shortened, NULL);
#ifdef HAS_PICTURES
  cleave_add_case (suite, "layout", boxes_are_laid_out, an_edge_to_a_missing_box_is_an_error,
                   a_picture_that_is_too_large_is_an_error, NULL);
#endif
}

CLEAVE_TEST_SUITE ("dot frames", add_tests)
