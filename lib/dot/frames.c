/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes CleaveFrames: groups the nodes of a graph into frames, and gives each frame a title
 * (frames.h). */

#include "frames.h"

#include "../ir/boxed.h"
#include "../ir/graph-private.h"
#include "../ir/hash.h"
#include "../ir/subgraphs.h"

typedef struct
{
  CleaveFrameKind kind;
  char *title;
} Frame;

struct _CleaveFrames
{
  const CleaveGraph *graph;
  guint n_ids;
  guint *of;      /* indexed by node id: index of its frame */
  GArray *frames; /* Frame: the subgraphs and strips, and after them the runs */
};

static void
frame_clear (gpointer data)
{
  g_free (((Frame *) data)->title);
}

static char *
dup_frame_title (guint subgraph, guint strip, guint n_strips)
{
  if (strip == G_MAXUINT)
    return g_strdup_printf ("subgraph %u", subgraph);
  if (subgraph == G_MAXUINT)
    return g_strdup_printf ("strip %u of %u", strip + 1, n_strips);
  return g_strdup_printf ("subgraph %u, strip %u of %u", subgraph, strip + 1, n_strips);
}

/* Adds a frame for each subgraph and each strip, in the order of their first nodes. */
static void
find_frames (CleaveFrames *frames, const GPtrArray *order)
{
  const CleaveGraph *graph = frames->graph;
  gsize n = (gsize) frames->n_ids + 1;
  g_autofree guint *subgraph = g_new0 (guint, n), *band = g_new0 (guint, n),
                   *strip = g_new0 (guint, n), *n_strips = g_new0 (guint, n);
  g_autoptr (GHashTable) known =
      g_hash_table_new_full (cleave_hash_pair, g_int64_equal, g_free, NULL);

  cleave_subgraphs_find (graph, subgraph);
  cleave_subgraphs_find_bands (graph, band);
  cleave_strips_find (graph, order, band, strip, n_strips);
  for (guint i = 0; i < order->len; i++)
    {
      guint id = ((CleaveNode *) order->pdata[i])->id;
      guint64 key = (guint64) band[id] << 32 | strip[id];
      gpointer number;

      if (subgraph[id] == G_MAXUINT && strip[id] == G_MAXUINT)
        continue;
      number = g_hash_table_lookup (known, &key);
      if (number == NULL)
        {
          Frame frame = { strip[id] == G_MAXUINT ? CLEAVE_FRAME_SUBGRAPH : CLEAVE_FRAME_STRIP,
                          dup_frame_title (subgraph[id], strip[id], n_strips[band[id]]) };

          g_array_append_val (frames->frames, frame);
          number = GUINT_TO_POINTER (frames->frames->len);
          g_hash_table_insert (known, g_memdup2 (&key, sizeof key), number);
        }
      frames->of[id] = GPOINTER_TO_UINT (number) - 1;
    }
}

/* Adds a frame for each run. The title is the name of the first and of the last node of the run. */
static void
add_runs (CleaveFrames *frames, const GPtrArray *order)
{
  guint first = frames->frames->len;
  guint n = cleave_runs_find (frames->graph, order, first, frames->of) - first;
  g_autofree const CleaveNode **begin = g_new0 (const CleaveNode *, n + 1);
  g_autofree const CleaveNode **end = g_new0 (const CleaveNode *, n + 1);

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];
      guint of = frames->of[node->id];

      if (of == G_MAXUINT || of < first)
        continue;
      if (begin[of - first] == NULL)
        begin[of - first] = node;
      end[of - first] = node;
    }
  for (guint i = 0; i < n; i++)
    {
      Frame frame = { CLEAVE_FRAME_RUN,
                      begin[i] == end[i]
                          ? g_strdup (begin[i]->name)
                          : g_strdup_printf ("%s … %s", begin[i]->name, end[i]->name) };

      g_array_append_val (frames->frames, frame);
    }
}

