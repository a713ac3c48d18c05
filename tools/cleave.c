/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the command that the first argument names, such as `cleave info`. The table of commands maps
 * each name to a function of a file cmd-*.c. This file also prints the help, hints for unknown
 * names, and error messages. */

#include "arguments.h"
#include "commands.h"
#include "convention.h"

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
  { "info", "print the contents of a model", cleave_cmd_info },
  { "dot", "draw a model", cleave_cmd_dot },
  { "split", "split nodes of a model and write the result", cleave_cmd_split },
  { "fit", "split a model so that it fits into a memory budget", cleave_cmd_fit },
  { "compile", "save a program that runs a model without compiling it again", cleave_cmd_compile },
  { "bundle", "write a model as plain C for a small device", cleave_cmd_bundle },
  { "run", "run a model", cleave_cmd_run },
  { "diff", "compare the outputs of two models bit for bit", cleave_cmd_diff },
  { "memory", "show the memory of a run at each step", cleave_cmd_memory },
  { "opt", "run a pipeline of passes on a model", cleave_cmd_opt },
  { "partition", "write parts of a model as separate models", cleave_cmd_partition },
  { "extract", "write the part of a model between two values", cleave_cmd_extract },
  { "simulate", "predict a run on several machines", cleave_cmd_simulate },
  { "report", "write a page for a browser about a model, a split or a fit", cleave_cmd_report },
  { "demo", "build, split, run and draw a MobileNetV2", cleave_cmd_demo },
};

static int
print_help (void)
{
  puts ("Usage: cleave COMMAND [OPTION…] [FILE…]\n\nSplits neural-network graphs.\n\nCommands:");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    printf ("  %-11s%s\n", commands[i].name, commands[i].summary);
  puts ("\nMODEL may be '-' for standard input, and the FILE of -o '-' for standard output.\n"
        "Figures of memory count " CLEAVE_CONVENTION_LINES ".");
  puts ("\n'cleave COMMAND --help' or 'cleave help COMMAND' prints the options of a "
        "command.\n'cleave --version' prints the version.\nExit status: 0 done; 1 the answer is "
        "no; 2 "
        "wrong usage, input that cannot be read,\nor output that cannot be written.");
  return CLEAVE_DONE;
}

/* Prints the name and the summary of each command on a line, for shell completion. */
static int
list_commands (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    printf ("%s\t%s\n", commands[i].name, commands[i].summary);
  return CLEAVE_DONE;
}

/* A message is cut after this many bytes, since an argument that it quotes may be very long. */
#define MAX_MESSAGE 4000

/* Prints a message as one line. A message may quote any text, so line breaks become blanks, invalid
 * UTF-8 becomes a replacement character, and control characters, which a terminal would obey,
 * become \xNN. */
static int
print_error (const char *message)
{
  g_autofree char *valid = g_utf8_make_valid (message, -1);
  g_autoptr (GString) line = g_string_new ("cleave: ");

  for (const char *c = valid; *c != '\0' && line->len < MAX_MESSAGE; c = g_utf8_next_char (c))
    {
      gunichar letter = g_utf8_get_char (c);

      if (letter == '\n' || letter == '\r')
        g_string_append_c (line, ' ');
      else if (g_unichar_iscntrl (letter))
        g_string_append_printf (line, "\\x%02x", letter);
      else
        g_string_append_unichar (line, letter);
    }
  fprintf (stderr, "%s%s\n", line->str, line->len < MAX_MESSAGE ? "" : "…");
  return CLEAVE_WRONG;
}

/* Returns the name that a command has in the table of commands. `name` may be another name of the
 * command. */
static const char *
name_command (const char *name)
{
  return g_str_equal (name, "draw") ? "dot" : name;
}

/* Names that commands and options have in other tools, each with the command or option of Cleave
 * that has the same purpose. */
static const struct
{
  const char *word, *command;
} other_words[] = {
  { "-V", "--version" },  { "-v", "--version" }, { "analyze", "info" },      { "bench", "run" },
  { "benchmark", "run" }, { "check", "diff" },   { "codegen", "bundle" },    { "compare", "diff" },
  { "inspect", "info" },  { "optimize", "opt" }, { "plot", "dot" },          { "profile", "run" },
  { "show", "info" },     { "simplify", "opt" }, { "version", "--version" }, { "view", "dot" },
  { "visualize", "dot" },
};

