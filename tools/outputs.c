/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "outputs.h"

#include "arguments.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  char *path, *temporary;
} Output;

struct _CleaveOutputs
{
  GPtrArray *files;
};

static void
output_free (gpointer data)
{
  Output *output = data;

  g_unlink (output->temporary);
  g_free (output->path);
  g_free (output->temporary);
  g_free (output);
}

CleaveOutputs *
cleave_outputs_new (void)
{
  CleaveOutputs *outputs = g_new0 (CleaveOutputs, 1);

  outputs->files = g_ptr_array_new_with_free_func (output_free);
  return outputs;
}

void
cleave_outputs_free (CleaveOutputs *outputs)
{
  g_ptr_array_unref (outputs->files);
  g_free (outputs);
}

/* A name in the same folder that nothing has, hidden, with the same ending. */
static char *
make_temporary (const char *path, guint number)
{
  g_autofree char *folder = g_path_get_dirname (path), *base = g_path_get_basename (path);
  g_autofree char *name = g_strdup_printf (".cleave-%ld-%u-%s", (long) getpid (), number, base);

  return g_build_filename (folder, name, NULL);
}

/* Where to write what is to be `path`. */
static const char *
add (CleaveOutputs *outputs, const char *path, GError **error)
{
  Output *output;

  if (g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    {
      cleave_argument_fail (error, "cannot write '%s': it is no ordinary file", path);
      return NULL;
    }
  for (guint i = 0; i < outputs->files->len; i++)
    if (g_str_equal (((Output *) outputs->files->pdata[i])->path, path))
      {
        cleave_argument_fail (error, "two outputs are to be '%s'", path);
        return NULL;
      }
  output = g_new0 (Output, 1);
  output->path = g_strdup (path);
  output->temporary = make_temporary (path, outputs->files->len);
  g_ptr_array_add (outputs->files, output);
  return output->temporary;
}

/* An error speaks of the file that was asked for. */
static gboolean
name_path (const char *temporary, const char *path, GError *mine, GError **error)
{
  g_autoptr (GString) message = NULL;

  if (mine == NULL)
    return TRUE;
  message = g_string_new (mine->message);
  g_string_replace (message, temporary, path, 0);
  g_set_error_literal (error, mine->domain, mine->code, message->str);
  g_error_free (mine);
  return FALSE;
}

gboolean
cleave_outputs_add_bytes (CleaveOutputs *outputs, const char *path, GBytes *bytes, GError **error)
{
  const char *temporary = add (outputs, path, error);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  GError *mine = NULL;

  if (temporary == NULL)
    return FALSE;
  g_file_set_contents (temporary, data, (gssize) size, &mine);
  return name_path (temporary, path, mine, error);
}

gboolean
cleave_outputs_add_model (CleaveOutputs *outputs,
                          const char *path,
                          const CleaveGraph *graph,
                          GError **error)
{
  const char *temporary = add (outputs, path, error);
  GError *mine = NULL;

  if (temporary == NULL)
    return FALSE;
  cleave_onnx_save (graph, temporary, &mine);
  return name_path (temporary, path, mine, error);
}

gboolean
cleave_outputs_add_drawing (CleaveOutputs *outputs,
                            const char *path,
                            const CleaveGraph *graph,
                            const CleaveDotOptions *options,
                            GError **error)
{
  const char *temporary = add (outputs, path, error);
  GError *mine = NULL;

  if (temporary == NULL)
    return FALSE;
  cleave_dot_save (graph, options, temporary, &mine);
  return name_path (temporary, path, mine, error);
}

gboolean
cleave_outputs_commit (CleaveOutputs *outputs, GError **error)
{
  for (guint i = 0; i < outputs->files->len; i++)
    {
      Output *output = outputs->files->pdata[i];

      if (g_rename (output->temporary, output->path) != 0)
        return cleave_argument_fail (error, "cannot write '%s': %s", output->path,
                                     g_strerror (errno));
    }
  g_ptr_array_set_size (outputs->files, 0);
  return TRUE;
}
