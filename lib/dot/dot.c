/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The public functions that draw a graph to text, to memory and to a file. */

#include "draw.h"

#include "../ir/file.h"
#include "../ir/op.h"

static gboolean
is_of (const CleaveDotOptions *options, const CleaveGraph *graph)
{
  if (options == NULL)
    return TRUE;
  return (options->around == NULL || cleave_node_get_graph (options->around) == graph) &&
         (options->ranks == NULL || options->n_ranks == cleave_graph_get_n_nodes (graph));
}

/**
 * cleave_dot_print:
 * @graph: the graph to draw
 * @options: (nullable): what to show; %NULL for all defaults
 * @error: return location for a [struct@GLib.Error]
 *
 * Draws a graph as DOT text for Graphviz.
 *
 * Each node and each output is a vertex. The vertex of a node shows the op, the name, the
 * attributes, the constants, and the results with their types. The operands are ports with their
 * ONNX names. The vertex of a piece also shows the range of the whole that the piece computes.
 * Labels omit the prefix that all names share. The label of a view or a join consists of one line.
 * In a drawing of more than 1,000 nodes, labels show only op, name and part. Each op has one color.
 * A cluster frames each subgraph that can run beside others, and each strip. If the options have
 * ranks, a cluster frames each rank instead. A value that a rank sends is a dashed arrow, and the
 * first arrow to each receiving rank shows the bytes of the value. An overview draws one box for
 * each subgraph, for each strip and for each run of other nodes. A box shows the number of nodes,
 * the MACs, the bytes that other boxes read, and the rows. A graph always gives the same text. The
 * time is linear in nodes and uses.
 *
 * Fails with %CLEAVE_ERROR_CYCLE if the graph has a cycle.
 *
 * Returns: (transfer full) (nullable): the text, or %NULL on error
 *
 * Since: 0.1
 */
char *
cleave_dot_print (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error)
{
  GString *text = NULL;
  Agraph_t *drawing;

  g_return_val_if_fail (graph != NULL && is_of (options, graph), NULL);
  cleave_graphviz_lock ();
  drawing = cleave_draw (graph, options, error);
  if (drawing != NULL)
    {
      text = cleave_draw_to_text (drawing);
      agclose (drawing);
    }
  cleave_graphviz_unlock ();
  return text == NULL ? NULL : g_string_free (text, FALSE);
}

static const char *const formats[] = { "dot", "svg", "png", NULL };

/* Returns the format for the ending of a path. If the ending is not known, returns NULL and sets
 * the error. */
static const char *
get_format (const char *path, GError **error)
{
  const char *dot = strrchr (path, '.');

  for (guint i = 0; dot != NULL && formats[i] != NULL; i++)
    if (g_str_equal (dot + 1, formats[i]))
      return formats[i];
  return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                           "cannot draw to '%s': its ending must be .dot, .svg or .png", path);
}

static GBytes *
draw (const CleaveGraph *graph,
      const CleaveDotOptions *options,
      const char *format,
      const char *path,
      GError **error)
{
  Agraph_t *drawing = cleave_draw (graph, options, error);
  GBytes *bytes;

  if (drawing == NULL)
    return NULL;
  if (g_str_equal (format, "dot"))
    bytes = g_string_free_to_bytes (cleave_draw_to_text (drawing));
  else
    bytes = cleave_render (drawing, format, path, error);
  agclose (drawing);
  return bytes;
}

/**
 * cleave_dot_render:
 * @graph: the graph to draw
 * @options: (nullable): what to show; %NULL for all defaults
 * @format: `dot`, `svg` or `png`
 * @error: return location for a [struct@GLib.Error]
 *
 * Draws a graph into memory, as [func@Cleave.dot_save] does into a file.
 *
 * Returns: (transfer full) (nullable): the bytes of the file, or %NULL on error
 *
 * Since: 0.1
 */
GBytes *
cleave_dot_render (const CleaveGraph *graph,
                   const CleaveDotOptions *options,
                   const char *format,
                   GError **error)
{
  GBytes *bytes;

  g_return_val_if_fail (graph != NULL && format != NULL && is_of (options, graph), NULL);
  if (!g_strv_contains (formats, format))
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                             "cannot draw as '%s': the format must be dot, svg or png", format);
  cleave_graphviz_lock ();
  bytes = draw (graph, options, format, "the picture", error);
  cleave_graphviz_unlock ();
  return bytes;
}

/**
 * cleave_dot_save:
 * @graph: the graph to draw
 * @options: (nullable): what to show; %NULL for all defaults
 * @path: the file to write; its ending selects the format: `.dot` for text, `.svg` or `.png` for a
 * picture
 * @error: return location for a [struct@GLib.Error]
 *
 * Draws a graph to a file, as [func@Cleave.dot_print] does. Pictures are drawn by a module,
 * `libcleave-render.so`, that needs Graphviz's libgvc and is loaded with the first picture. The
 * library loads the module from the folder `cleave` beside the library, or from the folder
 * `CLEAVE_MODULE_DIR`.
 *
 * Fails with %CLEAVE_ERROR_CYCLE if the graph has a cycle. Fails with %CLEAVE_ERROR_OPTION if the
 * path has another ending, if the module cannot be loaded, or if the picture has too many pixels
 * for a PNG file. Fails with a #GFileError if the file cannot be written. On error, no incomplete
 * file is left.
 *
 * Graphviz lays out drawings of up to 2,000 vertices. Cleave lays out larger drawings in layers,
 * frame by frame, in linear time.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_dot_save (const CleaveGraph *graph,
                 const CleaveDotOptions *options,
                 const char *path,
                 GError **error)
{
  const char *format;
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (graph != NULL && path != NULL && is_of (options, graph), FALSE);
  format = get_format (path, error);
  if (format == NULL)
    return FALSE;
  cleave_graphviz_lock ();
  bytes = draw (graph, options, format, path, error);
  cleave_graphviz_unlock ();
  return bytes != NULL && cleave_write_file (path, g_bytes_get_data (bytes, NULL),
                                             (gssize) g_bytes_get_size (bytes), error);
}
