/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Parses the numbers, sizes, shapes and lists that command lines and pipelines contain. */

#include "text.h"

#include <cleave/cleave-split.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "error.h"

/* Parses the number at the start of a text into `value`, and moves `text` to the end of the number.
 * Returns FALSE if the text does not begin with a number. */
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

/* Parses "." and one to six decimals. Sets `value` to the decimals in millionths, and moves `text`
 * to the end of the decimals. If there is no ".", sets `value` to 0. Returns FALSE if "." is
 * followed by no decimals or by more than six. */
static gboolean
take_millionths (const char **text, gint64 *value)
{
  gint64 place = 1000000;

  *value = 0;
  if (**text != '.')
    return TRUE;
  for (++*text; g_ascii_isdigit (**text) && place > 1; ++*text)
    *value += (**text - '0') * (place /= 10);
  return (*text)[-1] != '.' && !g_ascii_isdigit (**text);
}

/**
 * cleave_text_to_int:
 * @option: the name of the option, for messages
 * @text: the text
 * @min: the smallest legal number
 * @max: the largest legal number
 * @value: (out): the number
 * @error: return location for a [struct@GLib.Error]
 *
 * Parses a decimal integer.
 *
 * Fails with %CLEAVE_ERROR_OPTION if the text is no such number.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_text_to_int (
    const char *option, const char *text, gint64 min, gint64 max, gint64 *value, GError **error)
{
  const char *at = text;
  gint64 number;

  g_return_val_if_fail (option != NULL && text != NULL && value != NULL, FALSE);
  if (!take_int (&at, &number) || *at != '\0' || number < min || number > max)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "%s expects a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                        ", not '%s'",
                        option, min, max, text);
  *value = number;
  return TRUE;
}

/* Returns whether `text` is the unit `unit`. The case matters only for units without an `i`: `kB`
 * is 1,000 bytes, but `KB` could mean 1,000 or 1,024. */
static gboolean
is_unit (const char *text, const char *unit)
{
  return strchr (unit, 'i') != NULL ? g_ascii_strcasecmp (text, unit) == 0
                                    : g_str_equal (text, unit);
}

/**
 * cleave_text_to_size:
 * @option: the name of the option, for messages
 * @text: the text
 * @bytes: (out): the number of bytes
 * @error: return location for a [struct@GLib.Error]
 *
 * Parses a size in bytes, such as `300000`, `64KiB`, `2MB` or `1.92 MiB`. The units `kB`, `MB`,
 * `GB` and `TB` are powers of 1000. `KiB`, `MiB`, `GiB` and `TiB`, in upper or lower case, are
 * powers of 1024. A number with a unit may have up to six decimals; part of a byte is dropped. A
 * size is at least 1 byte: in the structs of options, 0 means that there is no limit.
 *
 * Fails with %CLEAVE_ERROR_OPTION if the text is no size.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_text_to_size (const char *option, const char *text, gint64 *bytes, GError **error)
{
  static const struct
  {
    const char *unit;
    gint64 n_bytes;
  } units[] = {
    { "", 1 },
    { "B", 1 },
    { "kB", 1000 },
    { "MB", 1000 * 1000 },
    { "GB", 1000 * 1000 * 1000 },
    { "TB", G_GINT64_CONSTANT (1000) * 1000 * 1000 * 1000 },
    { "KiB", 1 << 10 },
    { "MiB", 1 << 20 },
    { "GiB", 1 << 30 },
    { "TiB", G_GINT64_CONSTANT (1) << 40 },
  };
  const char *at = text;
  gint64 number, millionths, sum;

  g_return_val_if_fail (option != NULL && text != NULL && bytes != NULL, FALSE);
  if (take_int (&at, &number) && number >= 0 && take_millionths (&at, &millionths))
    {
      at += *at == ' ' && at[1] != '\0';
      for (guint i = 0; i < G_N_ELEMENTS (units); i++)
        if (is_unit (at, units[i].unit) && number <= G_MAXINT64 / units[i].n_bytes &&
            (units[i].n_bytes > 1 || memchr (text, '.', (gsize) (at - text)) == NULL) &&
            !__builtin_add_overflow (number * units[i].n_bytes,
                                     millionths * units[i].n_bytes / 1000000, &sum))
          {
            if (sum == 0)
              return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s must be more than 0", option);
            *bytes = sum;
            return TRUE;
          }
    }
  return cleave_fail (
      error, CLEAVE_ERROR_OPTION,
      "%s expects a size such as 300000, 64KiB (of 1024) or 64kB (of 1000), 2MiB or 2MB, "
      "not '%s'",
      option, text);
}

/**
 * cleave_text_to_max_added:
 * @option: the name of the option, for messages
 * @text: the text
 * @fraction: (out): the limit, for [struct@Cleave.FitOptions] or [struct@Cleave.Constraint]
 * @error: return location for a [struct@GLib.Error]
 *
 * Parses a limit on an added cost, in per cent. `10` and `10%` give 0.1, and `0` gives
 * %CLEAVE_NOTHING_ADDED.
 *
 * Fails with %CLEAVE_ERROR_OPTION if the text is no such limit.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.2
 */
