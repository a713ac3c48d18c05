/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the files of a command, all of them or none.
 *
 * Over 400 lines: this file has one function for each kind of output file. */

#include "outputs.h"

#include "arguments.h"
#include "dynamic.h"
#include "model.h"
#include "output-names.h"
#include "standard.h"
#include "temporaries.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  char *path; /* path as the user wrote it, for messages */
  /* path of the file to replace, with links resolved. If the output goes to standard output: path
   * of the folder that has the file `temporary` */
  char *target;
  char *temporary;      /* path of a temporary file: the command writes this file, which then
                         * replaces `target` */
  gboolean is_absent;   /* the file is not needed, such as the data file of a small model */
  gboolean is_standard; /* the output goes to standard output */
} Output;

/* Paths of the files that were read; never freed. */
static GPtrArray *read_files;

void
cleave_outputs_protect (const char *path)
{
  if (read_files == NULL)
    read_files = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (read_files, g_strdup (path));
}

static gboolean may_replace;

void
cleave_outputs_set_force (gboolean force)
{
  may_replace = force;
}

static gboolean
was_read (const char *path)
{
  GStatBuf to, from;

  if (may_replace || g_stat (path, &to) != 0)
    return FALSE;
  for (guint i = 0; read_files != NULL && i < read_files->len; i++)
    if (g_stat (read_files->pdata[i], &from) == 0 && from.st_dev == to.st_dev &&
        from.st_ino == to.st_ino)
      return TRUE;
  return FALSE;
}

struct _CleaveOutputs
{
  GPtrArray *files;
};

static void
output_free (gpointer data)
{
  Output *output = data;

  g_unlink (output->temporary);
  cleave_temporaries_remove (output->temporary);
  if (output->is_standard)
    g_rmdir (output->target);
  g_free (output->path);
  g_free (output->target);
  g_free (output->temporary);
  g_free (output);
}

CleaveOutputs *
cleave_outputs_new (void)
{
  CleaveOutputs *outputs = g_new0 (CleaveOutputs, 1);

  outputs->files = g_ptr_array_new_with_free_func (output_free);
  cleave_temporaries_catch_signals ();
  return outputs;
}

void
cleave_outputs_free (CleaveOutputs *outputs)
{
  g_ptr_array_unref (outputs->files);
  g_free (outputs);
}

/* Returns the path of a hidden file in the folder of `path`, with the ending of `path`. The path is
 * unique to this process. */
static char *
make_temporary (const char *path, guint number)
{
  g_autofree char *folder = g_path_get_dirname (path), *base = g_path_get_basename (path);
  g_autofree char *name = g_strdup_printf (".cleave-%ld-%u-%s", (long) getpid (), number, base);

  return g_build_filename (folder, name, NULL);
}

/* A path is resolved through at most this many links, since links may form a cycle. */
#define MAX_LINKS 40
/* Resolves links, also to a file that does not exist yet. Returns NULL after MAX_LINKS links. */

static char *
follow_links (const char *path)
{
  g_autofree char *at = g_strdup (path);

  for (guint i = 0; i < MAX_LINKS; i++)
    {
      g_autofree char *to = g_file_read_link (at, NULL), *folder = g_path_get_dirname (at);
      char *next;

      if (to == NULL)
        return g_canonicalize_filename (at, NULL);
      next = g_path_is_absolute (to) ? g_strdup (to) : g_build_filename (folder, to, NULL);
      g_free (at);
      at = next;
    }
  return NULL;
}

/* Gives the new file the mode of the old file and, if the system permits it, the owner of the old
 * file. If a change of the owner is not permitted, drops the set-user-ID, set-group-ID and sticky
 * bits. */
static void
keep_mode (const Output *output)
{
  GStatBuf old;

  if (g_stat (output->target, &old) != 0)
    return;
  if (chown (output->temporary, old.st_uid, old.st_gid) == 0)
    g_chmod (output->temporary, old.st_mode & 07777);
  else
    g_chmod (output->temporary, old.st_mode & 0777);
}

/* If the temporary file will replace a file, creates it readable by its owner alone, since the file
 * may be private. */
static void
make_private (const Output *output)
{
  GStatBuf old;
  int file;

  if (g_stat (output->target, &old) != 0)
    return;
  file = g_open (output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0)
    close (file);
}

