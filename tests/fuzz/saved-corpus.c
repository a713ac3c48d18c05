/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The corpus of fuzz-saved: saved programs. */

#include "saved-bytes.h"

#include <glib/gstdio.h>

static const char text[] =
    "graph g\n%0 = Input : float32 1x4x8x8  # x\n%1 = Constant seed=1 : float32 8x4x3x3  # w\n"
    "%2 = Conv %0, %1 pads=1,1,1,1  # c\n%3 = Relu %2  # r\n%4, %5 = Split %3 axis=1 split=3,5  # "
    "s\n"
    "%6 = Concat %5, %4 axis=1  # t\n%7 = Add %6, %3  # a\noutput %7  # y\n";

GPtrArray *
fuzz_make_corpus (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autofree char *folder = g_dir_make_tmp ("cleave-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "x.plan", NULL);

  for (guint n_threads = 1; n_threads <= 2; n_threads++)
    {
      const CleaveProgramOptions options = { .n_threads = n_threads };
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, NULL);
      g_autofree char *bytes = NULL;
      gsize n;

      if (graph == NULL || !cleave_graph_save_program (graph, &options, path, NULL) ||
          !g_file_get_contents (path, &bytes, &n, NULL))
        fuzz_fail ("a program cannot be saved");
      g_ptr_array_add (files, g_bytes_new (bytes, n));
      g_unlink (path);
    }
  g_rmdir (folder);
  return files;
}

gboolean
fuzz_is_accepted (GBytes *bytes)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);
  g_autoptr (CleaveProgram) program = fuzz_load_saved (data, size, NULL, NULL);

  return program != NULL;
}
