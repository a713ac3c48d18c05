/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads graphs from text. line.c parses the line of each node; this file makes the nodes, the
 * outputs and the names from the parsed lines. */

#include <cleave/cleave-text.h>

#include <string.h>

#include "../ir/file.h"
#include "../ir/graph-private.h"

#include "line.h"
#include "parse-with.h"

/* text   = { [ "graph" name | node | "output" value [ "#" name ] ] [ "#" comment ] line-break }
 * node   = value { "," value } "=" op [ operand { "," operand } ] { attribute }
 *          [ ":" type { "," type } ] [ "#" name [ "->" [ name ] { "," [ name ] } ] ]
 * operand = value | "-", value = "%" letters and digits
 *
 * A Constant has value=, seed= or file= with offset= in place of attributes. A name is in quotes if
 * it contains a character that has a meaning in this grammar. */

/* The values of a graph's constants may take at most this many bytes. Without a limit, a short text
 * with `seed=` could ask for any number of bytes. The limit does not include values in a file
 * beside the text. */
#define MAX_BYTES (G_GINT64_CONSTANT (4) << 30)

typedef struct
{
  CleaveResult *result;
  char *name;
  const char *at;
} ValueName;

typedef struct
{
  CleaveReader reader;
  CleaveGraph *graph;
  GHashTable *values; /* maps the name of a value, without "%", to its CleaveResult */
  GArray *names;      /* ValueName: the names of values, which name_values() sets after all nodes
                       * have their names */
} Text;

/* Chooses the name of a node. The line of the node may state the name. If the line does not, the
 * node gets the name of its first value, unless that name begins with a digit. */
static gboolean
find_name (Text *text, CleaveTextLine *line, GError **error)
{
  const char *id = g_ptr_array_index (line->ids, 0);

  if (line->name == NULL && !g_ascii_isdigit (*id))
    line->name = g_strdup (id);
  if (line->name == NULL || !g_hash_table_contains (text->graph->nodes, line->name))
    return TRUE;
  return cleave_reader_fail (&text->reader, line->name_at != NULL ? line->name_at : line->begin,
                             error, "there are two nodes '%s'", line->name);
}

/* Sets the attributes of an Input or a Constant from its type. */
static gboolean
set_type (Text *text, CleaveTextLine *line, GError **error)
{
  const char *name = line->name != NULL ? line->name : line->op->name;
  const CleaveTensorType *type;

  if (line->op != &cleave_op_input && line->op != &cleave_op_constant)
    return TRUE;
  if (line->types->len == 0)
    return cleave_reader_fail (&text->reader, line->types_at, error, "expected ':' and a type");
  type = &g_array_index (line->types, CleaveTensorType, 0);
  if (line->op == &cleave_op_input)
    {
      ((CleaveInputAttrs *) line->attrs)->type = *type;
      return TRUE;
    }
  ((CleaveConstantAttrs *) line->attrs)->value =
      cleave_read_constant (&text->reader, &line->constant, type, name, error);
  return ((CleaveConstantAttrs *) line->attrs)->value != NULL;
}

static gboolean
check_types (const Text *text, const CleaveTextLine *line, const CleaveNode *node, GError **error)
{
  for (guint i = 0; i < line->types->len; i++)
    {
      const CleaveTensorType *type = &g_array_index (line->types, CleaveTensorType, i);

      if (!cleave_tensor_type_equal (type, &node->results[i].type))
        {
          g_autofree char *given = cleave_tensor_type_to_string (type);
          g_autofree char *is = cleave_tensor_type_to_string (&node->results[i].type);

          return cleave_reader_fail (&text->reader, line->types_at, error,
                                     "result %u is %s, not %s", i, is, given);
        }
    }
  return TRUE;
}

static void
note_values (Text *text, CleaveTextLine *line, CleaveNode *node)
{
  for (guint i = 0; i < line->ids->len; i++)
    {
      char *id = g_strdup (g_ptr_array_index (line->ids, i));

      g_hash_table_insert (text->values, id, &node->results[i]);
    }
  for (guint i = 0; i < line->value_names->len; i++)
    {
      const char *name = g_ptr_array_index (line->value_names, i);
      ValueName entry = { &node->results[i], g_strdup (name), line->name_at };

      g_array_append_val (text->names, entry);
    }
}

