/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Scans the command line of a command: options, their values, files, and the messages about
 * mistakes.
 *
 * Over 400 lines: this file scans a command line once, with all checks and error messages. */

#include "arguments.h"
#include "usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cleave/cleave-languages.h>

gboolean
cleave_argument_fail (GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION, message);
  return FALSE;
}

static void
divide (const char *text, const char *equals, char **name, const char **value)
{
  *name = equals == NULL ? NULL : g_strndup (text, (gsize) (equals - text));
  *value = equals == NULL ? text : equals + 1;
}

void
cleave_argument_pair (const char *text, char **name, const char **value)
{
  divide (text, strrchr (text, '='), name, value);
}

/* Returns the '=' after the longest of `names` that `text` begins with. Prefers names for which the
 * text after the '=' is the path of an existing file. Returns NULL if no name fits. */
static const char *
find_name_end (const char *text, char *const *names)
{
  const char *longest = NULL, *with_file = NULL;

  for (const char *at = strchr (text, '='); at != NULL; at = strchr (at + 1, '='))
    for (char *const *name = names; name != NULL && *name != NULL; name++)
      if (strlen (*name) == (gsize) (at - text) && strncmp (*name, text, strlen (*name)) == 0)
        {
          longest = at;
          if (g_file_test (at + 1, G_FILE_TEST_EXISTS))
            with_file = at;
        }
  return with_file != NULL ? with_file : longest;
}

void
cleave_argument_file (const char *text, char *const *names, char **name, const char **file)
{
  const char *equals = find_name_end (text, names);

  for (const char *at = strchr (text, '='); at != NULL && equals == NULL; at = strchr (at + 1, '='))
    if (g_file_test (at + 1, G_FILE_TEST_EXISTS))
      equals = at;
  if (equals == NULL && !g_file_test (text, G_FILE_TEST_EXISTS))
    equals = strchr (text, '=');
  divide (text, equals, name, file);
}

#define MAX_THREADS 1024

gboolean
cleave_argument_threads (const char *text, gint64 *n_threads, GError **error)
{
  *n_threads = 1;
  if (g_strcmp0 (text, "all") == 0)
    *n_threads = MIN (g_get_num_processors (), MAX_THREADS);
  else if (text != NULL)
    return cleave_text_to_int ("--threads", text, 1, MAX_THREADS, n_threads, error);
  return TRUE;
}

/* The functions below find options by name or letter. */

char *
cleave_argument_dup_hint (const char *text, const char *const *words)
{
  const char *nearest = cleave_text_find_nearest (text, words);

  return nearest == NULL ? g_strdup ("") : g_strdup_printf ("; did you mean '%s'?", nearest);
}

static const GOptionEntry *
find_short (const GOptionEntry *entries, char letter)
{
  for (; entries->long_name != NULL; entries++)
    if (entries->short_name != 0 && entries->short_name == letter)
      return entries;
  return NULL;
}

/* Returns the option whose name is the first `n` bytes of the text, or NULL. */
static const GOptionEntry *
find_long (const GOptionEntry *entries, const char *text, gsize n)
{
  for (; entries->long_name != NULL; entries++)
    if (strlen (entries->long_name) == n && strncmp (entries->long_name, text, n) == 0)
      return entries;
  return NULL;
}

/* Old names of options. An old name works for one version, and the command prints the new name. A
 * present name has precedence: the option --max-memory of `fit` is not an old name. */
static const struct
{
  const char *old, *name;
} renamed[] = {
  { "directory", "output-dir" },
  { "inputs-apart", "exclude-inputs" },
  { "max-latency-added", "max-added-latency" },
  { "max-memory", "max-piece-memory" },
  { "model", "made-from" },
  { "report", "save-json" },
};

/* Returns the option whose old name is the first `n` bytes of the text, and prints its new name.
 * Returns NULL if the text is not an old name. */
static const GOptionEntry *
find_renamed (const GOptionEntry *entries, const char *text, gsize n)
{
  for (guint i = 0; i < G_N_ELEMENTS (renamed); i++)
    {
      const GOptionEntry *entry = find_long (entries, renamed[i].name, strlen (renamed[i].name));

      if (entry == NULL || strlen (renamed[i].old) != n || strncmp (renamed[i].old, text, n) != 0)
        continue;
      g_printerr ("cleave: note: --%s is now --%s\n", renamed[i].old, renamed[i].name);
      return entry;
    }
  return NULL;
}

