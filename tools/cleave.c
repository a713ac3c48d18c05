/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "arguments.h"
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct
{
  const char *name, *summary;
  int (*run) (int argc, char **argv, GError **error);
} commands[] = {
  { "info", "says what is in a model", cleave_cmd_info },
  { "dot", "draws a model", cleave_cmd_dot },
  { "split", "splits nodes of a model and writes the result", cleave_cmd_split },
  { "fit", "splits a model so that it fits into some memory", cleave_cmd_fit },
  { "compile", "makes a model ready to run here, for the next time", cleave_cmd_compile },
  { "run", "runs a model here", cleave_cmd_run },
  { "diff", "compares the outputs of two models bit for bit", cleave_cmd_diff },
  { "memory", "shows the memory of a run over its steps", cleave_cmd_memory },
  { "opt", "runs a pipeline of passes on a model", cleave_cmd_opt },
  { "partition", "takes a model apart into models that run elsewhere", cleave_cmd_partition },
  { "simulate", "tells what a run on several machines would take", cleave_cmd_simulate },
  { "report", "writes one page for a browser: a model, or what a split did to it",
    cleave_cmd_report },
  { "demo", "builds a MobileNetV2, splits it, runs both, draws both", cleave_cmd_demo },
};

static int
print_help (void)
{
  puts ("Usage: cleave COMMAND [OPTION…] [FILE…]\n\nSplits neural-network graphs.\n\nCommands:");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    printf ("  %-11s%s\n", commands[i].name, commands[i].summary);
  puts ("\n'cleave COMMAND --help' says the options of a command, 'cleave --version' the version.\n"
        "Exit status: 0 done; 1 the answer is no; 2 wrong usage, input that cannot be read,\n"
        "or output that cannot be written.");
  return CLEAVE_DONE;
}

/* For the completion of shells, as --list-options of each command. */
static int
list_commands (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    printf ("%s\t%s\n", commands[i].name, commands[i].summary);
  return CLEAVE_DONE;
}

/* One line, whatever the message holds. */
static int
complain (const char *message)
{
  g_autofree char *line = g_strdelimit (g_strdup (message), "\r\n", ' ');

  fprintf (stderr, "cleave: %s\n", line);
  return CLEAVE_WRONG;
}

static int
run_command (int argc, char **argv)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (argv[0], commands[i].name))
      {
        g_autoptr (GError) error = NULL;
        g_autofree char *name = g_strconcat ("cleave ", argv[0], NULL);
        int status;

        g_set_prgname (name);
        status = commands[i].run (argc, argv, &error);
        if (error != NULL)
          return complain (error->message);
        return status;
      }
  {
    const char *names[G_N_ELEMENTS (commands) + 1] = { NULL };
    g_autofree char *hint = NULL, *message = NULL;

    for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
      names[i] = commands[i].name;
    hint = cleave_argument_dup_hint (argv[0], names);
    message = g_strdup_printf ("there is no command '%s'%s", argv[0],
                               *hint == '\0' ? "; see cleave --help" : hint);

    return complain (message);
  }
}

/* A descriptor that was closed would be that of the next file which is opened, and get what is
 * printed.  In its place stands one that cannot be written, or read, either. */
static void
open_descriptors (void)
{
  for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
    if (fcntl (i, F_GETFD) < 0 && errno == EBADF)
      open ("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Whoever ends the process (GLib does, after --help), what was printed has come through. */
static void
close_output (void)
{
  gboolean failed = ferror (stdout) != 0;
  g_autofree char *message = NULL;

  errno = 0;
  if (fclose (stdout) == 0 && !failed)
    return;
  message = errno == 0
                ? g_strdup ("cannot write to standard output")
                : g_strdup_printf ("cannot write to standard output: %s", g_strerror (errno));
  _exit (complain (message));
}

int
main (int argc, char **argv)
{
  open_descriptors ();
  atexit (close_output);
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  if (argc < 2)
    return complain ("a command is missing; see cleave --help");
  if (g_str_equal (argv[1], "--help") || g_str_equal (argv[1], "-h") ||
      g_str_equal (argv[1], "help"))
    return print_help ();
  if (g_str_equal (argv[1], "--list-commands"))
    return list_commands ();
  if (g_str_equal (argv[1], "--version"))
    {
      puts ("cleave " CLEAVE_VERSION);
      return CLEAVE_DONE;
    }
  return run_command (argc - 1, argv + 1);
}