static gboolean
add_node (Text *text, CleaveTextLine *line, GError **error)
{
  GError *wrong = NULL;
  CleaveNode *node;

  if (!find_name (text, line, error) || !set_type (text, line, error))
    return FALSE;
  node = cleave_graph_add (text->graph, line->op, line->name,
                           (CleaveResult *const *) line->operands->pdata, line->operands->len,
                           line->ids->len, line->attrs, &wrong);
  if (node == NULL)
    return cleave_reader_fail_with (&text->reader, line->op_at, wrong, error);
  if (node->op == &cleave_op_input)
    g_ptr_array_add (text->graph->inputs, &node->results[0]);
  note_values (text, line, node);
  return check_types (text, line, node, error);
}

static gboolean
parse_node (Text *text, GError **error)
{
  g_auto (CleaveTextLine) line;

  cleave_text_line_init (&line);
  return cleave_text_line_read (&text->reader, text->values, &line, error) &&
         add_node (text, &line, error);
}

static gboolean
parse_output (Text *text, GError **error)
{
  CleaveReader *reader = &text->reader;
  g_autofree char *next = NULL, *rest = NULL, *name = NULL;
  const char *begin;
  CleaveResult *value;
  GError *wrong = NULL;

  cleave_reader_skip (reader);
  begin = reader->at;
  value = cleave_text_take_value (reader, text->values, error);
  if (value == NULL)
    return FALSE;
  cleave_reader_skip (reader);
  next = cleave_reader_dup_next (reader);
  if (!cleave_reader_is_end (reader))
    return cleave_reader_fail (reader, reader->at, error,
                               "expected '#' or the end of the line, not %s", next);
  if (cleave_reader_take (reader, "#"))
    {
      cleave_reader_skip (reader);
      begin = reader->at;
      rest = cleave_reader_take_rest (reader);
      name = cleave_text_dup_name (rest, rest + strlen (rest));
    }
  else
    name = cleave_result_dup_name (value);
  if (name == NULL || (*name == '\0' && rest != NULL && *rest == '\0'))
    return cleave_reader_fail (reader, begin, error, "expected a name");
  return cleave_graph_add_output (text->graph, name, value, &wrong) ||
         cleave_reader_fail_with (reader, begin, wrong, error);
}

/* Reads the name of the graph, if the text states one, and creates the graph. The name comes first,
 * since the name of a graph cannot change later. */
static gboolean
parse_head (Text *text, GError **error)
{
  CleaveReader *reader = &text->reader;
  g_autofree char *rest = NULL, *name = NULL;
  const char *begin;

  while (g_ascii_isspace (*reader->at) || *reader->at == '#')
    reader->at += *reader->at == '#' ? strcspn (reader->at, "\n") : 1;
  if (cleave_reader_take (reader, "graph "))
    {
      begin = reader->at;
      rest = cleave_reader_take_rest (reader);
      name = cleave_text_dup_name (rest, rest + strlen (rest));
      if (name == NULL)
        return cleave_reader_fail (reader, begin, error, "expected a name");
    }
  text->graph = cleave_graph_new (name);
  return TRUE;
}

static gboolean
parse_lines (Text *text, GError **error)
{
  CleaveReader *reader = &text->reader;

  for (; *reader->at != '\0'; reader->at += *reader->at == '\n')
    {
      cleave_reader_skip (reader);
      if (*reader->at == '#')
        reader->at += strcspn (reader->at, "\n");
      if (*reader->at == '\n' || *reader->at == '\0')
        continue;
      if (cleave_reader_take (reader, "output ") ? !parse_output (text, error)
                                                 : !parse_node (text, error))
        return FALSE;
    }
  return TRUE;
}

/* Sets the names of values. All nodes already have their names, so a value's name cannot force a
 * node to be renamed. */
static gboolean
name_values (Text *text, GError **error)
{
  for (guint i = 0; i < text->names->len; i++)
    {
      ValueName *entry = &g_array_index (text->names, ValueName, i);

      if (*entry->name == '\0')
        continue;
      if (g_hash_table_contains (text->graph->values, entry->name))
        return cleave_reader_fail (&text->reader, entry->at, error, "there are two values '%s'",
                                   entry->name);
      cleave_result_set_name (entry->result, entry->name);
    }
  return TRUE;
}

static gboolean
check_inputs (const Text *text, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < text->graph->inputs->len; i++)
    {
      char *name = cleave_result_dup_name (g_ptr_array_index (text->graph->inputs, i));
      gboolean is_new = g_hash_table_add (names, name);

      if (!is_new)
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "there are two inputs of one name");
    }
  return TRUE;
}

