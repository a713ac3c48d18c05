/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "model.h"

#include "arguments.h"
#include "npy.h"

#include <string.h>

void
cleave_model_options_clear (CleaveModelOptions *options)
{
  g_clear_pointer (&options->shapes, g_strfreev);
  g_clear_pointer (&options->values, g_strfreev);
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

static GArray *
parse_shapes (char **texts, GError **error)
{
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxShape));

  g_array_set_clear_func (shapes, clear_shape);
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    {
      CleaveOnnxShape shape = { 0 };
      char *name;
      const char *value;

      cleave_argument_pair (texts[i], TRUE, &name, &value);
      shape.name = name;
      g_array_append_val (shapes, shape);
      if (!cleave_text_to_shape ("--shape", value,
                                 &g_array_index (shapes, CleaveOnnxShape, i).shape, error))
        return NULL;
    }
  return g_steal_pointer (&shapes);
}

static GArray *
parse_values (char **texts, GError **error)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxGiven));

  g_array_set_clear_func (values, clear_given);
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    {
      CleaveOnnxGiven given = { 0 };
      char *name;
      const char *path;

      cleave_argument_pair (texts[i], FALSE, &name, &path);
      given.name = name;
      given.value = cleave_tensor_load (path, error);
      g_array_append_val (values, given);
      if (given.value == NULL)
        return NULL;
    }
  return g_steal_pointer (&values);
}

CleaveGraph *
cleave_model_load (const char *path, const CleaveModelOptions *options, GError **error)
{
  g_autoptr (GArray) shapes = parse_shapes (options->shapes, error);
  g_autoptr (GArray) values = shapes == NULL ? NULL : parse_values (options->values, error);
  CleaveOnnxOptions given = { 0 };
  CleaveGraph *graph;
  GError *mine = NULL;

  if (values == NULL)
    return NULL;
  given.shapes = (const CleaveOnnxShape *) (gpointer) shapes->data;
  given.n_shapes = shapes->len;
  given.values = (const CleaveOnnxGiven *) (gpointer) values->data;
  given.n_values = values->len;
  graph = cleave_onnx_load (path, &given, &mine);
  if (mine != NULL && strstr (mine->message, path) == NULL)
    g_prefix_error (&mine, "'%s': ", path);
  if (mine != NULL)
    g_propagate_error (error, mine);
  return graph;
}

char *
cleave_macs_to_string (gint64 macs)
{
  return macs == G_MAXINT64 ? g_strdup (">= 9.2e18") : g_strdup_printf ("%" G_GINT64_FORMAT, macs);
}
