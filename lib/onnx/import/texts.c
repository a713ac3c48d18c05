/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The table of strings of the dynamic part (texts.h), and the checks of nodes that move or compare
 * strings. */

#include "texts.h"
#include "node.h"

#include <string.h>

struct CleaveOnnxTexts
{
  GPtrArray *texts;    /* char *, indexed by the string's number; the table owns the strings */
  GHashTable *numbers; /* maps a string to 1 plus its number in `texts` */
};

void
cleave_onnx_texts_free (CleaveOnnxTexts *texts)
{
  g_hash_table_unref (texts->numbers);
  g_ptr_array_unref (texts->texts);
  g_free (texts);
}

gint64
cleave_onnx_text_number (CleaveOnnxImport *import, const char *text)
{
  CleaveOnnxTexts *texts = import->texts;
  guint number;
  char *copy;

  if (texts == NULL)
    {
      texts = import->texts = g_new0 (CleaveOnnxTexts, 1);
      texts->texts = g_ptr_array_new_with_free_func (g_free);
      texts->numbers = g_hash_table_new (g_str_hash, g_str_equal);
      cleave_onnx_text_number (import, "");
    }
  number = GPOINTER_TO_UINT (g_hash_table_lookup (texts->numbers, text));
  if (number > 0)
    return number - 1;
  copy = g_strdup (text);
  g_ptr_array_add (texts->texts, copy);
  g_hash_table_insert (texts->numbers, copy, GUINT_TO_POINTER (texts->texts->len));
  return texts->texts->len - 1;
}

const char *
cleave_onnx_text (const CleaveOnnxImport *import, gint64 number)
{
  const CleaveOnnxTexts *texts = import->texts;

  return texts == NULL || number < 0 || number >= texts->texts->len ? ""
                                                                    : texts->texts->pdata[number];
}

/* The functions below are for tensors of strings. */

gboolean
cleave_onnx_is_text_tensor (const Onnx__TensorProto *proto)
{
  return proto->has_data_type && proto->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
}

static gboolean
read_shape (const Onnx__TensorProto *proto, CleaveTensorType *type, GError **error)
{
  gint64 n = 1;

  *type = (CleaveTensorType){ .element = CLEAVE_INT64 };
  if (proto->n_dims > CLEAVE_MAX_RANK)
    return cleave_fail (
        error, CLEAVE_ERROR_MODEL, "tensor '%s' has %" G_GSIZE_FORMAT " dimensions, more than %d",
        proto->name == NULL ? "" : proto->name, (gsize) proto->n_dims, CLEAVE_MAX_RANK);
  type->shape.rank = (guint) proto->n_dims;
  for (size_t d = 0; d < proto->n_dims; d++)
    {
      if (proto->dims[d] < 0 || (proto->dims[d] > 0 && n > G_MAXINT32 / proto->dims[d]))
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "tensor '%s' has a wrong shape",
                            proto->name == NULL ? "" : proto->name);
      type->shape.dim[d] = proto->dims[d];
      n *= proto->dims[d];
    }
  return (gsize) n == proto->n_string_data ||
         cleave_fail (error, CLEAVE_ERROR_MODEL,
                      "tensor '%s' has %" G_GSIZE_FORMAT " strings, not %" G_GINT64_FORMAT,
                      proto->name == NULL ? "" : proto->name, (gsize) proto->n_string_data, n);
}

CleaveOnnxValue *
cleave_onnx_text_constant (CleaveOnnxImport *import,
                           const char *name,
                           const Onnx__TensorProto *proto,
                           GError **error)
{
  CleaveTensorType type;
  CleaveTensor *tensor = read_shape (proto, &type, error) ? cleave_tensor_new (&type, error) : NULL;
  gint64 *numbers;
  CleaveOnnxValue *value;

  if (tensor == NULL)
    return NULL;
  numbers = cleave_tensor_get_mutable_data (tensor);
  for (size_t i = 0; i < proto->n_string_data; i++)
    {
      const ProtobufCBinaryData *bytes = &proto->string_data[i];
      g_autofree char *text =
          g_strndup (bytes->len == 0 ? "" : (const char *) bytes->data, bytes->len);

      numbers[i] = cleave_onnx_text_number (import, text);
    }
  value = cleave_onnx_value_new_constant (import, name, tensor);
  value->is_text = TRUE;
  return value;
}

