/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Parses the options --shape and --fix, loads a model from a file or from standard input, and
 * prints the warnings of the import. The text of --fix gives a number or a file. A number is the
 * extent of a named dimension or the value of an input; a file has the value of an input. */

#include "model.h"

#include "arguments.h"
#include "dynamic.h"
#include "extents.h"
#include "npy.h"
#include "outputs.h"
#include "standard.h"

#include <stdio.h>
#include <string.h>

void
cleave_model_value_free (gpointer data)
{
  CleaveModelValue *value = data;

  g_free (value->name);
  cleave_tensor_unref (value->tensor);
  g_free (value);
}

static void
clear_shape (gpointer data)
{
  g_free ((char *) ((CleaveOnnxShape *) data)->name);
}

static void
clear_given (gpointer data)
{
  CleaveOnnxGiven *given = data;

  g_free ((char *) given->name);
  g_clear_pointer (&given->value, cleave_tensor_unref);
}

static gboolean
add_shape (GArray *shapes, const char *text, GError **error)
{
  CleaveOnnxShape shape = { 0 };
  char *name;
  const char *value;

  cleave_argument_pair (text, &name, &value);
  shape.name = name;
  g_array_append_val (shapes, shape);
  return cleave_text_to_shape (
      "--shape", value, &g_array_index (shapes, CleaveOnnxShape, shapes->len - 1).shape, error);
}

/* Returns the texts of several dimensions, such as "batch=1" and "seq=128" for "batch=1,seq=128".
 * Returns NULL if the text gives a single shape. */
static char **
split_dims (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (strchr (parts[i], '=') == NULL)
      return NULL;
  return parts[0] == NULL || parts[1] == NULL ? NULL : g_steal_pointer (&parts);
}

static GArray *
parse_shapes (char **texts, GError **error)
{
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxShape));

  g_array_set_clear_func (shapes, clear_shape);
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    {
      g_auto (GStrv) dims = split_dims (texts[i]);

      for (guint k = 0; dims != NULL && dims[k] != NULL; k++)
        if (!add_shape (shapes, dims[k], error))
          return NULL;
      if (dims == NULL && !add_shape (shapes, texts[i], error))
        return NULL;
    }
  return g_steal_pointer (&shapes);
}

static void
clear_dim (gpointer data)
{
  g_free ((char *) ((CleaveOnnxDim *) data)->name);
}

/* Returns whether the text of a --fix gives a number rather than a file. */
static gboolean
is_number (const char *text)
{
  const char *equals = strrchr (text, '=');

  return equals != NULL && g_ascii_isdigit (text[strlen (text) - 1]) &&
         strspn (equals + 1, "-0123456789") == strlen (equals + 1);
}

static GArray *
parse_dims (char **texts, GError **error)
{
  g_autoptr (GArray) dims = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxDim));

  g_array_set_clear_func (dims, clear_dim);
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    {
      CleaveOnnxDim dim = { 0 };
      char *name;
      const char *value;

      if (!is_number (texts[i]))
        continue;
      cleave_argument_pair (texts[i], &name, &value);
      dim.name = name;
      g_array_append_val (dims, dim);
      if (!cleave_text_to_int ("--fix", value, G_MININT64, G_MAXINT64,
                               &g_array_index (dims, CleaveOnnxDim, dims->len - 1).extent, error))
        return NULL;
    }
  return g_steal_pointer (&dims);
}

static GArray *
parse_values (char **texts, const GPtrArray *more, GError **error)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxGiven));

  g_array_set_clear_func (values, clear_given);
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    {
      CleaveOnnxGiven given = { 0 };
      char *name;
      const char *path;

      if (is_number (texts[i]))
        continue;
      cleave_argument_file (texts[i], NULL, &name, &path);
      given.name = name;
      cleave_outputs_protect (path);
      given.value = cleave_tensor_load (path, ".npy or .pb", error);
      g_array_append_val (values, given);
      if (given.value == NULL)
        return NULL;
    }
  for (guint i = 0; more != NULL && i < more->len; i++)
    {
      const CleaveModelValue *value = more->pdata[i];
      CleaveOnnxGiven given = { g_strdup (value->name), cleave_tensor_ref (value->tensor) };

      g_array_append_val (values, given);
    }
  return g_steal_pointer (&values);
}

/* If an error says that a value or a shape is missing, adds to its message the option that sets the
 * value or shape. */
