/* SPDX-License-Identifier: GPL-2.0-or-later */

/* For each input line "MODEL<tab>OUT", imports the file MODEL, exports it as OUT, and prints a
 * line: "good" or the error. round-trip.py compares the files. */

#include <cleave/cleave.h>
#include <stdio.h>
#include <string.h>

int
main (void)
{
  char line[8192];

  while (fgets (line, sizeof line, stdin) != NULL)
    {
      g_auto (GStrv) paths = g_strsplit (g_strchomp (line), "\t", -1);
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = NULL;

      if (g_strv_length (paths) != 2)
        return 1;
      graph = cleave_onnx_load (paths[0], NULL, &error);
      if (graph != NULL && cleave_onnx_save (graph, paths[1], &error))
        puts ("good");
      else
        puts (g_strdelimit (error->message, "\r\n", ' '));
      fflush (stdout);
    }
  return 0;
}
