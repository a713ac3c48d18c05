/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Changes a graph at random: splits it, fits it, runs passes, or writes it to a file and reads the
 * file. */

#include "way.h"

#define pick(way, n) tape_draw ((way)->tape, (guint) (n))
#define chance(way, percent) tape_chance ((way)->tape, (percent))

/* A graph with more nodes than this is not changed again. With chunks of one element, a graph could
 * get ten thousand nodes, and cutting a join of ten thousand parts takes a minute. */
#define MAX_NODES 3000

static gboolean
fail (GString *failure, const char *what, GError *error)
{
  g_string_append_printf (failure, "%s: %s", what, error == NULL ? "no error" : error->message);
  g_clear_error (&error);
  return FALSE;
}

/* Writes the graph to a file and reads the file. If the graph cannot be written, it is unchanged.
 */
static gboolean
go_through_file (Way *way, GString *failure)
{
  GError *error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (way->graph, &error);
  CleaveGraph *graph;

  g_string_append (way->text, "; through a file");
  counts_way (way->counts, "file", bytes == NULL);
  if (bytes == NULL)
    {
      g_string_append_printf (way->text, " refused (%s)", error->message);
      g_clear_error (&error);
      return TRUE;
    }
  graph = cleave_onnx_parse (bytes, NULL, &(CleaveOnnxOptions){ .dynamic = TRUE }, &error);
  if (graph == NULL)
    return fail (failure, "cannot be read again", error);
  cleave_graph_unref (way->graph);
  way->graph = graph;
  return TRUE;
}

static gboolean
clean_up (Way *way, GString *failure)
{
  GError *error = NULL;

  g_string_append (way->text, "; clean up");
  counts_way (way->counts, "clean-up", FALSE);
  return cleave_clean_up (way->graph, NULL, &error) || fail (failure, "clean up", error);
}

static gboolean
run_pass (Way *way, GString *failure)
{
  static const struct
  {
    const char *name;
    CleavePassFunc run;
  } passes[] = {
    { "join-elementwise", cleave_pass_join_elementwise },
    { "merge-equal", cleave_pass_merge_equal },
    { "fold-views", cleave_pass_fold_views },
    { "forward-slices", cleave_pass_forward_slices },
    { "fold-constants", cleave_pass_fold_constants },
    { "remove-dead", cleave_pass_remove_dead },
  };
  guint i = pick (way, G_N_ELEMENTS (passes));
  gboolean changed;
  GError *error = NULL;

  g_string_append_printf (way->text, "; %s", passes[i].name);
  counts_way (way->counts, passes[i].name, FALSE);
  return passes[i].run (way->graph, NULL, &changed, &error) ||
         fail (failure, passes[i].name, error);
}

static gboolean
validate (Way *way, GString *failure)
{
  GError *error = NULL;

  return cleave_graph_validate (way->graph, &error) || fail (failure, "invalid graph", error);
}

/* Changes the graph. Two of three splits are followed by a clean-up or another change. */
gboolean
way_change (Way *way, GString *failure)
{
  guint n_splits = 0, n = 1 + pick (way, 3);

  for (guint i = 0; i < n && cleave_graph_get_n_nodes (way->graph) <= MAX_NODES; i++)
    {
      guint what = pick (way, 32);

      if (way->deep && chance (way, 40))
        {
          if (!way_fit (way, failure))
            return FALSE;
        }
      else if (what < 22)
        {
          way_split (way);
          if (++n_splits == 2)
            counts_way (way->counts, "twice", FALSE);
        }
      else if (!(what < 25   ? clean_up (way, failure)
                 : what < 28 ? run_pass (way, failure)
                 : what < 31 ? go_through_file (way, failure)
                             : way_fit (way, failure)))
        return FALSE;
      if (!validate (way, failure))
        return FALSE;
    }
  return TRUE;
}