gboolean
cleave_text_to_max_added (const char *option, const char *text, double *fraction, GError **error)
{
  char *end;
  double value;

  g_return_val_if_fail (option != NULL && text != NULL && fraction != NULL, FALSE);
  value = g_ascii_strtod (text, &end) / 100;
  if (end != text && *end == '%')
    end++;
  if (end == text || *end != '\0' || !isfinite (value) || value < 0)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "%s expects a percentage of at least 0, not '%s'", option, text);
  *fraction = value > 0 ? value : CLEAVE_NOTHING_ADDED;
  return TRUE;
}

/**
 * cleave_text_to_shape:
 * @option: the name of the option, for messages
 * @text: the text
 * @shape: (out caller-allocates): the shape
 * @error: return location for a [struct@GLib.Error]
 *
 * Parses a shape, such as `1,3,224,224` or, as reports of Cleave print it, `1x3x224x224`. An empty
 * text is the shape of a scalar.
 *
 * Fails with %CLEAVE_ERROR_OPTION if the text is no shape.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_text_to_shape (const char *option, const char *text, CleaveShape *shape, GError **error)
{
  const char *at = text;
  char separator;

  g_return_val_if_fail (option != NULL && text != NULL && shape != NULL, FALSE);
  separator = strchr (text, ',') != NULL ? ',' : 'x';
  *shape = (CleaveShape){ 0 };
  while (*at != '\0')
    {
      if (shape->rank == CLEAVE_MAX_RANK)
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "%s: a shape has at most %d dimensions, not those of '%s'", option,
                            CLEAVE_MAX_RANK, text);
      if (!take_int (&at, &shape->dim[shape->rank]) || shape->dim[shape->rank++] < 0 ||
          (*at != '\0' && (*at++ != separator || *at == '\0')))
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "%s expects a shape such as 1,3,224,224, not '%s'", option, text);
    }
  return TRUE;
}

GArray *
cleave_text_to_ints (const char *option, const char *text, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (gint64));

  for (const char *at = text;; at++)
    {
      gint64 value;

      if (!take_int (&at, &value) || (*at != ',' && *at != '\0'))
        return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                                 "%s expects whole numbers such as 3,4,5, not '%s'", option, text);
      g_array_append_val (list, value);
      if (*at == '\0')
        return g_steal_pointer (&list);
    }
}

GArray *
cleave_text_to_doubles (const char *option, const char *text, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (double));

  for (const char *at = text;; at++)
    {
      char *end;
      double value = g_ascii_strtod (at, &end);

      if (end == at || (*end != ',' && *end != '\0'))
        return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                                 "%s expects numbers such as 1,4 or 0.5,1.5, not '%s'", option,
                                 text);
      g_array_append_val (list, value);
      at = end;
      if (*at == '\0')
        return g_steal_pointer (&list);
    }
}

/* Parses one range, up to the next '/' or the end, and moves `text` to the end of the range.
 * Returns FALSE if the text does not begin with a range. */
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
cleave_text_to_ranges (const char *option, const char *text, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  for (const char *at = text;; at++)
    {
      CleaveRange range;

      if (!take_range (&at, &range))
        return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                                 "%s expects ranges such as 0:1,0:4/0:1,4:8, not '%s'", option,
                                 text);
      g_array_append_val (list, range);
      if (*at == '\0')
        return g_steal_pointer (&list);
    }
}

char *
cleave_text_dup_place (const char *text, const char *at)
{
  const char *line = text;
  guint n_lines = 1;

  for (const char *c = text; c < at; c++)
    if (*c == '\n')
      {
        line = c + 1;
        n_lines++;
      }
  if (n_lines == 1 && strchr (at, '\n') == NULL)
    return g_strdup_printf ("column %d", (int) g_utf8_strlen (line, at - line) + 1);
  return g_strdup_printf ("line %u, column %d", n_lines, (int) g_utf8_strlen (line, at - line) + 1);
}