static const char *
append (CleaveOutputs *outputs, const char *path, char *target, char *temporary)
{
  Output *output = g_new0 (Output, 1);

  output->path = g_strdup (path);
  output->target = target;
  output->temporary = temporary;
  g_ptr_array_add (outputs->files, output);
  cleave_temporaries_add (output->temporary);
  return output->temporary;
}

/* Adds an output that goes to standard output. The output is first written to a file of this
 * ending, in a temporary folder that only the owner can open. */
static const char *
add_standard (CleaveOutputs *outputs, const char *ending, gboolean is_text, GError **error)
{
  g_autofree char *name = g_strconcat ("output", ending, NULL), *folder = NULL;
  const char *temporary;

  if (!cleave_standard_reserve (is_text, error))
    return NULL;
  folder = g_dir_make_tmp ("cleave-XXXXXX", error);
  if (folder == NULL)
    return NULL;
  temporary =
      append (outputs, "standard output", g_strdup (folder), g_build_filename (folder, name, NULL));
  ((Output *) outputs->files->pdata[outputs->files->len - 1])->is_standard = TRUE;
  return temporary;
}

/* Adds a file. Returns the temporary path to write to, or NULL on error. */
static const char *
add (CleaveOutputs *outputs, const char *path, GError **error)
{
  g_autofree char *target = follow_links (path);
  Output *output;

  if (target == NULL)
    {
      cleave_argument_fail (error, "cannot write '%s': %s", path, g_strerror (ELOOP));
      return NULL;
    }
  if (g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    {
      cleave_argument_fail (error, "cannot write '%s': it is not a regular file", path);
      return NULL;
    }
  if (was_read (path))
    {
      cleave_argument_fail (error, "'%s' is an input of this command: give --force to replace it",
                            path);
      return NULL;
    }
  for (guint i = 0; i < outputs->files->len; i++)
    if (g_str_equal (((Output *) outputs->files->pdata[i])->target, target))
      {
        cleave_argument_fail (
            error, "two outputs have the file name '%s': give them different names", path);
        return NULL;
      }
  append (outputs, path, target, make_temporary (target, outputs->files->len));
  g_steal_pointer (&target);
  output = outputs->files->pdata[outputs->files->len - 1];
  make_private (output);
  return output->temporary;
}

/* Adds an output: a file, or standard output if the path is "-". Text for standard output is first
 * written to a temporary file that ends in `ending`. Returns the temporary path to write to, or
 * NULL on error. */
static const char *
add_either (
    CleaveOutputs *outputs, const char *path, const char *ending, gboolean is_text, GError **error)
{
  return cleave_standard_is (path) ? add_standard (outputs, ending, is_text, error)
                                   : add (outputs, path, error);
}

/* Replaces the temporary path in an error by the path that the user gave. */
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

static gboolean
write_bytes (const char *path, gconstpointer data, gsize size)
{
  FILE *file = g_fopen (path, "wbe");
  gboolean good = file != NULL && fwrite (data, 1, size, file) == size && fflush (file) == 0 &&
                  fsync (fileno (file)) == 0;
  int number = errno;

  if (file != NULL && fclose (file) != 0 && good)
    return FALSE;
  errno = number;
  return good;
}

gboolean
cleave_outputs_add_bytes (CleaveOutputs *outputs, const char *path, GBytes *bytes, GError **error)
{
  const char *temporary = add_either (outputs, path, "", TRUE, error);
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  if (temporary == NULL)
    return FALSE;
  return write_bytes (temporary, data, size) ||
         cleave_argument_fail (error, "cannot write '%s': %s", path, g_strerror (errno));
}

/* Writes a graph as text, and its large constants to a second file. Returns whether the graph has
 * large constants, so that the second file is needed. The caller checks `error`. */
static gboolean
save_text (const CleaveGraph *graph,
           const char *path,
           const char *data_path,
           const char *location,
           GError **error)
{
  g_autoptr (GBytes) data = NULL;
  g_autofree char *text = cleave_graph_to_text (graph, location, &data);
  gsize size;
  gconstpointer bytes = g_bytes_get_data (data, &size);

  if (!write_bytes (path, text, strlen (text)))
    cleave_argument_fail (error, "cannot write '%s': %s", path, g_strerror (errno));
  else if (size > 0 && !write_bytes (data_path, bytes, size))
    cleave_argument_fail (error, "cannot write '%s': %s", data_path, g_strerror (errno));
  return size > 0;
}

/* Adds a model that goes to standard output, which has no place for a second file. */
static gboolean
add_standard_model (CleaveOutputs *outputs, const CleaveGraph *graph, GError **error)
{
  const char *temporary = add_standard (outputs, ".onnx", FALSE, error);
  GError *mine = NULL;

  if (temporary == NULL)
    return FALSE;
  cleave_onnx_save (graph, temporary, &mine);
  return name_path (temporary, "standard output", mine, error);
}

/* Adds a model, and a second file for its data if needed. The file of the data precedes the model
 * in the list, so that it is renamed first. */
static gboolean
add_model_file (CleaveOutputs *outputs, const char *path, const CleaveGraph *graph, GError **error)
{
  g_autofree char *data_path = g_strconcat (path, ".data", NULL);
  g_autofree char *location = g_path_get_basename (data_path);
  const char *data_temporary = add (outputs, data_path, error);
  Output *data = data_temporary == NULL ? NULL : outputs->files->pdata[outputs->files->len - 1];
  const char *temporary = data == NULL ? NULL : add (outputs, path, error);
  g_autoptr (GError) data_error = NULL;
  GError *mine = NULL;
  gboolean has_data;

  if (temporary == NULL ||
      (g_str_has_suffix (path, CLEAVE_TEXT_SUFFIX) &&
       !cleave_dynamic_refuse (graph, "a graph as text cannot have them: write OUT.onnx", error)))
    return FALSE;
  if (g_str_has_suffix (path, CLEAVE_TEXT_SUFFIX))
    has_data = save_text (graph, temporary, data_temporary, location, &mine);
  else
    cleave_onnx_save_with_data (graph, temporary, data_temporary, location, &has_data, &mine);
  data->is_absent = !has_data;
  return name_path (data_temporary, data_path, mine, &data_error) ||
         name_path (temporary, path, g_steal_pointer (&data_error), error);
}

gboolean
cleave_outputs_add_model (CleaveOutputs *outputs,
                          const char *path,
                          const CleaveGraph *graph,
                          GError **error)
{
  if (cleave_standard_is (path))
    return add_standard_model (outputs, graph, error);
  return cleave_output_name_check_model (path, error) &&
         add_model_file (outputs, path, graph, error);
}

gboolean
cleave_outputs_add_drawing (CleaveOutputs *outputs,
                            const char *path,
                            const CleaveGraph *graph,
                            const CleaveDotOptions *options,
                            GError **error)
{
  const char *temporary = add_either (outputs, path, ".dot", TRUE, error);
  GError *mine = NULL;

  if (temporary == NULL)
    return FALSE;
  cleave_dot_save (graph, options, temporary, &mine);
  return name_path (temporary, path, mine, error);
}

gboolean
cleave_outputs_add_program (CleaveOutputs *outputs,
                            const char *path,
                            const CleaveGraph *graph,
                            const CleaveProgramOptions *options,
                            GError **error)
{
  const char *temporary = add_either (outputs, path, ".plan", FALSE, error);
  GError *mine = NULL;

  if (temporary == NULL)
    return FALSE;
  cleave_graph_save_program (graph, options, temporary, &mine);
  return name_path (temporary, path, mine, error);
}

gboolean
cleave_outputs_commit (CleaveOutputs *outputs, GError **error)
{
  for (guint i = 0; i < outputs->files->len; i++)
    {
      Output *output = outputs->files->pdata[i];

      if (output->is_absent)
        continue;
      if (output->is_standard)
        {
          if (!cleave_standard_write (output->temporary, error))
            return FALSE;
          continue;
        }
      keep_mode (output);
      if (g_rename (output->temporary, output->target) != 0)
        return cleave_argument_fail (error, "cannot write '%s': %s", output->path,
                                     g_strerror (errno));
    }
  g_ptr_array_set_size (outputs->files, 0);
  return TRUE;
}
