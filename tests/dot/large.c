/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Drawings of large graphs, which Cleave lays out itself instead of Graphviz. */

#include "../../lib/dot/large.h"
#include "../../lib/dot/draw.h"

#include "build-config.h"
#include "toy-ops.h"

#include <string.h>

static void
read_numbers (gpointer object, const char *attribute, double *numbers, guint n)
{
  const char *text = agget (object, (char *) attribute);

  ck_assert (text != NULL);
  for (guint i = 0; i < n; i++)
    {
      char *end;

      numbers[i] = g_ascii_strtod (text, &end);
      ck_assert_msg (end != text, "%s is %s", attribute, text);
      text = end + strspn (end, ", ");
    }
}

static Agnode_t *
add_vertex (Agraph_t *parent, const char *name)
{
  Agnode_t *vertex = agnode (parent, (char *) name, TRUE);

  cleave_draw_set (vertex, "width", "1");
  cleave_draw_set (vertex, "height", "0.5");
  return vertex;
}

static Agraph_t *
add_cluster (Agraph_t *parent, const char *name)
{
  Agraph_t *cluster = agsubg (parent, (char *) name, TRUE);

  cleave_draw_set (cluster, "lwidth", "3");
  return cluster;
}

/* Asserts that all vertices of a cluster are inside of the cluster's box. A vertex is 1 inch wide
 * and 0.5 inch high. */
static void
assert_within (Agraph_t *cluster)
{
  double box[4];

  read_numbers (cluster, "bb", box, 4);
  ck_assert (box[2] - box[0] >= 3 * 72);
  for (Agnode_t *v = agfstnode (cluster); v != NULL; v = agnxtnode (cluster, v))
    {
      double center[2];

      read_numbers (v, "pos", center, 2);
      ck_assert (center[0] - 36 > box[0] && center[0] + 36 < box[2]);
      ck_assert (center[1] - 18 > box[1] && center[1] + 18 < box[3]);
    }
}

/* The graph has two paths: in → a → b → out, and in → c → out. Vertices a and b are in one cluster,
 * and c is in another cluster. */
START_TEST (clusters_hold_their_vertices)
{
  Agraph_t *root, *group, *one, *two;
  Agnode_t *in, *a, *b, *c, *out;
  Agedge_t *edge;
  double first[4], second[4], tip[4], center[2];
  g_autofree char *route = NULL;

  cleave_graphviz_lock ();
  root = cleave_draw_new ();
  cleave_draw_set_style (root, 5);
  group = agsubg (root, (char *) "group", TRUE);
  one = add_cluster (group, "cluster_0");
  two = add_cluster (group, "cluster_1");
  in = add_vertex (root, "in");
  a = add_vertex (one, "a");
  b = add_vertex (one, "b");
  c = add_vertex (two, "c");
  out = add_vertex (root, "out");
  edge = agedge (root, in, a, NULL, TRUE);
  agedge (root, a, b, NULL, TRUE);
  agedge (root, b, out, NULL, TRUE);
  agedge (root, in, c, NULL, TRUE);
  agedge (root, c, out, NULL, TRUE);
  cleave_large_place (root);
  assert_within (one);
  assert_within (two);
  read_numbers (one, "bb", first, 4);
  read_numbers (two, "bb", second, 4);
  ck_assert (first[2] < second[0] || second[2] < first[0]);
  read_numbers (in, "pos", center, 2);
  ck_assert (center[1] - 18 > first[3]);
  read_numbers (a, "pos", center, 2);
  ck_assert (g_str_has_prefix (agget (edge, (char *) "pos"), "e,"));
  /* a copy of the old position: cgraph frees the old text before it copies the new one */
  route = g_strdup (agget (edge, (char *) "pos") + 2);
  cleave_draw_set (edge, "pos", route);
  read_numbers (edge, "pos", tip, 4);
  ck_assert (ABS (tip[0] - center[0]) < 0.2 && ABS (tip[1] - center[1] - 18) < 0.2);
  agclose (root);
  cleave_graphviz_unlock ();
}
END_TEST

#ifdef HAS_PICTURES

static guint
count (const char *text, const char *word)
{
  guint n = 0;

  for (const char *at = strstr (text, word); at != NULL; at = strstr (at + 1, word))
    n++;
  return n;
}

/* The graph has 300 subgraphs of 8 nodes, an input, a join and an output. */
START_TEST (all_of_a_large_graph_is_drawn)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x");
  CleaveResult *x = toy_find (graph, "x"), *parts[300];
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autofree char *text = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      parts[i] = x;
      for (guint j = 0; j < 8; j++)
        parts[i] = cleave_node_get_result (
            cleave_graph_add (graph, &toy_work, "n", &parts[i], 1, 1, NULL, NULL), 0);
    }
  x = cleave_node_get_result (
      cleave_graph_add (graph, &toy_work, "y", parts, G_N_ELEMENTS (parts), 1, NULL, NULL), 0);
  ck_assert (cleave_graph_add_output (graph, "out", x, &error));
  bytes = cleave_dot_render (graph, NULL, "svg", &error);
  cleave_assert_no_error (error);
  text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  ck_assert_uint_eq (count (text, "class=\"node\""), 2403);
  ck_assert_uint_eq (count (text, "class=\"edge\""), 2701);
  ck_assert_uint_eq (count (text, "class=\"cluster\""), 300);
  /* SVG draws the arrow of an edge as a polygon. A cluster has a title, "subgraph ...". */
  ck_assert_uint_ge (count (text, "<polygon"), 2701);
  ck_assert_uint_eq (count (text, ">subgraph "), 300);
}
END_TEST

#endif

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "places", clusters_hold_their_vertices, NULL);
#ifdef HAS_PICTURES
  cleave_add_case (suite, "pictures", all_of_a_large_graph_is_drawn, NULL);
#endif
}

CLEAVE_TEST_SUITE ("large", add_tests)
