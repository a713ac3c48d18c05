/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "bundle-files.h"

#include "arguments.h"
#include "output-names.h"
#include "outputs.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

gboolean
cleave_bundle_files_write (GHashTable *files, const char *folder, GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  GHashTableIter iter;
  gpointer name, text;

  if (!cleave_output_make_folder (folder, error))
    return FALSE;
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &name, &text))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));

      if (!cleave_outputs_add_bytes (outputs, path, bytes, error))
        return FALSE;
    }
  return cleave_outputs_commit (outputs, error);
}

static gboolean
run_program (const char *folder, const char *const *words, int *status, GError **error)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autoptr (GSubprocess) process = NULL;

  g_subprocess_launcher_set_cwd (launcher, folder);
  process = g_subprocess_launcher_spawnv (launcher, words, error);
  if (process == NULL || !g_subprocess_wait (process, NULL, error))
    return FALSE;
  *status = g_subprocess_get_if_exited (process) ? g_subprocess_get_exit_status (process) : -1;
  return TRUE;
}

/* Compiles all C files of a folder with the C compiler of this machine, and runs the program. */
static gboolean
compile_and_run (GHashTable *files, const char *folder, int *status, GError **error)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  const char *const run[] = { "./check", NULL };
  static const char *const flags[] = {
    "cc", "-std=c99", "-O2", "-ffp-contract=off", "-o", "check"
  };
  GHashTableIter iter;
  gpointer name;

  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    g_ptr_array_add (words, (gpointer) flags[i]);
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (g_str_has_suffix (name, ".c") || g_str_has_suffix (name, ".S"))
      g_ptr_array_add (words, name);
  g_ptr_array_add (words, (gpointer) "-lm");
  g_ptr_array_add (words, NULL);
  if (!run_program (folder, (const char *const *) words->pdata, status, error))
    return FALSE;
  if (*status != 0)
    return cleave_argument_fail (error, "cc could not compile the bundle");
  return run_program (folder, run, status, error);
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

gboolean
cleave_bundle_files_check (GHashTable *files, int *status, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("cleave-bundle-XXXXXX", error);
  gboolean done;

  if (folder == NULL)
    return FALSE;
  done = cleave_bundle_files_write (files, folder, error) &&
         compile_and_run (files, folder, status, error);
  remove_folder (folder);
  return done;
}