/**
 * cleave_frames_new:
 * @graph: a graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Groups the nodes of a graph into frames. Each parallel subgraph and each strip is a frame. The
 * remaining nodes form runs, and each run is also a frame. A run is a chain of nodes, or all nodes
 * between two points of the order at which only one value is live. The time is linear in nodes and
 * uses.
 *
 * Fails with %CLEAVE_ERROR_CYCLE if the graph has a cycle.
 *
 * Returns: (transfer full) (nullable): the frames, or %NULL on error
 *
 * Since: 0.1
 */
CleaveFrames *
cleave_frames_new (const CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = NULL;
  CleaveFrames *frames;

  g_return_val_if_fail (graph != NULL, NULL);
  order = cleave_graph_get_order (graph, error);
  if (order == NULL)
    return NULL;
  frames = g_atomic_rc_box_new0 (CleaveFrames);
  frames->graph = graph;
  frames->n_ids = graph->n_ids;
  frames->of = g_new (guint, graph->n_ids + 1);
  frames->frames = g_array_new (FALSE, FALSE, sizeof (Frame));
  g_array_set_clear_func (frames->frames, frame_clear);
  for (guint i = 0; i <= graph->n_ids; i++)
    frames->of[i] = G_MAXUINT;
  find_frames (frames, order);
  add_runs (frames, order);
  return frames;
}

static void
clear (gpointer data)
{
  CleaveFrames *frames = data;

  g_array_unref (frames->frames);
  g_free (frames->of);
}

/**
 * cleave_frames_ref:
 * @frames: frames
 *
 * Adds a reference. Any thread may call this function.
 *
 * Returns: (transfer full): @frames
 *
 * Since: 0.1
 */

/**
 * cleave_frames_unref:
 * @frames: (transfer full) (nullable): frames
 *
 * Drops a reference; the last one frees the frames. Any thread may call this function.
 *
 * Since: 0.1
 */

CLEAVE_DEFINE_COUNTED (CleaveFrames, frames, clear)

/**
 * cleave_frames_get_n_frames:
 * @frames: frames
 *
 * Returns: the number of frames
 *
 * Since: 0.1
 */
guint
cleave_frames_get_n_frames (const CleaveFrames *frames)
{
  g_return_val_if_fail (frames != NULL, 0);
  return frames->frames->len;
}

/**
 * cleave_frames_get_kind:
 * @frames: frames
 * @index: the index of a frame
 *
 * Returns: the kind of the frame
 *
 * Since: 0.1
 */
CleaveFrameKind
cleave_frames_get_kind (const CleaveFrames *frames, guint index)
{
  g_return_val_if_fail (frames != NULL && index < frames->frames->len, CLEAVE_FRAME_RUN);
  return g_array_index (frames->frames, Frame, index).kind;
}

/**
 * cleave_frames_get_title:
 * @frames: frames
 * @index: the index of a frame
 *
 * Returns: (transfer none): the title of the frame, such as `subgraph 2` or `strip 1 of 4`; for a
 * run, the names of its first and its last node
 *
 * Since: 0.1
 */
const char *
cleave_frames_get_title (const CleaveFrames *frames, guint index)
{
  g_return_val_if_fail (frames != NULL && index < frames->frames->len, NULL);
  return g_array_index (frames->frames, Frame, index).title;
}

/**
 * cleave_frames_find:
 * @frames: frames
 * @node: a node of the graph
 *
 * Returns: the index of the frame of @node; %G_MAXUINT for inputs and constants, which are in no
 * frame
 *
 * Since: 0.1
 */
guint
cleave_frames_find (const CleaveFrames *frames, const CleaveNode *node)
{
  g_return_val_if_fail (frames != NULL && node != NULL && node->graph == frames->graph, G_MAXUINT);
  return node->id < frames->n_ids ? frames->of[node->id] : G_MAXUINT;
}
