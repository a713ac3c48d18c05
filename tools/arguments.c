/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "arguments.h"

#include <errno.h>
#include <math.h>
#include <string.h>

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

/* A number at the start of the text, which it leaves behind. */
static gboolean
take_int (const char **text, gint64 *value)
{
  char *end;

  if (!g_ascii_isdigit (**text) && **text != '-')
    return FALSE;
  errno = 0;
  *value = g_ascii_strtoll (*text, &end, 10);
  if (errno != 0 || end == *text)
    return FALSE;
  *text = end;
  return TRUE;
}

gboolean
cleave_argument_int (
    const char *option, const char *text, gint64 min, gint64 max, gint64 *value, GError **error)
{
  const char *at = text;
  gint64 number;

  if (!take_int (&at, &number) || *at != '\0' || number < min || number > max)
    return cleave_argument_fail (error,
                                 "%s expects a whole number from %" G_GINT64_FORMAT
                                 " to %" G_GINT64_FORMAT ", not '%s'",
                                 option, min, max, text);
  *value = number;
  return TRUE;
}

gboolean
cleave_argument_size (const char *option, const char *text, gint64 *bytes, GError **error)
{
  static const struct
  {
    const char *unit;
    guint shift;
  } units[] = {
    { "", 0 }, { "B", 0 }, { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 }, { "TiB", 40 },
  };
  const char *at = text;
  gint64 number;

  if (take_int (&at, &number) && number >= 0)
    for (guint i = 0; i < G_N_ELEMENTS (units); i++)
      if (g_str_equal (at, units[i].unit) && number <= G_MAXINT64 >> units[i].shift)
        {
          *bytes = number << units[i].shift;
          return TRUE;
        }
  return cleave_argument_fail (error, "%s expects a size such as 64KiB, 1MiB or 300000, not '%s'",
                               option, text);
}

gboolean
cleave_argument_shape (const char *option, const char *text, CleaveShape *shape, GError **error)
{
  const char *at = text;

  *shape = (CleaveShape){ 0 };
  while (*at != '\0')
    {
      if (shape->rank == CLEAVE_MAX_RANK)
        return cleave_argument_fail (error,
                                     "%s: a shape has at most %d dimensions, not those of '%s'",
                                     option, CLEAVE_MAX_RANK, text);
      if (!take_int (&at, &shape->dim[shape->rank]) || shape->dim[shape->rank++] < 0 ||
          (*at != '\0' && (*at++ != ',' || *at == '\0')))
        return cleave_argument_fail (error, "%s expects a shape such as 1,3,224,224, not '%s'",
                                     option, text);
    }
  return TRUE;
}

GArray *
cleave_argument_ints (const char *option, const char *text, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (gint64));

  for (const char *at = text;; at++)
    {
      gint64 value;

      if (!take_int (&at, &value) || (*at != ',' && *at != '\0'))
        {
          cleave_argument_fail (error, "%s expects whole numbers such as 3,4,5, not '%s'", option,
                                text);
          return NULL;
        }
      g_array_append_val (list, value);
      if (*at == '\0')
        return g_steal_pointer (&list);
    }
}

GArray *
cleave_argument_doubles (const char *option, const char *text, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (double));

  for (const char *at = text;; at++)
    {
      char *end;
      double value = g_ascii_strtod (at, &end);

      if (end == at || (*end != ',' && *end != '\0'))
        {
          cleave_argument_fail (error, "%s expects numbers such as 1,4 or 0.5,1.5, not '%s'",
                                option, text);
          return NULL;
        }
      g_array_append_val (list, value);
      at = end;
      if (*at == '\0')
        return g_steal_pointer (&list);
    }
}

/* One range, up to the next '/' or the end. */
static gboolean
take_range (const char **text, CleaveRange *range)
{
  const char *at = *text;

  *range = (CleaveRange){ 0 };
  for (;; at++)
    {
      CleaveSpan *span = &range->dim[range->rank];

      if (range->rank++ == CLEAVE_MAX_RANK || !take_int (&at, &span->begin) || *at++ != ':' ||
          !take_int (&at, &span->end))
        return FALSE;
      *text = at;
      if (*at != ',')
        return *at == '/' || *at == '\0';
    }
}

GArray *
cleave_argument_ranges (const char *option, const char *text, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  for (const char *at = text;; at++)
    {
      CleaveRange range;

      if (!take_range (&at, &range))
        {
          cleave_argument_fail (error, "%s expects ranges such as 0:1,0:4/0:1,4:8, not '%s'",
                                option, text);
          return NULL;
        }
      g_array_append_val (list, range);
      if (*at == '\0')
        return g_steal_pointer (&list);
    }
}

void
cleave_argument_pair (const char *text, gboolean last, char **name, const char **value)
{
  const char *equals = last ? strrchr (text, '=') : strchr (text, '=');

  *name = equals == NULL ? NULL : g_strndup (text, (gsize) (equals - text));
  *value = equals == NULL ? text : equals + 1;
}

/* What is not an option, but the end of the options. */
static char **
take_files (int argc, char **argv)
{
  GPtrArray *files = g_ptr_array_new ();

  for (int i = 1; i < argc; i++)
    if (i > 1 || !g_str_equal (argv[i], "--"))
      g_ptr_array_add (files, g_strdup (argv[i]));
  g_ptr_array_add (files, NULL);
  return (char **) g_ptr_array_free (files, FALSE);
}

char **
cleave_argument_parse (int argc,
                       char **argv,
                       const GOptionEntry *entries,
                       const char *what,
                       const char *summary,
                       guint n_files,
                       GError **error)
{
  g_autofree char *usage = g_strdup (what);
  g_autoptr (GOptionContext) context = g_option_context_new (n_files > 0 ? usage : NULL);
  g_auto (GStrv) files = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_summary (context, summary);
  if (!g_option_context_parse (context, &argc, &argv, error))
    return NULL;
  files = take_files (argc, argv);
  if (g_strv_length (files) == n_files)
    return g_steal_pointer (&files);
  if (n_files == 0)
    cleave_argument_fail (error, "expected options alone, not '%s'", files[0]);
  else
    cleave_argument_fail (error, "expected %s, not %u files", what, g_strv_length (files));
  return NULL;
}
