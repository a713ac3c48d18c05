/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Parses and writes .npy files: a header, which is text, and the elements. The header gives the
 * element type by its NumPy name, such as <f4 for float32 (descr), the order of the dimensions, and
 * the shape. */

#include "npy.h"

#include "arguments.h"
#include "standard.h"

#include <string.h>

/* A header may have at most this many bytes. A file with a larger header is an error. */
#define MAX_HEADER (64 * 1024)

static const char magic[] = "\x93NUMPY";

static const struct
{
  const char *descr;
  CleaveElement element;
} elements[] = {
  { "<f4", CLEAVE_FLOAT32 },  { "<f8", CLEAVE_FLOAT64 },  { "<f2", CLEAVE_FLOAT16 },
  { "<V2", CLEAVE_BFLOAT16 }, { "|V2", CLEAVE_BFLOAT16 }, { "|i1", CLEAVE_INT8 },
  { "<i2", CLEAVE_INT16 },    { "<i4", CLEAVE_INT32 },    { "<i8", CLEAVE_INT64 },
  { "|u1", CLEAVE_UINT8 },    { "<u2", CLEAVE_UINT16 },   { "<u4", CLEAVE_UINT32 },
  { "<u8", CLEAVE_UINT64 },   { "|b1", CLEAVE_BOOL },
};

/* The header of a file. For strings, `type` has one more dimension: the characters of a string. */
typedef struct
{
  CleaveTensorType type;
  gboolean is_fortran;
  gint64 n_characters; /* number of characters of each string; -1: the elements are numbers */
  gboolean is_wide;    /* the characters have 4 bytes (UTF-32) */
} Header;

/* The text of a header is a Python dictionary, such as {'descr': '<f4', 'fortran_order': False,
 * 'shape': (2, 3), } */

/* Returns the text after a key of a header and after the blanks that follow the key; NULL if the
 * header lacks the key. */
static const char *
find_key (const char *header, const char *key)
{
  g_autofree char *single = g_strdup_printf ("'%s':", key),
                  *twice = g_strdup_printf ("\"%s\":", key);
  const char *at = strstr (header, single);

  if (at == NULL)
    at = strstr (header, twice);
  if (at == NULL)
    return NULL;
  at = strchr (at, ':') + 1;
  return at + strspn (at, " ");
}

/* Reads the type of strings, such as "|S12" (bytes) or "<U12" (UTF-32). */
static gboolean
parse_text (const char *descr, Header *header)
{
  header->is_wide = g_str_has_prefix (descr, "<U");
  if ((!header->is_wide && !g_str_has_prefix (descr, "|S")) ||
      !g_ascii_string_to_signed (descr + 2, 10, 0, G_MAXINT32, &header->n_characters, NULL))
    return FALSE;
  header->type.element = header->is_wide ? CLEAVE_UINT32 : CLEAVE_UINT8;
  return TRUE;
}

static gboolean
parse_descr (const char *text, Header *header, GError **error)
{
  const char *at = find_key (text, "descr");
  g_autofree char *descr = NULL;

  if (at == NULL || (*at != '\'' && *at != '"') || strchr (at + 1, *at) == NULL)
    return cleave_argument_fail (error, "the .npy header has no simple element type");
  descr = g_strndup (at + 1, (gsize) (strchr (at + 1, *at) - at - 1));
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (g_str_equal (descr, elements[i].descr))
      {
        header->type.element = elements[i].element;
        header->n_characters = -1;
        return TRUE;
      }
  if (parse_text (descr, header))
    return TRUE;
  return cleave_argument_fail (error, "elements '%s' in a .npy file are not supported", descr);
}

static gboolean
parse_order (const char *header, gboolean *is_fortran, GError **error)
{
  const char *at = find_key (header, "fortran_order");

  if (at == NULL || !(g_str_has_prefix (at, "True") || g_str_has_prefix (at, "False")))
    return cleave_argument_fail (error, "the .npy header does not say fortran_order");
  *is_fortran = *at == 'T';
  return TRUE;
}