/* Prints the table of options for shell completion: name, letter, value, description. */
static void
list_options (const GOptionEntry *entries)
{
  for (; entries->long_name != NULL; entries++)
    printf ("--%s\t%s%c\t%s\t%s\n", entries->long_name, entries->short_name != 0 ? "-" : "",
            entries->short_name != 0 ? entries->short_name : ' ',
            entries->arg == G_OPTION_ARG_NONE  ? ""
            : entries->arg_description != NULL ? entries->arg_description
                                               : "VALUE",
            entries->description != NULL ? entries->description : "");
}

/* Sets the error that no option has this name. The error names the command that lists the options.
 * Returns FALSE. */
static gboolean
fail_unknown (const char *option, GError **error)
{
  return cleave_argument_fail (error, "there is no option '%s'; %s --help lists the options",
                               option, g_get_prgname () == NULL ? "cleave" : g_get_prgname ());
}

static gboolean
fail_long (const GOptionEntry *entries, const char *text, gsize n, GError **error)
{
  g_autofree char *name = g_strndup (text, n), *option = g_strconcat ("--", name, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const char *nearest;

  for (; entries->long_name != NULL; entries++)
    g_ptr_array_add (names, (gpointer) entries->long_name);
  g_ptr_array_add (names, NULL);
  nearest = cleave_text_find_nearest (name, (const char *const *) names->pdata);
  if (nearest == NULL)
    return fail_unknown (option, error);
  return cleave_argument_fail (error, "there is no option '--%s'; did you mean '--%s'?", name,
                               nearest);
}

/* The state of a scan of a command line. */
typedef struct
{
  const GOptionEntry *entries;
  char **next; /* the first argument that has not been read */
  GArray *options;
  GPtrArray *files;
} Scan;

/* Fails if an option with one value was given before with another value. */
static gboolean
check_once (const Scan *scan, const CleaveArgument *option, GError **error)
{
  if (option->entry->arg == G_OPTION_ARG_NONE || option->entry->arg == G_OPTION_ARG_STRING_ARRAY)
    return TRUE;
  for (guint i = 0; i < scan->options->len; i++)
    {
      const CleaveArgument *before = &g_array_index (scan->options, CleaveArgument, i);

      if (before->entry == option->entry && !g_str_equal (before->value, option->value))
        return cleave_argument_fail (error, "--%s is given twice, as '%s' and '%s'",
                                     option->entry->long_name, before->value, option->value);
    }
  return TRUE;
}

/* Adds an option. `value` is the text that follows the option in the same argument. If `value` is
 * NULL and the option takes a value, the value is the next argument. */
static gboolean
add_option (Scan *scan, const GOptionEntry *entry, const char *value, GError **error)
{
  CleaveArgument option = { entry, value };

  if (entry->arg == G_OPTION_ARG_NONE && value != NULL)
    return cleave_argument_fail (error, "--%s takes no value, but has '%s'", entry->long_name,
                                 value);
  if (entry->arg != G_OPTION_ARG_NONE && value == NULL)
    option.value = *scan->next == NULL ? NULL : *scan->next++;
  if (entry->arg != G_OPTION_ARG_NONE && option.value == NULL)
    return cleave_argument_fail (error, "--%s needs a value: %s", entry->long_name,
                                 entry->arg_description);
  if (!check_once (scan, &option, error))
    return FALSE;
  g_array_append_val (scan->options, option);
  return TRUE;
}

/* Reads --NAME or --NAME=VALUE. */
static gboolean
scan_long (Scan *scan, const char *text, GError **error)
{
  gsize n = strcspn (text, "=");
  const GOptionEntry *entry = find_long (scan->entries, text, n);

  if (entry == NULL)
    entry = find_renamed (scan->entries, text, n);
  if (entry == NULL)
    return fail_long (scan->entries, text, n, error);
  return add_option (scan, entry, text[n] == '=' ? text + n + 1 : NULL, error);
}

/* Sets the error that no option has this letter, and returns FALSE. The error suggests the option
 * whose name begins with the letter, if there is one. For the letter j, as in make, it suggests
 * --threads. */
static gboolean
fail_short (const GOptionEntry *entries, const char *text, GError **error)
{
  const char *found = NULL;
  char first = text[1] == 'j' ? 't' : text[1];
  guint n = 0;

  for (; entries->long_name != NULL; entries++)
    if (entries->long_name[0] == first)
      {
        found = entries->long_name;
        n++;
      }
  if (n != 1)
    return fail_unknown (text, error);
  return cleave_argument_fail (error, "there is no option '%s'; did you mean '--%s'?", text, found);
}

/* Reads the letters after one dash, each of which is an option. Only the last letter may be an
 * option with a value: the value follows directly, or is the next argument. Example: -vo out.onnx
 * is -v and -o out.onnx. */
static gboolean
scan_short (Scan *scan, const char *text, GError **error)
{
  for (const char *letter = text + 1; *letter != '\0'; letter++)
    {
      const GOptionEntry *entry = find_short (scan->entries, *letter);

      if (entry == NULL && letter == text + 1)
        return fail_short (scan->entries, text, error);
      if (entry == NULL)
        return cleave_argument_fail (error, "there is no option '-%s' in '%s'", letter, text);
      if (entry->arg != G_OPTION_ARG_NONE)
        return add_option (scan, entry, letter[1] == '\0' ? NULL : letter + 1, error);
      if (!add_option (scan, entry, NULL, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_help (const char *text)
{
  static const char *const help[] = { "--help", "-h", "-?", "--help-all", NULL };

  return g_strv_contains (help, text);
}

GArray *
cleave_argument_scan (
    const CleaveArguments *arguments, int argc, char **argv, GPtrArray **files, GError **error)
{
  g_autoptr (GArray) options = g_array_new (FALSE, FALSE, sizeof (CleaveArgument));
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  Scan scan = { arguments->entries, argv + (argc > 0), options, found };
  gboolean at_end = FALSE;

  if (argc == 2 && g_str_equal (argv[1], "--list-options"))
    {
      list_options (arguments->entries);
      exit (0);
    }
  while (*scan.next != NULL)
    {
      char *text = *scan.next++;

      if (at_end || text[0] != '-' || text[1] == '\0')
        g_ptr_array_add (found, text);
      else if (g_str_equal (text, "--"))
        at_end = TRUE;
      else if (is_help (text))
        {
          cleave_usage_print (arguments);
          exit (0);
        }
      else if (text[1] == '-' ? !scan_long (&scan, text + 2, error)
                              : !scan_short (&scan, text, error))
        return NULL;
    }
  *files = g_steal_pointer (&found);
  return g_steal_pointer (&options);
}

/* The functions below store the values of options. */

/* Returns the value as UTF-8, interned. If the value is not valid UTF-8, converts it from the
 * locale's encoding. The value of a file option keeps its bytes. */
static char *
get_text (const CleaveArgument *option, GError **error)
{
  g_autofree char *converted = NULL;
  const char *text = option->value;

  if (option->entry->arg != G_OPTION_ARG_FILENAME && !g_utf8_validate (text, -1, NULL))
    text = converted = g_locale_to_utf8 (text, -1, NULL, NULL, NULL);
  if (text == NULL)
    cleave_argument_fail (error, "the value of --%s is not UTF-8: '%s'", option->entry->long_name,
                          option->value);
  return (char *) g_intern_string (text);
}

/* Appends a text to the values of an option that may be given several times. `lists` owns the
 * arrays of values until the process ends. */
static void
append_text (char ***list, char *text)
{
  static GPtrArray *lists = NULL;
  guint n = *list == NULL ? 0 : g_strv_length (*list);

  if (lists == NULL)
    lists = g_ptr_array_new ();
  g_ptr_array_remove_fast (lists, *list);
  *list = g_renew (char *, *list, n + 2);
  g_ptr_array_add (lists, *list);
  (*list)[n] = text;
  (*list)[n + 1] = NULL;
}

gboolean
cleave_argument_store (const CleaveArgument *option, GError **error)
{
  char *text;

  if (option->entry->arg == G_OPTION_ARG_NONE)
    {
      *(gboolean *) option->entry->arg_data = TRUE;
      return TRUE;
    }
  text = get_text (option, error);
  if (text == NULL)
    return FALSE;
  if (option->entry->arg == G_OPTION_ARG_STRING_ARRAY)
    append_text (option->entry->arg_data, text);
  else
    *(char **) option->entry->arg_data = text;
  return TRUE;
}

static gboolean
is_given (const GArray *options, const char *name)
{
  for (guint i = 0; i < options->len; i++)
    if (g_str_equal (g_array_index (options, CleaveArgument, i).entry->long_name, name))
      return TRUE;
  return FALSE;
}

static gboolean
check_need (const CleaveArgumentNeed *need, const GArray *options, GError **error)
{
  g_autoptr (GString) list = g_string_new (NULL);

  if (!is_given (options, need->option))
    return TRUE;
  for (guint i = 0; need->needs[i] != NULL; i++)
    {
      if (is_given (options, need->needs[i]))
        return TRUE;
      g_string_append_printf (list, "%s--%s",
                              i == 0                       ? ""
                              : need->needs[i + 1] == NULL ? " or "
                                                           : ", ",
                              need->needs[i]);
    }
  return cleave_argument_fail (error, "--%s has no effect without %s", need->option, list->str);
}

/* Returns the names of the first files, such as ": 'a', 'b'". */
static char *
name_files (const GPtrArray *files)
{
  GString *names = g_string_new (files->len == 0 ? "" : ":");

  for (guint i = 0; i < MIN (files->len, 4); i++)
    g_string_append_printf (names, "%s '%s'", i == 0 ? "" : ",", (const char *) files->pdata[i]);
  return g_string_free (names, FALSE);
}

/* Returns a hint if the user wrote a size as two words, such as 1 MB. The command then takes the
 * unit, MB, as the name of a file. Returns "" if no name in `files` is a unit. */
static const char *
find_unit_hint (const GPtrArray *files)
{
  for (guint i = 0; i < files->len; i++)
    {
      const char *file = files->pdata[i];
      g_autofree char *size = g_strconcat ("1", file, NULL);
      gint64 n_bytes;

      if (g_ascii_isalpha (*file) && !g_file_test (file, G_FILE_TEST_EXISTS) &&
          cleave_text_to_size ("size", size, &n_bytes, NULL))
        return "; write a size and its unit as one word, such as 64KiB";
    }
  return "";
}

static gboolean
check_files (const CleaveArguments *arguments, const GPtrArray *files, GError **error)
{
  g_autofree char *names = NULL;

  if (arguments->n_files == G_MAXUINT || files->len == arguments->n_files)
    return TRUE;
  if (arguments->n_files == 0)
    return cleave_argument_fail (error, "expected options only, not '%s'",
                                 (const char *) files->pdata[0]);
  if (files->len == 0)
    return cleave_argument_fail (error, "%s is missing; %s --help shows the usage", arguments->what,
                                 g_get_prgname ());
  names = name_files (files);
  return cleave_argument_fail (error, "expected %s, found %u file%s%s%s", arguments->what,
                               files->len, files->len == 1 ? "" : "s", names,
                               find_unit_hint (files));
}

char **
cleave_argument_parse (const CleaveArguments *arguments, int argc, char **argv, GError **error)
{
  g_autoptr (GPtrArray) files = NULL;
  g_autoptr (GArray) options = cleave_argument_scan (arguments, argc, argv, &files, error);

  if (options == NULL)
    return NULL;
  for (guint i = 0; i < options->len; i++)
    if (!cleave_argument_store (&g_array_index (options, CleaveArgument, i), error))
      return NULL;
  for (const CleaveArgumentNeed *need = arguments->needs; need != NULL && need->option != NULL;
       need++)
    if (!check_need (need, options, error))
      return NULL;
  if (!check_files (arguments, files, error))
    return NULL;
  g_ptr_array_add (files, NULL);
  return g_strdupv ((char **) files->pdata);
}
