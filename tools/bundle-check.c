/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compiles the files of a bundle in a temporary folder, links the objects with the test of the
 * bundle, and runs the test. The results are the bytes of code, tables and stack, the compiler, and
 * the exit status of the test. */

#include "bundle-check.h"

#include "arguments.h"
#include "bundle-files.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

/* Makes the test fill 65536 bytes of the stack with a pattern before a run. The pattern begins 256
 * bytes below the frame of the function that writes the pattern. After the run, the test measures
 * the distance from this frame to the farthest byte that the run overwrote. So it can measure at
 * most 65536 + 256 bytes of stack. */
#define PAINT "-DMEASURE_STACK=65536u"
#define OPTIONS "-std=c99", "-O2", "-ffp-contract=off"
#define OPTIONS_TEXT "-std=c99 -O2 -ffp-contract=off"

/* Runs a program in a folder. Sets `output` to the text that the program wrote to its standard
 * output, and `status` to its exit status, which is -1 if a signal ended the program. */
static gboolean
run (const char *folder, const char *const *words, char **output, int *status, GError **error)
{
  g_autoptr (GSubprocessLauncher) launcher =
      g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_autoptr (GSubprocess) process = NULL;

  g_subprocess_launcher_set_cwd (launcher, folder);
  process = g_subprocess_launcher_spawnv (launcher, words, error);
  if (process == NULL || !g_subprocess_communicate_utf8 (process, NULL, NULL, output, NULL, error))
    return FALSE;
  *status = g_subprocess_get_if_exited (process) ? g_subprocess_get_exit_status (process) : -1;
  return TRUE;
}

static gboolean
compile (const char *folder, const char *const *words, GError **error)
{
  g_autofree char *output = NULL;
  int status = 0;

  if (!run (folder, words, &output, &status, error))
    return FALSE;
  return status == 0 || cleave_argument_fail (error, "cc could not compile the bundle");
}

/* Compiles each file of the bundle, except its test, to an object. */
static gboolean
compile_objects (GHashTable *files, const char *folder, GError **error)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  static const char *const flags[] = { "cc", OPTIONS, "-c" };
  GHashTableIter iter;
  gpointer name;

  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    g_ptr_array_add (words, (gpointer) flags[i]);
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if ((g_str_has_suffix (name, ".c") && !g_str_has_suffix (name, "-test.c")) ||
        g_str_has_suffix (name, ".S"))
      g_ptr_array_add (words, name);
  g_ptr_array_add (words, NULL);
  return compile (folder, (const char *const *) words->pdata, error);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Returns the sorted names (char *) of the files in a folder whose names end in `ending`, such as
 * ".o". */
static GPtrArray *
list_files (const char *folder, const char *ending)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ending))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

/* Compiles the test and links it with the objects of the bundle. */
static gboolean
link_test (const char *folder, GError **error)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new (), objects = list_files (folder, ".o");
  g_autoptr (GPtrArray) tests = list_files (folder, "-test.c");
  static const char *const flags[] = { "cc", OPTIONS, PAINT, "-o", "check" };

  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    g_ptr_array_add (words, (gpointer) flags[i]);
  for (guint i = 0; i < tests->len; i++)
    g_ptr_array_add (words, tests->pdata[i]);
  for (guint i = 0; i < objects->len; i++)
    g_ptr_array_add (words, objects->pdata[i]);
  g_ptr_array_add (words, (gpointer) "-lm");
  g_ptr_array_add (words, NULL);
  return compile (folder, (const char *const *) words->pdata, error);
}

/* Adds the sizes of code and of tables in the report of `size -A -d` to `check`. A line of the
 * report is a section, its size and its address, such as ".rodata 2208 0". The sections of tables
 * also contain the weights. */
static void
add_sections (const char *report, CleaveBundleCheck *check)
{
  static const char *const tables[] = { ".rodata", ".data", ".srodata", ".sdata", ".bss" };
  g_auto (GStrv) lines = g_strsplit (report, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *size = strchr (lines[i], ' ');
      gint64 n_bytes = size == NULL ? 0 : g_ascii_strtoll (size, NULL, 10);

      if (g_str_has_prefix (lines[i], ".text"))
        check->code_bytes += n_bytes;
      for (guint k = 0; k < G_N_ELEMENTS (tables); k++)
        if (g_str_has_prefix (lines[i], tables[k]))
          check->table_bytes += n_bytes;
    }
}

/* Sets the bytes of code and of tables in `check` to the sums of all objects of the bundle, without
 * the weights. Sets both numbers to -1 if the program `size` fails. */
static void
measure (const char *folder, gint64 weight_bytes, CleaveBundleCheck *check)
{
  g_autoptr (GPtrArray) objects = list_files (folder, ".o");

  check->code_bytes = 0;
  check->table_bytes = -weight_bytes;
  for (guint i = 0; i < objects->len; i++)
    {
      const char *const words[] = { "size", "-A", "-d", objects->pdata[i], NULL };
      g_autofree char *report = NULL;
      int status;

      if (!run (folder, words, &report, &status, NULL) || status != 0)
        {
          check->code_bytes = check->table_bytes = -1;
          return;
        }
      add_sections (report, check);
    }
}

/* Sets the name of the compiler: the first line of `cc --version`, and the options. */
static void
set_compiler (const char *folder, CleaveBundleCheck *check)
{
  const char *const words[] = { "cc", "--version", NULL };
  g_autofree char *text = NULL;
  int status;

  if (!run (folder, words, &text, &status, NULL) || status != 0)
    text = g_strdup ("cc");
  check->compiler = g_strdup_printf ("%.*s, %s", (int) strcspn (text, "\n"), text, OPTIONS_TEXT);
}

/* Runs the test, which prints a line "stack N" after each run of the bundle. */
static gboolean
run_test (const char *folder, CleaveBundleCheck *check, GError **error)
{
  const char *const words[] = { "./check", NULL };
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!run (folder, words, &text, &check->status, error))
    return FALSE;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "stack "))
      check->stack_bytes =
          MAX (check->stack_bytes, g_ascii_strtoll (lines[i] + strlen ("stack "), NULL, 10));
  return TRUE;
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GPtrArray) names = list_files (folder, "");

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = g_build_filename (folder, names->pdata[i], NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

gboolean
cleave_bundle_check (GHashTable *files,
                     gint64 weight_bytes,
                     CleaveBundleCheck *check,
                     GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("cleave-bundle-XXXXXX", error);
  gboolean is_done;

  if (folder == NULL)
    return FALSE;
  is_done = cleave_bundle_files_write (files, folder, error) &&
            compile_objects (files, folder, error) && link_test (folder, error);
  if (is_done)
    {
      measure (folder, weight_bytes, check);
      set_compiler (folder, check);
      is_done = run_test (folder, check, error);
    }
  remove_folder (folder);
  return is_done;
}

void
cleave_bundle_check_clear (CleaveBundleCheck *check)
{
  g_free (check->compiler);
}