/* Returns the end of an error message for a word that is not a command. The text names a similar
 * command, a command with the same purpose, or an example. */
static char *
dup_command_hint (const char *word)
{
  static const char *const options[] = { "--help", "--version", NULL };
  const char *names[G_N_ELEMENTS (commands) + 1] = { NULL };
  g_autofree char *hint = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (other_words); i++)
    if (g_str_equal (word, other_words[i].word))
      return g_strdup_printf ("; did you mean '%s'?", other_words[i].command);
  if (*word == '-')
    {
      hint = cleave_argument_dup_hint (word, options);
      return *hint == '\0'
                 ? g_strdup ("; options come after a command, such as: cleave info MODEL --json")
                 : g_steal_pointer (&hint);
    }
  if (g_file_test (word, G_FILE_TEST_IS_REGULAR))
    return g_strdup ("; a command comes before its file, such as: cleave info FILE");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    names[i] = commands[i].name;
  hint = cleave_argument_dup_hint (word, names);
  return *hint == '\0' ? g_strdup ("; see cleave --help") : g_steal_pointer (&hint);
}

static int
complain_of_command (const char *word)
{
  g_autofree char *hint = dup_command_hint (word);
  g_autofree char *message = g_strdup_printf ("there is no command '%s'%s", word, hint);

  return print_error (message);
}

/* Prints the message of an error and returns the exit status. If the error says that a limit cannot
 * be met, the answer of the command is no. */
static int
report_error (const GError *error)
{
  gboolean is_limit = g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT);
  g_autofree char *message = g_strconcat (is_limit ? "limit not met: " : "", error->message, NULL);

  print_error (message);
  return is_limit ? CLEAVE_NO : CLEAVE_WRONG;
}

static int
run_command (int argc, char **argv)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (name_command (argv[0]), commands[i].name))
      {
        g_autoptr (GError) error = NULL;
        g_autofree char *name = g_strconcat ("cleave ", argv[0], NULL);
        int status;

        g_set_prgname (name);
        status = commands[i].run (argc, argv, &error);
        return error == NULL ? status : report_error (error);
      }
  return complain_of_command (argv[0]);
}

/* Opens /dev/null for each standard descriptor that is closed. If the descriptor stayed closed, the
 * next opened file would get it, and printed text would go into that file. Opens /dev/null for
 * writing as standard input, and for reading as standard output and standard error. So reads and
 * writes of the program still fail. */
static void
open_descriptors (void)
{
  for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
    if (fcntl (i, F_GETFD) < 0 && errno == EBADF)
      open ("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Closes standard output, and reports an error if not all output was written. exit() calls this
 * function, since GLib ends the process inside a call after --help. */
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
  _exit (print_error (message));
}

static int
print_version (void)
{
  puts ("cleave " CLEAVE_VERSION);
  return CLEAVE_DONE;
}

/* Options that need no command. */
static const struct
{
  const char *name;
  int (*print) (void);
} own_options[] = {
  { "--help", print_help },       { "-h", print_help },
  { "help", print_help },         { "--list-commands", list_commands },
  { "--version", print_version },
};

static int
complain_of (const char *option, const char *argument)
{
  g_autofree char *message = g_strdup_printf ("'%s' is not expected after '%s'", argument, option);

  return print_error (message);
}

int
main (int argc, char **argv)
{
  open_descriptors ();
  atexit (close_output);
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  if (argc < 2)
    {
      print_help ();
      return CLEAVE_WRONG;
    }
  if (argc == 3 && (g_str_equal (argv[1], "help") || g_str_equal (argv[1], "--help")))
    return run_command (2, (char *[]){ argv[2], (char *) "--help", NULL });
  for (guint i = 0; i < G_N_ELEMENTS (own_options); i++)
    if (g_str_equal (argv[1], own_options[i].name))
      return argc == 2 ? own_options[i].print () : complain_of (argv[argc - 2], argv[argc - 1]);
  return run_command (argc - 1, argv + 1);
}
