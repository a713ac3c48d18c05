/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Collects JSON with the builder of json-glib, and formats it as text in which an array of numbers
 * takes one line. */

#include "json.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct _CleaveJson
{
  JsonBuilder *builder;
};

CleaveJson *
cleave_json_new (void)
{
  CleaveJson *json = g_new0 (CleaveJson, 1);

  json->builder = json_builder_new ();
  return json;
}

void
cleave_json_free (CleaveJson *json)
{
  g_object_unref (json->builder);
  g_free (json);
}

/* Returns the length in bytes of the array that `text` begins with. Returns 0 if the array has
 * elements other than numbers and arrays of numbers. */
static gsize
get_numbers_length (const char *text)
{
  guint depth = 0;

  for (const char *c = text; *c != '\0' && strchr ("{}\"ntf", *c) == NULL; c++)
    {
      depth += *c == '[';
      depth -= *c == ']';
      if (depth == 0)
        return (gsize) (c - text) + 1;
    }
  return 0;
}

/* Returns the length in bytes, with quotes, of the string that `text` begins with. */
static gsize
get_string_length (const char *text)
{
  const char *c = text + 1;

  while (*c != '"' && *c != '\0')
    c += *c == '\\' && c[1] != '\0' ? 2 : 1;
  return (gsize) (c - text) + (*c != '\0');
}

/* Appends an array of numbers on one line. */
static void
append_numbers (GString *line, const char *text, gsize length)
{
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isspace (text[i]))
      {
        g_string_append_c (line, text[i]);
        if (text[i] == ',')
          g_string_append_c (line, ' ');
      }
}

/* Returns the JSON as formatted text. Puts each element of an object or a list on a line of its
 * own. Puts a list of numbers, such as a shape or a range, on one line. */
char *
cleave_json_to_string (CleaveJson *json)
{
  g_autoptr (JsonNode) root = json_builder_get_root (json->builder);
  g_autofree char *text = json_to_string (root, TRUE);
  GString *lines = g_string_new (NULL);

  for (const char *c = text; *c != '\0';)
    {
      gsize numbers = *c == '[' ? get_numbers_length (c) : 0;
      gsize plain = *c == '"' ? get_string_length (c) : 1;

      if (numbers > 0)
        append_numbers (lines, c, numbers);
      else
        g_string_append_len (lines, c, (gssize) plain);
      c += numbers > 0 ? numbers : plain;
    }
  g_string_append_c (lines, '\n');
  return g_string_free (lines, FALSE);
}

void
cleave_json_print (CleaveJson *json)
{
  g_autofree char *text = NULL;

  cleave_json_end (json);
  text = cleave_json_to_string (json);
  fputs (text, stdout);
}

char *
cleave_json_to_compact_string (CleaveJson *json)
{
  g_autoptr (JsonNode) root = json_builder_get_root (json->builder);

  return json_to_string (root, FALSE);
}

static JsonBuilder *
name (CleaveJson *json, const char *text)
{
  if (text != NULL)
    json_builder_set_member_name (json->builder, text);
  return json->builder;
}

void
cleave_json_begin (CleaveJson *json, const char *text)
{
  json_builder_begin_object (name (json, text));
}

void
cleave_json_end (CleaveJson *json)
{
  json_builder_end_object (json->builder);
}

void
cleave_json_begin_list (CleaveJson *json, const char *text)
{
  json_builder_begin_array (name (json, text));
}

void
cleave_json_end_list (CleaveJson *json)
{
  json_builder_end_array (json->builder);
}

void
cleave_json_string (CleaveJson *json, const char *text, const char *value)
{
  g_autofree char *valid = g_utf8_make_valid (value, -1);

  json_builder_add_string_value (name (json, text), valid);
}

void
cleave_json_int (CleaveJson *json, const char *text, gint64 value)
{
  json_builder_add_int_value (name (json, text), value);
}

/* Writes null for infinities and NaNs, which JSON does not have. */
void
cleave_json_double (CleaveJson *json, const char *text, double value)
{
  if (isfinite (value))
    json_builder_add_double_value (name (json, text), value);
  else
    json_builder_add_null_value (name (json, text));
}

void
cleave_json_bool (CleaveJson *json, const char *text, gboolean value)
{
  json_builder_add_boolean_value (name (json, text), value);
}

void
cleave_json_type (CleaveJson *json, const CleaveTensorType *type)
{
  cleave_json_string (json, "type", cleave_element_get_name (type->element));
  cleave_json_begin_list (json, "shape");
  for (guint d = 0; d < type->shape.rank; d++)
    cleave_json_int (json, NULL, type->shape.dim[d]);
  cleave_json_end_list (json);
}

void
cleave_json_range (CleaveJson *json, const char *text, const CleaveRange *range)
{
  cleave_json_begin_list (json, text);
  for (guint d = 0; d < range->rank; d++)
    {
      cleave_json_begin_list (json, NULL);
      cleave_json_int (json, NULL, range->dim[d].begin);
      cleave_json_int (json, NULL, range->dim[d].end);
      cleave_json_end_list (json);
    }
  cleave_json_end_list (json);
}
