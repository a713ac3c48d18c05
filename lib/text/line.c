/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads one line of a graph as text into a CleaveTextLine: results, op, operands, attributes,
 * types, names. */

#include "line.h"

#include <string.h>

#include "../ir/graph-private.h"
#include "../ir/literal.h"

void
cleave_text_line_init (CleaveTextLine *line)
{
  *line = (CleaveTextLine){
    .ids = g_ptr_array_new_with_free_func (g_free),
    .operands = g_ptr_array_new (),
    .value_names = g_ptr_array_new_with_free_func (g_free),
    .types = g_array_new (FALSE, FALSE, sizeof (CleaveTensorType)),
  };
}

void
cleave_text_line_clear (CleaveTextLine *line)
{
  g_ptr_array_unref (line->ids);
  g_ptr_array_unref (line->operands);
  g_ptr_array_unref (line->value_names);
  g_array_unref (line->types);
  if (line->op != NULL)
    cleave_attrs_free (line->op, line->attrs);
  cleave_read_constant_clear (&line->constant);
  g_free (line->name);
}

static char *
take_id (CleaveReader *reader, GError **error)
{
  const char *begin = reader->at;
  g_autofree char *next = cleave_reader_dup_next (reader), *id = NULL;

  if (cleave_reader_take (reader, "%"))
    id = cleave_reader_take_name (reader);
  if (id != NULL && *id != '\0')
    return g_steal_pointer (&id);
  cleave_reader_fail (reader, begin, error, "expected a value such as %%1, not %s", next);
  return NULL;
}

CleaveResult *
cleave_text_take_value (CleaveReader *reader, GHashTable *values, GError **error)
{
  const char *begin = reader->at;
  g_autofree char *id = take_id (reader, error);
  CleaveResult *result = id == NULL ? NULL : g_hash_table_lookup (values, id);

  if (id != NULL && result == NULL)
    cleave_reader_fail (reader, begin, error, "there is no value %%%s before this line", id);
  return result;
}

static gboolean
read_ids (CleaveReader *reader, GHashTable *values, CleaveTextLine *line, GError **error)
{
  g_autofree char *next = NULL;

  do
    {
      const char *begin;
      char *id;

      cleave_reader_skip (reader);
      begin = reader->at;
      id = take_id (reader, error);
      if (id == NULL)
        return FALSE;
      g_ptr_array_add (line->ids, id);
      if (g_hash_table_contains (values, id))
        return cleave_reader_fail (reader, begin, error, "there are two values %%%s", id);
      cleave_reader_skip (reader);
    }
  while (cleave_reader_take (reader, ","));
  next = cleave_reader_dup_next (reader);
  if (!cleave_reader_take (reader, "="))
    return cleave_reader_fail (reader, reader->at, error, "expected '=', not %s", next);
  cleave_reader_skip (reader);
  return TRUE;
}

static gboolean
read_op (CleaveReader *reader, CleaveTextLine *line, GError **error)
{
  g_autofree char *name = NULL;
  const CleaveOp *op;

  line->op_at = reader->at;
  name = cleave_reader_take_name (reader);
  op = cleave_op_lookup (name);
  if (op == NULL)
    return cleave_reader_fail (reader, line->op_at, error, "there is no op '%s'", name);
  if (op->compute == NULL && op->parse == NULL && op != &cleave_op_input)
    return cleave_reader_fail (reader, line->op_at, error, "a %s node cannot be read from a text",
                               name);
  line->op = op;
  line->attrs = cleave_attrs_copy (op, NULL);
  cleave_reader_skip (reader);
  return TRUE;
}

static gboolean
read_operands (CleaveReader *reader, GHashTable *values, CleaveTextLine *line, GError **error)
{
  if (*reader->at != '%' && *reader->at != '-')
    return TRUE;
  do
    {
      CleaveResult *value = NULL;

      cleave_reader_skip (reader);
      if (!cleave_reader_take (reader, "-"))
        {
          value = cleave_text_take_value (reader, values, error);
          if (value == NULL)
            return FALSE;
        }
      g_ptr_array_add (line->operands, value);
      cleave_reader_skip (reader);
    }
  while (cleave_reader_take (reader, ","));
  return TRUE;
}