static void
value_name_clear (gpointer data)
{
  g_free (((ValueName *) data)->name);
}

static void
note_files (const Text *text)
{
  g_autoptr (GList) names = g_hash_table_get_keys (text->reader.files);

  names = g_list_sort (names, (GCompareFunc) strcmp);
  for (GList *name = names; name != NULL; name = name->next)
    {
      g_autofree char *path = g_build_filename (text->reader.folder, name->data, NULL);

      cleave_graph_add_file (text->graph, path);
    }
}

static CleaveGraph *
parse (
    const char *text, const char *folder, gint64 budget, const GPtrArray *constants, GError **error)
{
  Text t = { .reader = { text, text, folder, budget, NULL, constants } };
  const char *end;
  gboolean good;

  if (!g_utf8_validate (text, -1, &end))
    {
      cleave_reader_fail (&t.reader, end, error, "the text is not UTF-8");
      return NULL;
    }
  t.reader.files =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  t.values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  t.names = g_array_new (FALSE, FALSE, sizeof (ValueName));
  g_array_set_clear_func (t.names, value_name_clear);
  good = parse_head (&t, error) && parse_lines (&t, error) && name_values (&t, error) &&
         check_inputs (&t, error);
  if (good)
    note_files (&t);
  g_hash_table_unref (t.reader.files);
  g_hash_table_unref (t.values);
  g_array_unref (t.names);
  if (!good)
    g_clear_pointer (&t.graph, cleave_graph_unref);
  return t.graph;
}

CleaveGraph *
cleave_graph_parse_within (const char *text, const char *folder, gint64 budget, GError **error)
{
  return parse (text, folder, budget, NULL, error);
}

CleaveGraph *
cleave_graph_parse_with (const char *text, const GPtrArray *constants, GError **error)
{
  return parse (text, NULL, MAX_BYTES, constants, error);
}

/**
 * cleave_graph_parse:
 * @text: a graph as [method@Cleave.Graph.print] and [method@Cleave.Graph.to_text] write it
 * @folder: (nullable): folder of the files that constants name; %NULL: constants may name no files
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a graph from its text. Each line is a node:
 *
 *     %2 = Conv %0, %1 pads=1,1,1,1 : float32 1x8x6x6  # conv -> features
 *
 * The name of a value is a number or a word. Types must equal the inferred types. Types may be
 * omitted except for an Input and a Constant. Names may be omitted. An operand that is absent is
 * `-`. A Constant has one of: `value=`, with one element for all or with all elements; `file=`, a
 * file in @folder, with `offset=` in bytes; `seed=`, for random values by
 * [method@Cleave.Tensor.fill_random]. Without `value=`, `file=` and `seed=`, the seed is 0. A line
 * that begins with `#` is a comment.
 *
 * Fails with %CLEAVE_ERROR_MODEL if the text is not valid, or with the error of a node that cannot
 * be made. The message begins with line and column.
 *
 * Returns: (transfer full) (nullable): the graph, or %NULL on error
 *
 * Since: 0.1
 */
CleaveGraph *
cleave_graph_parse (const char *text, const char *folder, GError **error)
{
  g_return_val_if_fail (text != NULL, NULL);
  return cleave_graph_parse_within (text, folder, MAX_BYTES, error);
}

/**
 * cleave_graph_load_text:
 * @path: (type filename): a file
 * @error: return location for a [struct@GLib.Error]
 *
 * Reads a graph from a file as [func@Cleave.Graph.parse] does. Files that constants name are in the
 * folder of @path.
 *
 * Fails as [func@Cleave.Graph.parse] does, and if a file cannot be read.
 *
 * Returns: (transfer full) (nullable): the graph, or %NULL on error
 *
 * Since: 0.1
 */
CleaveGraph *
cleave_graph_load_text (const char *path, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  g_autofree char *text = NULL, *folder = g_path_get_dirname (path);
  CleaveGraph *graph;
  gsize n;

  if (!cleave_check_readable (path, error) || !g_file_get_contents (path, &text, &n, error))
    return NULL;
  if (strlen (text) != n)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "'%s' is not a text", path);
  graph = cleave_graph_parse (text, folder, error);
  if (graph == NULL)
    {
      g_prefix_error (error, "'%s', ", path);
      return NULL;
    }
  cleave_graph_add_file (graph, path);
  g_ptr_array_insert (graph->files, 0,
                      g_ptr_array_steal_index (graph->files, graph->files->len - 1));
  return graph;
}
