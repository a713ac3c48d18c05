/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Sets the error; returns FALSE. */
gboolean cleave_argument_fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Returns "; did you mean '…'?" with the word nearest to the text, or an empty string. */
char *cleave_argument_dup_hint (const char *text, const char *const *words);

/* Splits NAME=VALUE at the last '=': a value that is a number or a shape has none, a name may have
 * some.  Without a '=', the name is NULL. */
void cleave_argument_pair (const char *text, char **name, const char **value);

/* Splits [NAME=]FILE, where both may have a '='.  The name is the longest of `names` that fits with
 * a file that exists, else the longest that fits.  If none fits, or `names` is NULL, the first '='
 * before a file that exists divides; then all of it may be a file, and the name is NULL; else the
 * first '=' divides. */
void cleave_argument_file (const char *text, char *const *names, char **name, const char **file);

/* An option that has no effect unless one of others is given, too. */
typedef struct
{
  const char *option;   /* long name; NULL ends a table */
  const char *needs[6]; /* long names, NULL at the end */
} CleaveArgumentNeed;

/* What a command takes. */
typedef struct
{
  const GOptionEntry *entries;
  const CleaveArgumentNeed *needs; /* NULL: no option depends on another */
  const char *what;                /* its files in the usage, such as "A.onnx B.onnx" */
  const char *summary;
  guint n_files; /* G_MAXUINT: any number */
} CleaveArguments;

/* Stores the values of options in the variables of the entries and returns the files.
 * NULL and the error if an argument is wrong.  --help and --list-options end the process. */
char **
cleave_argument_parse (const CleaveArguments *arguments, int argc, char **argv, GError **error);

/* An option of a command line. */
typedef struct
{
  const GOptionEntry *entry;
  const char *value; /* in the command line; NULL: the option takes none */
} CleaveArgument;

/* Reads a command line as cleave_argument_parse() does, but stores no values and checks neither
 * needs nor the number of files.  Returns the options (CleaveArgument) and sets `files`, which are
 * borrowed from the command line. */
GArray *cleave_argument_scan (
    const CleaveArguments *arguments, int argc, char **argv, GPtrArray **files, GError **error);
/* Stores the value of an option in the variable of its entry. */
gboolean cleave_argument_store (const CleaveArgument *argument, GError **error);