static void
add_option_hint (GError *error)
{
  char *shape = strstr (error->message, "its shape"), *name = strstr (error->message, "input '");
  const char *end = name == NULL ? NULL : strchr (name + 7, '\'');
  g_autofree char *input = NULL, *fix = NULL;
  GString *message;

  if (end != NULL && shape == NULL && strstr (error->message, "(give its value)") != NULL)
    {
      fix = g_strdup_printf ("give --fix %.*s=FILE.npy", (int) (end - name - 7), name + 7);
      message = g_string_new (error->message);
      g_string_replace (message, "give its value", fix, 1);
      g_free (error->message);
      error->message = g_string_free (message, FALSE);
    }
  if (shape == NULL || end == NULL)
    return;
  input = g_strdup_printf ("--shape %.*s=", (int) (end - name - 7), name + 7);
  message = g_string_new (error->message);
  if (g_string_replace (message, "its shape, such as ", input, 1) == 0)
    g_string_replace (message, "its shape", input, 1);
  if (g_string_replace (message, "its dimensions, such as ", "--fix ", 1) > 0)
    {
      gsize at = (gsize) (strstr (message->str, "--fix ") - message->str) + 6;

      for (char *blank; (blank = strpbrk (message->str + at, " )")) != NULL && *blank == ' ';)
        {
          at = (gsize) (blank - message->str) + 7;
          g_string_insert (message, (gssize) at - 6, "--fix ");
        }
    }
  g_free (error->message);
  error->message = g_string_free (message, FALSE);
}

static CleaveGraph *
load (const char *path,
      const GArray *shapes,
      const GArray *values,
      const GArray *dims,
      gboolean is_mapped,
      GError **error)
{
  CleaveOnnxOptions given = { 0 };
  GError *mine = NULL;
  CleaveGraph *graph;

  given.shapes = (const CleaveOnnxShape *) (gpointer) shapes->data;
  given.n_shapes = shapes->len;
  given.values = (const CleaveOnnxGiven *) (gpointer) values->data;
  given.n_values = values->len;
  given.dims = (const CleaveOnnxDim *) (gpointer) dims->data;
  given.n_dims = dims->len;
  given.dynamic = TRUE;
  given.mapped = is_mapped;
  graph = cleave_graph_load (path, &given, &mine);
  for (const char *const *warning = graph == NULL ? NULL : cleave_onnx_get_warnings (graph);
       warning != NULL && *warning != NULL; warning++)
    g_printerr ("cleave: %s: warning: %s\n", cleave_standard_name (path), *warning);
  if (mine != NULL)
    add_option_hint (mine);
  if (mine != NULL)
    g_propagate_error (error, mine);
  return graph;
}

/* Returns whether a file begins like a graph as text: with `graph`, a node or a comment. An ONNX
 * model never begins with these characters. */
static gboolean
begins_as_text (const char *path)
{
  FILE *file = fopen (path, "re");
  int first = file == NULL ? EOF : getc (file);

  if (file != NULL)
    fclose (file);
  return first == '%' || first == '#' || first == 'g';
}

/* Replaces `path`, the path of the copy of standard input, by "standard input" in an error. */
static void
name_standard (GError *error, const char *path)
{
  GString *message = g_string_new (error->message);

  g_string_replace (message, path, "standard input", 0);
  g_free (error->message);
  error->message = g_string_free (message, FALSE);
}

CleaveGraph *
cleave_model_load (const char *given, const CleaveModelOptions *options, GError **error)
{
  gboolean is_standard = cleave_standard_is (given);
  const char *path = is_standard ? cleave_standard_read (error) : given;
  guint n_changed;
  g_auto (GStrv) largest =
      path == NULL ? NULL : cleave_extents_resolve (options->shapes, 0, &n_changed, error);
  g_autoptr (GArray) shapes = largest == NULL ? NULL : parse_shapes (largest, error);
  g_autoptr (GArray) values =
      shapes == NULL ? NULL : parse_values (options->values, options->more_values, error);
  g_autoptr (GArray) dims = values == NULL ? NULL : parse_dims (options->values, error);
  gboolean is_text = path != NULL && (is_standard ? begins_as_text (path)
                                                  : g_str_has_suffix (path, CLEAVE_TEXT_SUFFIX));
  CleaveGraph *graph;
  GError *mine = NULL;

  if (dims == NULL)
    return NULL;
  if (is_text && shapes->len + values->len + dims->len > 0)
    {
      cleave_argument_fail (error, "--shape and --fix are for ONNX models, not for '%s'", path);
      return NULL;
    }
  cleave_outputs_set_force (options->force);
  cleave_outputs_protect (path);
  graph = is_standard && is_text ? cleave_graph_load_text (path, &mine)
                                 : load (path, shapes, values, dims, options->is_mapped, &mine);
  if (mine != NULL && strstr (mine->message, path) == NULL)
    g_prefix_error (&mine, "'%s': ", path);
  if (mine != NULL && is_standard)
    name_standard (mine, path);
  if (mine != NULL)
    g_propagate_error (error, mine);
  if (graph != NULL && !options->has_dynamic)
    cleave_dynamic_warn (graph, cleave_standard_name (path));
  return graph;
}

char *
cleave_macs_to_string (gint64 macs)
{
  return macs == G_MAXINT64 ? g_strdup (">= 9.2e18") : g_strdup_printf ("%" G_GINT64_FORMAT, macs);
}