static gboolean
parse_shape (const char *header, CleaveShape *shape, GError **error)
{
  const char *at = find_key (header, "shape");
  g_autoptr (GString) numbers = g_string_new (NULL);

  if (at == NULL || *at++ != '(' || strchr (at, ')') == NULL)
    return cleave_argument_fail (error, "the .npy header has no shape");
  for (; *at != ')'; at++)
    if (*at != ' ')
      g_string_append_c (numbers, *at);
  if (g_str_has_suffix (numbers->str, ","))
    g_string_truncate (numbers, numbers->len - 1);
  return cleave_text_to_shape ("the .npy header", numbers->str, shape, error);
}

/* Returns the offset of the elements in a file, and sets `header` to the offset of the header's
 * text. Returns 0 if the bytes are not in the .npy format. */
static gsize
find_data (const guint8 *data, gsize size, gsize *header)
{
  gsize length;

  if (size < 10 || memcmp (data, magic, 6) != 0 || data[6] < 1 || data[6] > 3)
    return 0;
  length = (gsize) data[8] | (gsize) data[9] << 8;
  *header = 10;
  if (data[6] > 1)
    {
      if (size < 12)
        return 0;
      length |= (gsize) data[10] << 16 | (gsize) data[11] << 24;
      *header = 12;
    }
  return length > MAX_HEADER || length > size - *header ? 0 : *header + length;
}

static gboolean
parse_header (const char *text, Header *header, GError **error)
{
  CleaveShape *shape = &header->type.shape;

  if (!parse_descr (text, header, error) || !parse_order (text, &header->is_fortran, error) ||
      !parse_shape (text, shape, error))
    return FALSE;
  if (header->n_characters >= 0 && (header->is_fortran || shape->rank == CLEAVE_MAX_RANK))
    return cleave_argument_fail (error,
                                 "strings in a .npy file must be row-major, with at most %d "
                                 "dimensions",
                                 CLEAVE_MAX_RANK - 1);
  if (header->n_characters >= 0)
    shape->dim[shape->rank++] = header->n_characters;
  return cleave_tensor_type_check (&header->type, error);
}

/* Converts strings from UTF-32 to UTF-8. Returns NULL on error. */
static CleaveTensor *
make_narrow (const CleaveTensorType *of, const guint8 *from, GError **error)
{
  CleaveTensorType type = *of;
  gint64 *n_bytes = &type.shape.dim[type.shape.rank - 1];
  const gsize n = (gsize) *n_bytes;
  CleaveTensor *tensor;

  type.element = CLEAVE_UINT8;
  *n_bytes *= 4;
  if (!cleave_tensor_type_check (&type, error))
    return NULL;
  tensor = cleave_tensor_new (&type, error);
  for (gint64 i = 0;
       tensor != NULL && n > 0 && i < cleave_shape_n_elements (&type.shape) / *n_bytes; i++)
    {
      char *to = (char *) cleave_tensor_get_mutable_data (tensor) + i * *n_bytes;

      memset (to, 0, 4 * n);
      for (gsize k = 0; k < n; k++)
        {
          gunichar character;

          memcpy (&character, from + ((gsize) i * n + k) * sizeof character, sizeof character);
          if (character == 0)
            break;
          to += g_unichar_to_utf8 (character < 0x110000 ? character : 0xfffd, to);
        }
    }
  return tensor;
}

/* Copies elements from Fortran order, where the first dimension is innermost. */
static void
copy_fortran (CleaveTensor *tensor, const guint8 *from)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  gsize size = cleave_element_size (type->element);
  gint64 index[CLEAVE_MAX_RANK] = { 0 }, n = cleave_shape_n_elements (&type->shape);
  guint8 *to = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < n; i++)
    {
      gint64 at = 0;

      for (guint d = type->shape.rank; d-- > 0;)
        at = at * type->shape.dim[d] + index[d];
      memcpy (to + (gsize) i * size, from + (gsize) at * size, size);
      for (guint d = type->shape.rank; d-- > 0 && ++index[d] == type->shape.dim[d];)
        index[d] = 0;
    }
}

