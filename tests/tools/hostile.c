/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs every command with nonsensical arguments. The files of the command are compiled with the
 * address and undefined-behavior sanitizers. Each argument is a heap block of its own, so that
 * reads beyond its end are detected. */

#include "../../tools/arguments.h"
#include "../../tools/commands.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int Command (int argc, char **argv, GError **error);

static const struct
{
  const char *name;
  Command *run;
  const char *path_option; /* an option whose value is a path; NULL: none */
  const char *last;        /* an argument that is added to every case; NULL: none */
} commands[] = {
  { "info", cleave_cmd_info, NULL, NULL },
  { "dot", cleave_cmd_dot, "--output", NULL },
  { "split", cleave_cmd_split, "--output", NULL },
  { "fit", cleave_cmd_fit, "--output", NULL },
  { "compile", cleave_cmd_compile, "--output", NULL },
  { "bundle", cleave_cmd_bundle, "--output", NULL },
  { "run", cleave_cmd_run, "--output-dir", NULL },
  { "diff", cleave_cmd_diff, NULL, NULL },
  { "memory", cleave_cmd_memory, "--output", NULL },
  { "opt", cleave_cmd_opt, "--output", NULL },
  { "partition", cleave_cmd_partition, "--output-dir", NULL },
  { "extract", cleave_cmd_extract, "--output", NULL },
  { "simulate", cleave_cmd_simulate, NULL, NULL },
  { "report", cleave_cmd_report, "--output", NULL },
  /* `demo` runs if it gets no arguments. Each case adds the argument "nowhere", which `demo`
   * refuses, so that no case runs the demo. */
  { "demo", cleave_cmd_demo, NULL, "nowhere" },
};

/* Memory that the children share with the parent. The children write the numbers of cases, and the
 * last command line. */
static struct
{
  guint n_cases, n_refused;
  char text[1000]; /* the command line of the last case */
} * shared;

/* Exit status of a child that has run all its cases. */
#define GOOD 7

static void
note_case (int argc, char **argv)
{
  gsize n = 0;

  for (int i = 0; i < argc && n < sizeof shared->text; i++)
    {
      g_autofree char *text = g_strescape (argv[i], NULL);

      n += (gsize) g_snprintf (shared->text + n, sizeof shared->text - n, "'%.200s' ", text);
    }
  shared->n_cases++;
}

/* Runs a command with these arguments, which end with NULL. The command must fail if, and only if,
 * the usage is wrong. */
static void
run_case (guint c, const char *const *arguments)
{
  int argc = 1 + (int) g_strv_length ((char **) arguments), status;
  char **argv = g_new0 (char *, argc + 2);
  g_autoptr (GError) error = NULL;

  argv[0] = strdup (commands[c].name);
  for (int i = 1; i < argc; i++)
    argv[i] = strdup (arguments[i - 1]);
  if (commands[c].last != NULL)
    argv[argc++] = strdup (commands[c].last);
  note_case (argc, argv);
  status = commands[c].run (argc, argv, &error);
  if ((status == CLEAVE_WRONG) != (error != NULL) || (error != NULL && *error->message == '\0'))
    {
      fprintf (stderr, "status %d, message '%s'\n", status, error == NULL ? "" : error->message);
      _exit (1);
    }
  shared->n_refused += error != NULL;
  for (int i = 0; i < argc; i++)
    free (argv[i]);
  g_free (argv);
}

/* Runs cases with a hostile argument at each place: alone, before and after a file, after "--", and
 * as the value of an option. */
static void
run_places (guint c, const char *hostile)
{
  g_autofree char *joined = g_strconcat ("--shape=", hostile, NULL);
  const char *const cases[][5] = {
    { hostile },
    { hostile, "nowhere" },
    { "nowhere", hostile },
    { "--", hostile },
    { hostile, "--", hostile },
    { "--shape", hostile, "nowhere" },
    { "--fix", hostile, "nowhere" },
    { joined, "nowhere" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    run_case (c, cases[i]);
  if (commands[c].path_option != NULL)
    {
      const char *const path[] = { commands[c].path_option, hostile, "nowhere", NULL };
      const char *const last[] = { "nowhere", commands[c].path_option, NULL };

      run_case (c, path);
      run_case (c, last);
    }
}

static void
run_strings (guint c, guint unused)
{
  g_autofree char *many = g_strnfill (100000, '-'), *name = g_strnfill (100000, 'a');
  g_autofree char *option = g_strconcat ("--", name, "=", name, NULL);
  g_autofree char *letters = g_strconcat ("-", name, NULL);
  const char *const hostile[] = {
    "-",
    "--",
    "---",
    "-=",
    "--=",
    "--=x",
    "-o",
    "-o=",
    "-d",
    "-p",
    "-n",
    "-no",
    "-on",
    "",
    " ",
    "=",
    "==",
    "\n",
    "\r\n-o",
    "\x1b[31m",
    "\xff",
    "\xc3",
    "-\xc3",
    "--\xff",
    "--\xff=\xff",
    "\xed\xa0\x80",
    "%s%n",
    "--%s%n",
    "--shape",
    "--shape=",
    "--shape==",
    "--fix",
    "--fix=",
    "--fix==",
    "--fix=a=",
    "--force=1",
    "--json=",
    "--output",
    "--output=",
    "--output=-",
    "--list-options=",
    "--help=",
    many,
    name,
    option,
    letters,
  };

  run_case (c, (const char *const[]){ NULL });
  for (guint i = 0; i < G_N_ELEMENTS (hostile); i++)
    run_places (c, hostile[i]);
}

/* Runs the command with each one-byte option: once with the option as the only argument, and once
 * with an 'x' after the option, as in -ax, between two other arguments. */
static void
run_bytes (guint c, guint unused)
{
  for (guint byte = 1; byte < 256; byte++)
    {
      const char dash[] = { '-', (char) byte, '\0' }, longer[] = { '-', (char) byte, 'x', '\0' };

      if (byte != 'h' && byte != '?')
        run_case (c, (const char *const[]){ dash, NULL });
      run_case (c, (const char *const[]){ "nowhere", longer, "nowhere", NULL });
    }
}

/* Runs a case whose arguments print the help or the table of options, and end the process. */
static void
run_help (guint c, guint which)
{
  static const char *const help[] = { "-h", "-?", "--help", "--help-all" };

  run_case (c, (const char *const[]){ help[which], NULL });
}

static void
run_child (void (*run) (guint c, guint which), guint c, guint which, int wanted)
{
  pid_t child;
  int status;

  fflush (NULL);
  child = fork ();
  if (child == 0)
    {
      dup2 (open ("/dev/null", O_WRONLY), STDOUT_FILENO);
      run (c, which);
      _exit (GOOD);
    }
  g_assert (waitpid (child, &status, 0) == child);
  if (WIFEXITED (status) && WEXITSTATUS (status) == wanted)
    return;
  fprintf (stderr, "%s: status %x\n", shared->text, (guint) status);
  exit (1);
}

int
main (void)
{
  shared = mmap (NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  g_assert (shared != MAP_FAILED);
  for (guint c = 0; c < G_N_ELEMENTS (commands); c++)
    {
      run_child (run_strings, c, 0, GOOD);
      run_child (run_bytes, c, 0, GOOD);
      for (guint i = 0; i < 4; i++)
        run_child (run_help, c, i, 0);
    }
  printf ("%u cases, %u refused\n", shared->n_cases, shared->n_refused);
  return shared->n_refused > shared->n_cases / 2 && shared->n_refused < shared->n_cases ? 0 : 1;
}
