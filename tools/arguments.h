/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Reads the command line of a command: a table of options (GOptionEntry), their values, files,
 * --help and --list-options. Each command calls cleave_argument_parse() first, before it
 * reads a model. An error of usage names the option and suggests the option with the nearest
 * name. */

/* Sets the error; returns FALSE. */
gboolean cleave_argument_fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Returns "; did you mean '…'?" with the word that is nearest to the text. Returns an empty string
 * if no word is near. */
char *cleave_argument_dup_hint (const char *text, const char *const *words);

/* Splits NAME=VALUE at the last '=': a name may contain '=', but a value, which is a number or a
 * shape, does not. Without '=', the name is NULL. */
void cleave_argument_pair (const char *text, char **name, const char **value);

/* Splits [NAME=]FILE, where both may contain '='. A name in `names` fits if the text begins with
 * this name and a '='. Chooses, in this order:
 *
 *    1. the longest of `names` that fits, with a file that exists
 *    2. the longest of `names` that fits
 *    3. the first '=' that precedes the name of a file that exists
 *    4. no name (NULL), if the whole text is the name of a file
 *    5. the first '='
 *
 * `names` may be NULL. */
void cleave_argument_file (const char *text, char *const *names, char **name, const char **file);

/* The entry of the option --threads in a table of options. The description of the option ends with
 * `of`, the name of the object that has the threads, such as "the program". */
#define CLEAVE_THREADS_OPTION(variable, of)                                                        \
  {                                                                                                \
    "threads", 0, 0, G_OPTION_ARG_STRING, &(variable),                                             \
        "set the threads of " of ", or \"all\": one per core (default: 1)", "T"                    \
  }

/* Reads the value of --threads: a number, or "all", which gives the number of cores. If `text` is
 * NULL, the value is 1. */
gboolean cleave_argument_threads (const char *text, gint64 *n_threads, GError **error);

/* An option that has an effect only if one of some other options is given. */
typedef struct
{
  const char *option;   /* long name; NULL ends a table */
  const char *needs[6]; /* long names, NULL at the end */
} CleaveArgumentNeed;

/* The options and files that a command takes. */
typedef struct
{
  const GOptionEntry *entries;
  const CleaveArgumentNeed *needs; /* options that have an effect only with other options; NULL:
                                    * there are none */
  const char *what; /* text that names the files in the usage message, such as "A.onnx B.onnx" */
  const char *summary;
  guint n_files; /* number of files that the command takes; G_MAXUINT: any number */
} CleaveArguments;

/* Reads a command line: stores the values of options in the variables of the entries, as
 * cleave_argument_store() does, and returns the files. Returns NULL and an error if an argument is
 * wrong. --help and --list-options end the process. */
char **
cleave_argument_parse (const CleaveArguments *arguments, int argc, char **argv, GError **error);

/* An option of a command line. */
typedef struct
{
  const GOptionEntry *entry;
  const char *value; /* value of the option in the command line; NULL: the option takes none */
} CleaveArgument;

/* Reads a command line as cleave_argument_parse() does, but stores no values, and checks neither
 * the `needs` of options nor the number of files. Returns the options (CleaveArgument), and sets
 * `files` to the files. The strings of options and files belong to the command line. */
GArray *cleave_argument_scan (
    const CleaveArguments *arguments, int argc, char **argv, GPtrArray **files, GError **error);
/* Stores the value of an option in the variable of its entry. Texts and lists of texts live until
 * the process ends: the variables borrow them. */
gboolean cleave_argument_store (const CleaveArgument *argument, GError **error);
