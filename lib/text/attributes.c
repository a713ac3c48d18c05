/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the attributes of a node from the text form of a graph, and stores them in the op's struct
 * of attributes. Accepts the form that cleave_attrs_print() writes. */

#include "reader.h"

#include <string.h>

#include "../ir/literal.h"
#include "../ir/text.h"

static gboolean
find_name (const CleaveAttr *attr, const char *text, gint64 *value, GError **error)
{
  for (guint i = 0; attr->names[i] != NULL; i++)
    if (g_str_equal (attr->names[i], text))
      {
        *value = i;
        return TRUE;
      }
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has no value '%s'", attr->name, text);
}

static gboolean
parse_enum (const CleaveAttr *attr, const char *text, int *value, GError **error)
{
  gint64 number = 0;

  if (!find_name (attr, text, &number, error))
    return FALSE;
  *value = (int) number;
  return TRUE;
}

static gboolean
check_length (const CleaveAttr *attr, guint n, GError **error)
{
  return n <= 2 * CLEAVE_MAX_RANK ||
         cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has more than %d entries", attr->name,
                      2 * CLEAVE_MAX_RANK);
}

static gboolean
parse_enums (const CleaveAttr *attr, const char *text, CleaveInts *enums, GError **error)
{
  g_auto (GStrv) names = g_strsplit (text, ",", -1);

  if (!check_length (attr, g_strv_length (names), error))
    return FALSE;
  for (enums->n = 0; names[enums->n] != NULL; enums->n++)
    if (!find_name (attr, names[enums->n], &enums->v[enums->n], error))
      return FALSE;
  return TRUE;
}

static gboolean
parse_ints (const CleaveAttr *attr, const char *text, CleaveInts *ints, GError **error)
{
  g_autoptr (GArray) list = cleave_text_to_ints (attr->name, text, error);

  if (list == NULL || !check_length (attr, list->len, error))
    return FALSE;
  ints->n = list->len;
  memcpy (ints->v, list->data, list->len * sizeof (gint64));
  return TRUE;
}

static gboolean
parse_real (const CleaveAttr *attr, const char *text, double *value, GError **error)
{
  return cleave_literal_parse_real (text, value) ||
         cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s expects a number, not '%s'", attr->name,
                      text);
}

static gboolean
parse_reals (const CleaveAttr *attr, const char *text, CleaveDoubles *reals, GError **error)
{
  g_auto (GStrv) numbers = g_strsplit (text, ",", -1);

  if (!check_length (attr, g_strv_length (numbers), error))
    return FALSE;
  for (reals->n = 0; numbers[reals->n] != NULL; reals->n++)
    if (!parse_real (attr, numbers[reals->n], &reals->v[reals->n], error))
      return FALSE;
  return TRUE;
}

static gboolean
parse_element (const CleaveAttr *attr, const char *text, CleaveElement *element, GError **error)
{
  for (*element = CLEAVE_NONE + 1; *element < CLEAVE_N_ELEMENTS; (*element)++)
    if (g_str_equal (cleave_element_get_name (*element), text))
      return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s: '%s' is not an element type", attr->name,
                      text);
}

static gboolean
parse_string (const CleaveAttr *attr, const char *text, char **string, GError **error)
{
  *string = cleave_literal_parse_name (text);
  return *string != NULL ||
         cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s: the quotes do not end", attr->name);
}

/* Reads a tensor in brackets, such as `[float32 2=1,2]`. */
static gboolean
parse_tensor (CleaveReader *reader,
              const CleaveAttr *attr,
              const char *text,
              CleaveTensor **tensor,
              GError **error)
{
  CleaveReader inner = { .text = text, .at = text };
  g_autofree char *elements = NULL;
  CleaveTensorType type;
  gsize n = strlen (text);

  if (n < 2 || *text != '[' || text[n - 1] != ']')
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "%s expects a tensor such as [float32 2=0.5,1], not '%s'", attr->name,
                        text);
  inner.at++;
  if (!cleave_reader_take_type (&inner, &type, error))
    return FALSE;
  if (!cleave_reader_take (&inner, "="))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s: the elements are missing", attr->name);
  elements = g_strndup (inner.at, (gsize) (text + n - 1 - inner.at));
  *tensor = cleave_read_elements (reader, &type, elements, error);
  return *tensor != NULL;
}

