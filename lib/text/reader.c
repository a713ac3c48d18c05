/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads names, words and types at a position of a text, and makes errors that name line and column.
 */

#include "reader.h"

#include <errno.h>
#include <string.h>

#include "../ir/text.h"

gboolean
cleave_reader_fail (
    const CleaveReader *reader, const char *at, GError **error, const char *format, ...)
{
  g_autofree char *place = cleave_text_dup_place (reader->text, at), *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s: %s", place, message);
}

gboolean
cleave_reader_fail_with (const CleaveReader *reader, const char *at, GError *wrong, GError **error)
{
  g_autofree char *place = cleave_text_dup_place (reader->text, at);

  g_prefix_error (&wrong, "%s: ", place);
  g_propagate_error (error, wrong);
  return FALSE;
}

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

void
cleave_reader_skip (CleaveReader *reader)
{
  while (is_blank (*reader->at))
    reader->at++;
}

gboolean
cleave_reader_is_end (const CleaveReader *reader)
{
  return *reader->at == '\0' || *reader->at == '\n' || *reader->at == '#';
}

gboolean
cleave_reader_take (CleaveReader *reader, const char *text)
{
  if (!g_str_has_prefix (reader->at, text))
    return FALSE;
  reader->at += strlen (text);
  return TRUE;
}

char *
cleave_reader_take_name (CleaveReader *reader)
{
  const char *begin = reader->at;

  while (g_ascii_isalnum (*reader->at) || *reader->at == '_' || *reader->at == '.')
    reader->at++;
  return g_strndup (begin, (gsize) (reader->at - begin));
}

char *
cleave_reader_take_word (CleaveReader *reader)
{
  const char *begin = reader->at;
  char close = '\0'; /* the character that closes open quotes or brackets; 0: none are open */

  for (; *reader->at != '\0' && *reader->at != '\n'; reader->at++)
    {
      char c = *reader->at;

      if (close == '\0' && is_blank (c))
        break;
      if (close == '"' && c == '\\' && reader->at[1] != '\0' && reader->at[1] != '\n')
        reader->at++;
      else if (c == close)
        close = '\0';
      else if (close == '\0' && (c == '"' || c == '['))
        close = c == '[' ? ']' : c;
    }
  return g_strndup (begin, (gsize) (reader->at - begin));
}

char *
cleave_reader_take_rest (CleaveReader *reader)
{
  const char *begin = reader->at;

  reader->at += strcspn (reader->at, "\n");
  return g_strchomp (g_strndup (begin, (gsize) (reader->at - begin)));
}

char *
cleave_reader_dup_next (const CleaveReader *reader)
{
  const char *at = reader->at;

  if (*at == '\0' || *at == '\n')
    return g_strdup ("the end of the line");
  return g_strdup_printf ("'%.*s'", (int) (g_utf8_next_char (at) - at), at);
}

static CleaveElement
find_element (const char *name)
{
  for (CleaveElement e = CLEAVE_NONE + 1; e < CLEAVE_N_ELEMENTS; e++)
    if (g_str_equal (cleave_element_get_name (e), name))
      return e;
  return CLEAVE_NONE;
}

static gboolean
take_shape (const CleaveReader *reader,
            const char *at,
            const char *text,
            CleaveShape *shape,
            GError **error)
{
  g_auto (GStrv) extents = g_strsplit (text, "x", -1);

  *shape = (CleaveShape){ 0 };
  if (g_str_equal (text, "scalar"))
    return TRUE;
  for (guint d = 0; extents[d] != NULL; d++)
    {
      char *end;

      errno = 0;
      if (d == CLEAVE_MAX_RANK)
        return cleave_reader_fail (reader, at, error, "a shape has at most %d dimensions",
                                   CLEAVE_MAX_RANK);
      shape->dim[d] = g_ascii_strtoll (extents[d], &end, 10);
      shape->rank = d + 1;
      if (!g_ascii_isdigit (*extents[d]) || *end != '\0' || errno != 0)
        return cleave_reader_fail (reader, at, error,
                                   "expected a shape such as 1x3x8x8 or scalar, not '%s'", text);
    }
  return TRUE;
}

gboolean
cleave_reader_take_type (CleaveReader *reader, CleaveTensorType *type, GError **error)
{
  const char *begin = reader->at, *at;
  g_autofree char *element = cleave_reader_take_name (reader), *shape = NULL;
  GError *wrong = NULL;

  type->element = find_element (element);
  if (type->element == CLEAVE_NONE)
    return cleave_reader_fail (reader, begin, error, "'%s' is not an element type", element);
  cleave_reader_skip (reader);
  at = reader->at;
  shape = cleave_reader_take_name (reader);
  if (!take_shape (reader, at, shape, &type->shape, error))
    return FALSE;
  return cleave_tensor_type_check (type, &wrong) ||
         cleave_reader_fail_with (reader, begin, wrong, error);
}
