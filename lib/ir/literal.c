/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints and parses elements, real attributes and names. Parsing a printed text gives the same
 * bits. */

#include "literal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "error.h"

static const guint float_elements = 1u << CLEAVE_FLOAT32 | 1u << CLEAVE_FLOAT64;
static const guint half_elements = 1u << CLEAVE_FLOAT16 | 1u << CLEAVE_BFLOAT16;
static const guint signed_elements =
    1u << CLEAVE_INT8 | 1u << CLEAVE_INT16 | 1u << CLEAVE_INT32 | 1u << CLEAVE_INT64;

static gboolean
is_in (CleaveElement element, guint elements)
{
  return (elements >> element & 1) != 0;
}

/* load() reads an element of `size` bytes into the lower bytes of a word; store() writes it back.
 */

static guint64
load (gconstpointer data, gsize size)
{
  guint8 u8;
  guint16 u16;
  guint32 u32;
  guint64 u64;

  switch (size)
    {
    case 1:
      memcpy (&u8, data, 1);
      return u8;
    case 2:
      memcpy (&u16, data, 2);
      return u16;
    case 4:
      memcpy (&u32, data, 4);
      return u32;
    default:
      memcpy (&u64, data, 8);
      return u64;
    }
}

static void
store (gpointer data, gsize size, guint64 bits)
{
  const guint8 u8 = (guint8) bits;
  const guint16 u16 = (guint16) bits;
  const guint32 u32 = (guint32) bits;

  memcpy (data,
          size == 1   ? (gconstpointer) &u8
          : size == 2 ? (gconstpointer) &u16
          : size == 4 ? (gconstpointer) &u32
                      : (gconstpointer) &bits,
          size);
}

static guint64
float_bits (CleaveElement element, double value)
{
  const float single = (float) value;

  return element == CLEAVE_FLOAT32 ? load (&single, 4) : load (&value, 8);
}

static double
float_value (CleaveElement element, guint64 bits)
{
  float single;
  double value;

  store (&single, 4, bits);
  store (&value, 8, bits);
  return element == CLEAVE_FLOAT32 ? (double) single : value;
}

static gint64
sign_extended (guint64 bits, gsize size)
{
  guint shift = 64 - 8 * (guint) size;

  return (gint64) (bits << shift) >> shift;
}

/* Prints a decimal number of 6, 9, 15 or 17 digits: the shortest one that is parsed to the same
 * bits. Prints a NaN as its bits. */
static void
print_float (CleaveElement element, guint64 bits, GString *out)
{
  static const char *const formats[] = { "%.6g", "%.9g", "%.15g", "%.17g" };
  double value = float_value (element, bits);
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < G_N_ELEMENTS (formats) && !isnan (value); i++)
    {
      g_ascii_formatd (text, sizeof text, formats[i], value);
      if (float_bits (element, g_ascii_strtod (text, NULL)) == bits)
        {
          g_string_append (out, text);
          return;
        }
    }
  g_string_append_printf (out, "0x%" G_GINT64_MODIFIER "x", bits);
}

static void
print_element (CleaveElement element, gconstpointer data, GString *out)
{
  gsize size = cleave_element_size (element);
  guint64 bits = load (data, size);

  if (is_in (element, float_elements))
    print_float (element, bits, out);
  else if (is_in (element, half_elements))
    g_string_append_printf (out, "0x%" G_GINT64_MODIFIER "x", bits);
  else if (is_in (element, signed_elements))
    g_string_append_printf (out, "%" G_GINT64_FORMAT, sign_extended (bits, size));
  else
    g_string_append_printf (out, "%" G_GUINT64_FORMAT, bits);
}

static gboolean
is_splat (const guint8 *data, gsize size, gint64 n)
{
  for (gint64 i = 1; i < n; i++)
    if (memcmp (data, data + (gsize) i * size, size) != 0)
      return FALSE;
  return TRUE;
}

void
cleave_literal_print (CleaveTensor *tensor, GString *out)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (tensor);
  const CleaveTensorType *type = cleave_tensor_get_type (dense);
  const guint8 *data = cleave_tensor_get_data (dense);
  gsize size = cleave_element_size (type->element);
  gint64 n = cleave_shape_n_elements (&type->shape);

  if (n > 1 && is_splat (data, size, n))
    n = 1;
  for (gint64 i = 0; i < n; i++)
    {
      g_string_append (out, i == 0 ? "" : ",");
      print_element (type->element, data + (gsize) i * size, out);
    }
}

static gboolean
parse_whole (CleaveElement element, const char *text, char **end, guint64 *bits)
{
  gsize size = cleave_element_size (element);
  gint64 value;

  if (is_in (element, signed_elements))
    {
      value = g_ascii_strtoll (text, end, 10);
      *bits = (guint64) value;
      return sign_extended (*bits, size) == value;
    }
  *bits = g_ascii_strtoull (text, end, 10);
  if (element == CLEAVE_BOOL)
    return *text != '-' && *bits <= 1;
  return *text != '-' && (size == 8 || *bits >> 8 * size == 0);
}