static gboolean
parse_array (const CleaveAttr *attr, const char *text, GArray **array, GError **error)
{
  *array = *text == '\0'                      ? g_array_new (FALSE, FALSE, sizeof (gint64))
           : attr->kind == CLEAVE_ATTR_RANGES ? cleave_text_to_ranges (attr->name, text, error)
                                              : cleave_text_to_ints (attr->name, text, error);
  return *array != NULL;
}

static gboolean
parse_field (
    CleaveReader *reader, const CleaveAttr *attr, const char *text, gpointer field, GError **error)
{
  gint64 flag;

  switch (attr->kind)
    {
    case CLEAVE_ATTR_INT:
      return cleave_text_to_int (attr->name, text, G_MININT64, G_MAXINT64, field, error);
    case CLEAVE_ATTR_BOOL:
      if (!cleave_text_to_int (attr->name, text, 0, 1, &flag, error))
        return FALSE;
      *(gboolean *) field = (gboolean) flag;
      return TRUE;
    case CLEAVE_ATTR_ENUM:
      return parse_enum (attr, text, field, error);
    case CLEAVE_ATTR_ENUMS:
      return parse_enums (attr, text, field, error);
    case CLEAVE_ATTR_DOUBLE:
      return parse_real (attr, text, field, error);
    case CLEAVE_ATTR_INTS:
      return parse_ints (attr, text, field, error);
    case CLEAVE_ATTR_DOUBLES:
      return parse_reals (attr, text, field, error);
    case CLEAVE_ATTR_ARRAY:
    case CLEAVE_ATTR_RANGES:
      return parse_array (attr, text, field, error);
    case CLEAVE_ATTR_STRING:
      return parse_string (attr, text, field, error);
    case CLEAVE_ATTR_ELEMENT:
      return parse_element (attr, text, field, error);
    case CLEAVE_ATTR_TENSOR:
      return parse_tensor (reader, attr, text, field, error);
    case CLEAVE_ATTR_TYPE: /* The type of an Input is not in the attributes: cleave_text_line_read()
                            * reads it as the type of a result. */
    case CLEAVE_ATTR_END:
      break;
    }
  g_assert_not_reached ();
}

/* Returns whether the attributes end at the reader's position: the next word begins the types or a
 * name, or the line ends. */
static gboolean
is_end (const CleaveReader *reader)
{
  return cleave_reader_is_end (reader) ||
         (*reader->at == ':' && (reader->at[1] == ' ' || reader->at[1] == '\n'));
}

static gboolean
read_word (
    CleaveReader *reader, const CleaveOp *op, gpointer attrs, GHashTable *given, GError **error)
{
  const char *begin = reader->at;
  g_autofree char *word = cleave_reader_take_word (reader);
  char *value = strchr (word, '=');
  GError *wrong = NULL;

  if (value == NULL)
    return cleave_reader_fail (reader, begin, error, "expected name=value or ':', not '%s'", word);
  *value++ = '\0';
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (g_str_equal (attr->name, word))
      {
        if (!g_hash_table_add (given, (gpointer) attr))
          return cleave_reader_fail (reader, begin, error, "%s is given twice", word);
        return parse_field (reader, attr, value, cleave_attr_field (attr, attrs), &wrong) ||
               cleave_reader_fail_with (reader, begin, wrong, error);
      }
  return cleave_reader_fail (reader, begin, error, "%s has no attribute '%s'", op->name, word);
}

/* Passes the words of the attributes to the op's own parser, `parse`. */
static gboolean
read_own (CleaveReader *reader, const CleaveOp *op, gpointer attrs, GError **error)
{
  const char *begin = reader->at;
  g_autoptr (GString) text = g_string_new (NULL);
  GError *wrong = NULL;

  for (; !is_end (reader); cleave_reader_skip (reader))
    {
      g_autofree char *word = cleave_reader_take_word (reader);

      g_string_append_printf (text, "%s%s", text->len == 0 ? "" : " ", word);
    }
  return text->len == 0 || op->parse (text->str, attrs, &wrong) ||
         cleave_reader_fail_with (reader, begin, wrong, error);
}

gboolean
cleave_read_attributes (CleaveReader *reader, const CleaveOp *op, gpointer attrs, GError **error)
{
  g_autoptr (GHashTable) given = g_hash_table_new (NULL, NULL);

  if (op->parse != NULL)
    return read_own (reader, op, attrs, error);
  for (; !is_end (reader); cleave_reader_skip (reader))
    if (!read_word (reader, op, attrs, given, error))
      return FALSE;
  return TRUE;
}