static gboolean
read_types (CleaveReader *reader, CleaveTextLine *line, GError **error)
{
  line->types_at = reader->at;
  if (!cleave_reader_take (reader, ":"))
    return TRUE;
  do
    {
      CleaveTensorType type;

      cleave_reader_skip (reader);
      if (!cleave_reader_take_type (reader, &type, error))
        return FALSE;
      g_array_append_val (line->types, type);
      cleave_reader_skip (reader);
    }
  while (cleave_reader_take (reader, ","));
  if (line->types->len != line->ids->len)
    return cleave_reader_fail (reader, line->types_at, error, "%u types for %u results",
                               line->types->len, line->ids->len);
  return TRUE;
}

/* Returns the address of the first occurrence of `end` in the string `at`. If `end` does not occur,
 * returns the address of the end of the string. Skips a quoted part at the begin of the string. */
static const char *
find_end (const char *at, const char *end)
{
  const char *found;

  if (*at == '"')
    for (at++; *at != '"' && *at != '\0'; at++)
      at += *at == '\\' && at[1] != '\0';
  found = strstr (at, end);
  return found != NULL ? found : at + strlen (at);
}

char *
cleave_text_dup_name (const char *begin, const char *end)
{
  g_autofree char *raw = g_strstrip (g_strndup (begin, (gsize) (end - begin)));
  g_autofree char *name = cleave_literal_parse_name (raw);

  return name != NULL && g_utf8_validate (name, -1, NULL) ? g_steal_pointer (&name) : NULL;
}

static gboolean
read_value_names (CleaveTextLine *line, const char *at)
{
  for (;; at++)
    {
      const char *end = find_end (at + strspn (at, " "), ",");
      char *name = cleave_text_dup_name (at, end);

      if (name == NULL || line->value_names->len == line->ids->len)
        {
          g_free (name);
          return FALSE;
        }
      g_ptr_array_add (line->value_names, name);
      at = end;
      if (*at == '\0')
        return TRUE;
    }
}

static gboolean
read_names (CleaveReader *reader, CleaveTextLine *line, GError **error)
{
  g_autofree char *rest = NULL;
  const char *end;

  if (!cleave_reader_take (reader, "#"))
    return TRUE;
  cleave_reader_skip (reader);
  line->name_at = reader->at;
  rest = cleave_reader_take_rest (reader);
  end = find_end (rest, " -> ");
  line->name = cleave_text_dup_name (rest, end);
  if (line->name == NULL || (end == rest && *rest != '"'))
    return cleave_reader_fail (reader, line->name_at, error, "expected a name");
  return *end == '\0' || read_value_names (line, end + strlen (" -> ")) ||
         cleave_reader_fail (reader, line->name_at, error,
                             "expected at most %u names of values after '->'", line->ids->len);
}

gboolean
cleave_text_line_read (CleaveReader *reader,
                       GHashTable *values,
                       CleaveTextLine *line,
                       GError **error)
{
  g_autofree char *next = NULL;

  line->begin = reader->at;
  if (!read_ids (reader, values, line, error) || !read_op (reader, line, error) ||
      !read_operands (reader, values, line, error))
    return FALSE;
  if (line->op == &cleave_op_constant ? !cleave_read_constant_words (reader, &line->constant, error)
      : line->op != &cleave_op_input
          ? !cleave_read_attributes (reader, line->op, line->attrs, error)
          : FALSE)
    return FALSE;
  if (!read_types (reader, line, error))
    return FALSE;
  next = cleave_reader_dup_next (reader);
  if (!cleave_reader_is_end (reader))
    return cleave_reader_fail (reader, reader->at, error,
                               "expected ':', '#' or the end of the line, not %s", next);
  return read_names (reader, line, error);
}