/* Parses the element at the start of a text into `bits`, and moves `text` to the end of the
 * element. Returns FALSE if the text does not begin with an element. */
static gboolean
parse_element (CleaveElement element, const char **text, guint64 *bits)
{
  gsize size = cleave_element_size (element);
  char *end = (char *) *text;
  gboolean good = !g_ascii_isspace (**text) && **text != '+';

  errno = 0;
  if (good && g_str_has_prefix (*text, "0x"))
    {
      *bits = g_ascii_strtoull (*text, &end, 16);
      good = (size == 8 || *bits >> 8 * size == 0) && (element != CLEAVE_BOOL || *bits <= 1);
    }
  else if (good && is_in (element, float_elements))
    *bits = float_bits (element, g_ascii_strtod (*text, &end));
  else
    good = good && !is_in (element, half_elements) && parse_whole (element, *text, &end, bits);
  good = good && end != *text && (errno == 0 || is_in (element, float_elements)) &&
         (*end == ',' || *end == '\0');
  *text = end;
  return good;
}

CleaveTensor *
cleave_literal_parse (const CleaveTensorType *type, const char *text, GError **error)
{
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (type, error);
  gint64 n = cleave_shape_n_elements (&type->shape), i = 0;
  gsize size = cleave_element_size (type->element);
  guint8 *data = tensor == NULL ? NULL : cleave_tensor_get_mutable_data (tensor);

  if (tensor == NULL)
    return NULL;
  for (const char *at = text; *at != '\0'; i++)
    {
      g_autofree char *rest = g_strndup (at, strcspn (at, ","));
      guint64 bits;

      if (!parse_element (type->element, &at, &bits))
        return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "'%s' is no %s", rest,
                                 cleave_element_get_name (type->element));
      if (i < n)
        store (data + (gsize) i * size, size, bits);
      if (*at == ',' && *++at == '\0')
        return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "nothing comes after the last comma");
    }
  if (i != n && !(i == 1 && n > 1))
    return cleave_fail_null (
        error, CLEAVE_ERROR_MODEL,
        "%" G_GINT64_FORMAT " elements are given, but the tensor has %" G_GINT64_FORMAT, i, n);
  for (gint64 k = 1; i == 1 && k < n; k++)
    memcpy (data + (gsize) k * size, data, size);
  return g_steal_pointer (&tensor);
}

/* The functions below print and parse real attributes. */

static guint
count_digits (const char *text)
{
  guint n = 0;

  for (; *text != '\0' && *text != 'e' && *text != 'E'; text++)
    n += g_ascii_isdigit (*text) && (n > 0 || *text != '0') ? 1 : 0;
  return n;
}

gboolean
cleave_literal_parse_real (const char *text, double *value)
{
  char *end = NULL;

  if (g_ascii_isspace (*text))
    return FALSE;
  if (g_str_has_prefix (text, "0x"))
    {
      *value = float_value (CLEAVE_FLOAT64, g_ascii_strtoull (text, &end, 16));
      return *end == '\0';
    }
  *value = g_ascii_strtod (text, &end);
  if (count_digits (text) == 9)
    *value = (double) (float) *value;
  return end != text && *end == '\0';
}

void
cleave_literal_print_real (double value, GString *out)
{
  static const char *const formats[] = { "%.9g", "%.15g", "%.17g" };
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  double again;

  for (guint i = 0; i < G_N_ELEMENTS (formats) && !isnan (value); i++)
    {
      g_ascii_formatd (text, sizeof text, formats[i], value);
      if (cleave_literal_parse_real (text, &again) && load (&again, 8) == load (&value, 8))
        {
          g_string_append (out, text);
          return;
        }
    }
  g_string_append_printf (out, "0x%" G_GINT64_MODIFIER "x", load (&value, 8));
}

/* The functions below print and parse names. */

void
cleave_literal_print_name (const char *name, const char *special, GString *out)
{
  gsize n = strlen (name);
  gboolean plain = n > 0 && *name != '"' && *name != ' ' && name[n - 1] != ' ';
  char others[129];
  g_autofree char *escaped = NULL;

  for (gsize i = 0; i < n; i++)
    plain = plain && !g_ascii_iscntrl (name[i]) && strchr (special, name[i]) == NULL;
  if (plain)
    {
      g_string_append (out, name);
      return;
    }
  for (guint i = 0; i < 128; i++) /* escape only ASCII characters, not the bytes of UTF-8 */
    others[i] = (char) (128 + i);
  others[128] = '\0';
  escaped = g_strescape (name, others);
  g_string_append_printf (out, "\"%s\"", escaped);
}

char *
cleave_literal_parse_name (const char *text)
{
  g_autofree char *inside = NULL;
  gsize n = strlen (text);
  gsize end = 1;

  if (*text != '"')
    return g_strdup (text);
  while (end < n && text[end] != '"')
    end += text[end] == '\\' && end + 1 < n ? 2 : 1;
  if (end >= n || end + 1 != n)
    return NULL;
  inside = g_strndup (text + 1, n - 2);
  return g_strcompress (inside);
}