CleaveTensor *
cleave_onnx_texts_to_bytes (CleaveOnnxImport *import, CleaveTensor *numbers, GError **error)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (numbers);
  CleaveTensorType type = *cleave_tensor_get_type (dense);
  const gint64 *number = cleave_tensor_get_data (dense);
  const gint64 n = cleave_shape_n_elements (&type.shape);
  gsize longest = 1;
  CleaveTensor *bytes;

  if (type.shape.rank == CLEAVE_MAX_RANK)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "an output of strings may have at most %d dimensions",
                             CLEAVE_MAX_RANK - 1);
  for (gint64 i = 0; i < n; i++)
    longest = MAX (longest, strlen (cleave_onnx_text (import, number[i])));
  type.element = CLEAVE_UINT8;
  type.shape.dim[type.shape.rank++] = (gint64) longest;
  bytes = cleave_tensor_new (&type, error);
  for (gint64 i = 0; bytes != NULL && i < n; i++)
    {
      const char *text = cleave_onnx_text (import, number[i]);
      char *to = (char *) cleave_tensor_get_mutable_data (bytes) + (gsize) i * longest;

      memset (to, 0, longest);
      memcpy (to, text, strlen (text));
    }
  return bytes;
}

CleaveTensor *
cleave_onnx_texts_from_bytes (CleaveOnnxImport *import,
                              const char *name,
                              CleaveTensor *bytes,
                              GError **error)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (bytes);
  CleaveTensorType type = *cleave_tensor_get_type (dense);
  CleaveTensor *numbers;
  gsize longest;

  if (type.element != CLEAVE_UINT8 || type.shape.rank == 0)
    return cleave_fail_null (
        error, CLEAVE_ERROR_OPTION,
        "input '%s' has strings: give their bytes as uint8, with one dimension "
        "more",
        name);
  longest = (gsize) type.shape.dim[--type.shape.rank];
  type.element = CLEAVE_INT64;
  numbers = cleave_tensor_new (&type, error);
  for (gint64 i = 0; numbers != NULL && i < cleave_shape_n_elements (&type.shape); i++)
    {
      const char *from = (const char *) cleave_tensor_get_data (dense) + (gsize) i * longest;
      g_autofree char *text = g_strndup (from, longest);

      ((gint64 *) cleave_tensor_get_mutable_data (numbers))[i] =
          cleave_onnx_text_number (import, text);
    }
  return numbers;
}

/* The functions below are for nodes that read strings. */

gboolean
cleave_onnx_reads_texts (const CleaveOnnxNode *node)
{
  for (guint i = 0; i < node->operands->len; i++)
    {
      const CleaveOnnxValue *value = node->operands->pdata[i];

      if (value != NULL && value->is_text)
        return TRUE;
    }
  return FALSE;
}

/* Ops that only move elements or compare them for equality. These ops also work on tensors in which
 * a number stands for each string (texts.h). */
static const char *const movers[] = { "Compress",
                                      "Concat",
                                      "Equal",
                                      "Expand",
                                      "Flatten",
                                      "Gather",
                                      "GatherElements",
                                      "GatherND",
                                      "Identity",
                                      "If",
                                      "Loop",
                                      "Reshape",
                                      "Reverse",
                                      "ReverseSequence",
                                      "Scan",
                                      "Scatter",
                                      "ScatterElements",
                                      "ScatterND",
                                      "Shape",
                                      "Size",
                                      "Slice",
                                      "Split",
                                      "Squeeze",
                                      "Tile",
                                      "Transpose",
                                      "Trilu",
                                      "Unsqueeze",
                                      "Where",
                                      NULL };

gboolean
cleave_onnx_check_texts (const CleaveOnnxNode *node, GError **error)
{
  return !cleave_onnx_reads_texts (node) || g_strv_contains (movers, node->op) ||
         cleave_onnx_node_fail (node, error, "it reads strings, but computes with numbers");
}

void
cleave_onnx_mark_texts (const CleaveOnnxNode *node)
{
  static const char *const to_numbers[] = { "Equal", "Shape", "Size", NULL };

  if (!cleave_onnx_reads_texts (node) || g_strv_contains (to_numbers, node->op))
    return;
  for (guint i = 0; i < node->values->len; i++)
    ((CleaveOnnxValue *) node->values->pdata[i])->is_text = TRUE;
}