CleaveTensor *
cleave_npy_parse (GBytes *bytes, GError **error)
{
  gsize size, header_at = 0, data_at;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  g_autofree char *text = NULL;
  Header header = { 0 };
  CleaveTensor *tensor;

  data_at = find_data (data, size, &header_at);
  if (data_at == 0)
    {
      cleave_argument_fail (error, "not a .npy file");
      return NULL;
    }
  text = g_strndup ((const char *) data + header_at, data_at - header_at);
  if (!parse_header (text, &header, error))
    return NULL;
  if (size - data_at != (gsize) cleave_tensor_type_n_bytes (&header.type))
    {
      cleave_argument_fail (
          error, "the .npy file has %" G_GSIZE_FORMAT " bytes of data, not %" G_GINT64_FORMAT,
          size - data_at, cleave_tensor_type_n_bytes (&header.type));
      return NULL;
    }
  if (header.is_wide)
    return make_narrow (&header.type, data + data_at, error);
  if (!header.is_fortran)
    return cleave_tensor_new_copy (&header.type, data + data_at, error);
  tensor = cleave_tensor_new (&header.type, error);
  if (tensor != NULL)
    copy_fortran (tensor, data + data_at);
  return tensor;
}

/* The functions below write .npy files. */

static const char *
get_descr (CleaveElement element)
{
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (elements[i].element == element)
      return elements[i].descr;
  g_assert_not_reached ();
}

/* Returns the header, padded so that the data begins at a multiple of 64 bytes. */
static GString *
make_header (const char *descr, const CleaveShape *shape)
{
  GString *header = g_string_new (NULL);

  g_string_append_printf (header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (guint d = 0; d < shape->rank; d++)
    g_string_append_printf (header, "%" G_GINT64_FORMAT ", ", shape->dim[d]);
  if (shape->rank > 1)
    g_string_truncate (header, header->len - 2);
  g_string_append (header, "), }");
  while ((10 + header->len + 1) % 64 != 0)
    g_string_append_c (header, ' ');
  g_string_append_c (header, '\n');
  return header;
}

static GBytes *
serialize (CleaveTensor *tensor, const GString *header)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (tensor);
  const CleaveTensorType *type = cleave_tensor_get_type (dense);
  gsize n_bytes = (gsize) cleave_tensor_type_n_bytes (type);
  guint8 *file = g_malloc (10 + header->len + n_bytes);
  const guint8 begin[10] = {
    0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (guint8) header->len, (guint8) (header->len >> 8)
  };

  memcpy (file, begin, sizeof begin);
  memcpy (file + 10, header->str, header->len);
  if (n_bytes > 0)
    memcpy (file + 10 + header->len, cleave_tensor_get_data (dense), n_bytes);
  return g_bytes_new_take (file, 10 + header->len + n_bytes);
}

GBytes *
cleave_npy_serialize (CleaveTensor *tensor)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  g_autoptr (GString) header = make_header (get_descr (type->element), &type->shape);

  return serialize (tensor, header);
}

GBytes *
cleave_npy_serialize_texts (CleaveTensor *tensor)
{
  CleaveShape shape = cleave_tensor_get_type (tensor)->shape;
  g_autofree char *descr = g_strdup_printf ("|S%" G_GINT64_FORMAT, shape.dim[shape.rank - 1]);
  g_autoptr (GString) header = NULL;

  shape.rank--;
  header = make_header (descr, &shape);
  return serialize (tensor, header);
}

CleaveTensor *
cleave_tensor_load (const char *path, const char *endings, GError **error)
{
  g_autofree char *data = NULL;
  g_autoptr (GBytes) bytes = NULL;
  CleaveTensor *tensor;
  gsize size;

  if (!g_str_has_suffix (path, ".npy") && !g_str_has_suffix (path, ".pb"))
    {
      cleave_argument_fail (error, "'%s' is not a tensor file: its name must end in %s", path,
                            endings);
      return NULL;
    }
  if (!cleave_read_file (path, &data, &size, error))
    return NULL;
  bytes = g_bytes_new_take (g_steal_pointer (&data), size);
  tensor = g_str_has_suffix (path, ".npy") ? cleave_npy_parse (bytes, error)
                                           : cleave_onnx_parse_tensor (bytes, error);
  if (tensor == NULL)
    g_prefix_error (error, "'%s': ", path);
  return tensor;
}
