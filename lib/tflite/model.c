/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the tables of a TensorFlow Lite file, and checks them. The indices of fields come from the
 * schema of TensorFlow Lite (schema.fbs). */

#include "model.h"

#include <string.h>

#include "../ir/error.h"

/* Indices of the fields of each table of the schema that the import reads. */
enum { MODEL_VERSION, MODEL_CODES, MODEL_SUBGRAPHS, MODEL_DESCRIPTION, MODEL_BUFFERS };
enum { CODE_DEPRECATED, CODE_CUSTOM, CODE_VERSION, CODE_BUILTIN };
enum { SUBGRAPH_TENSORS, SUBGRAPH_INPUTS, SUBGRAPH_OUTPUTS, SUBGRAPH_OPERATORS };
enum { TENSOR_SHAPE, TENSOR_TYPE, TENSOR_BUFFER, TENSOR_NAME, TENSOR_QUANTIZATION };
enum { TENSOR_VARIABLE = 5, TENSOR_SPARSITY = 6 };
enum { QUANTIZATION_SCALE = 2, QUANTIZATION_ZERO, QUANTIZATION_DETAILS, QUANTIZATION_AXIS = 6 };
enum { OPERATOR_CODE, OPERATOR_INPUTS, OPERATOR_OUTPUTS, OPERATOR_OPTIONS_TYPE, OPERATOR_OPTIONS };
enum { OPERATOR_CUSTOM_OPTIONS = 5 };
enum { BUFFER_DATA, BUFFER_OFFSET, BUFFER_SIZE };

/* Element types of Cleave, indexed by TensorType of the schema. */
static const CleaveElement elements[] = {
  CLEAVE_FLOAT32, CLEAVE_FLOAT16, CLEAVE_INT32,  CLEAVE_UINT8,    CLEAVE_INT64,
  CLEAVE_NONE,    CLEAVE_BOOL,    CLEAVE_INT16,  CLEAVE_NONE,     CLEAVE_INT8,
  CLEAVE_FLOAT64, CLEAVE_NONE,    CLEAVE_UINT64, CLEAVE_NONE,     CLEAVE_NONE,
  CLEAVE_UINT32,  CLEAVE_UINT16,  CLEAVE_INT8,   CLEAVE_BFLOAT16,
};

/* Returns whether the bytes are a TensorFlow Lite file: the identifier TFL3 is at offset 4. */
static gboolean
is_tflite (const guint8 *data, gsize n_bytes)
{
  return n_bytes >= 8 && memcmp (data + 4, "TFL3", 4) == 0;
}

gint64
cleave_tflite_zero_point (const CleaveTfliteTensor *tensor, guint i)
{
  const CleaveFlatVector *zeros = &tensor->quantization.zeros;
  gint64 zero = i < zeros->n ? cleave_flat_integer (zeros, 8, i) : 0;

  /* Tensors of uint8 become int8, so subtract 128 from the zero point. If the zero point is outside
   * the range of uint8, return a number that later checks refuse. */
  return tensor->is_unsigned && zero >= 0 && zero <= G_MAXUINT8 ? zero - 128
         : tensor->is_unsigned                                  ? G_MAXINT32
                                                                : zero;
}

static void
clear_subgraph (CleaveTfliteSubgraph *subgraph)
{
  for (guint i = 0; i < subgraph->n_tensors; i++)
    g_free (subgraph->tensors[i].name);
  g_free (subgraph->tensors);
  g_free (subgraph->operators);
}

void
cleave_tflite_model_free (CleaveTfliteModel *model)
{
  for (guint i = 0; i < model->n_subgraphs; i++)
    clear_subgraph (&model->subgraphs[i]);
  for (guint i = 0; i < model->n_codes; i++)
    g_free (model->customs[i]);
  g_free (model->customs);
  g_free (model->subgraphs);
  g_free (model->description);
  g_free (model);
}

/* Reads the shape of a tensor. A free dimension has extent 1 in the file. */
static gboolean
read_shape (const CleaveFlatTable *table, CleaveShape *shape, GError **error)
{
  CleaveFlatVector dims;

  if (!cleave_flat_get_vector (table, TENSOR_SHAPE, 4, &dims, error))
    return FALSE;
  if (dims.n > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "it has %u dimensions, at most %d are supported",
                        dims.n, CLEAVE_MAX_RANK);
  shape->rank = dims.n;
  for (guint d = 0; d < dims.n; d++)
    {
      shape->dim[d] = cleave_flat_integer (&dims, 4, d);
      if (shape->dim[d] < 0)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "dimension %u has the extent %" G_GINT64_FORMAT, d, shape->dim[d]);
    }
  return TRUE;
}

/* Sets the bytes of a tensor's value to the bytes of its buffer. A tensor with an empty buffer,
 * such as buffer 0, is not a constant. */
static gboolean
read_buffer (CleaveFlat *flat,
             const CleaveFlatVector *buffers,
             gint64 index,
             CleaveTfliteTensor *tensor,
             GError **error)
{
  CleaveFlatTable table;
  CleaveFlatVector data;
  gint64 offset, size;

  if (index == 0)
    return TRUE;
  if (index >= buffers->n)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "it has buffer %" G_GINT64_FORMAT ", the file has %u buffers", index,
                        buffers->n);
  if (!cleave_flat_get_item (flat, buffers, (guint) index, &table, error) ||
      !cleave_flat_get_vector (&table, BUFFER_DATA, 1, &data, error) ||
      !cleave_flat_get_integer (&table, BUFFER_OFFSET, 8, 0, &offset, error) ||
      !cleave_flat_get_integer (&table, BUFFER_SIZE, 8, 0, &size, error))
    return FALSE;
  if (data.n == 0 && offset > 1) /* the data lies after the FlatBuffer */
    {
      if (size < 0 || (guint64) offset > flat->n_bytes ||
          (guint64) size > flat->n_bytes - (guint64) offset)
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "its buffer is beyond the file");
      data = (CleaveFlatVector){ flat->data + offset, 0 };
    }
  else
    size = data.n;
  tensor->data = size == 0 ? NULL : data.items;
  tensor->n_bytes = (gsize) size;
  return TRUE;
}

static gboolean
read_quantization (const CleaveFlatTable *tensor, CleaveTfliteQuantization *q, GError **error)
{
  CleaveFlatTable table;
  gint64 details;

  if (!cleave_flat_get_table (tensor, TENSOR_QUANTIZATION, &table, error) ||
      !cleave_flat_get_vector (&table, QUANTIZATION_SCALE, 4, &q->scales, error) ||
      !cleave_flat_get_vector (&table, QUANTIZATION_ZERO, 8, &q->zeros, error) ||
      !cleave_flat_get_integer (&table, QUANTIZATION_DETAILS, 1, 0, &details, error) ||
      !cleave_flat_get_integer (&table, QUANTIZATION_AXIS, 4, 0, &q->axis, error))
    return FALSE;
  if (details != 0)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "its kind of quantization is not supported");
  if (q->zeros.n != 0 && q->zeros.n != q->scales.n)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "it has %u scales and %u zero points",
                        q->scales.n, q->zeros.n);
  return TRUE;
}

static gboolean
read_tensor (CleaveFlat *flat,
             const CleaveFlatVector *buffers,
             const CleaveFlatTable *table,
             CleaveTfliteTensor *tensor,
             GError **error)
{
  gint64 buffer, is_variable;

  if (!cleave_flat_dup_string (table, TENSOR_NAME, &tensor->name, error) ||
      !read_shape (table, &tensor->type.shape, error) ||
      !cleave_flat_get_integer (table, TENSOR_TYPE, 1, 0, &tensor->type_code, error) ||
      !cleave_flat_get_integer (table, TENSOR_BUFFER, 4, 0, &buffer, error) ||
      !cleave_flat_get_integer (table, TENSOR_VARIABLE, 1, 0, &is_variable, error) ||
      !cleave_flat_get_table (table, TENSOR_SPARSITY, &tensor->sparsity, error) ||
      !read_quantization (table, &tensor->quantization, error))
    return FALSE;
  tensor->is_variable = is_variable != 0;
  if (tensor->type_code >= 0 && tensor->type_code < (gint64) G_N_ELEMENTS (elements))
    tensor->type.element = elements[tensor->type_code];
  tensor->is_unsigned = tensor->type.element == CLEAVE_UINT8 && tensor->quantization.scales.n > 0;
  if (tensor->is_unsigned)
    tensor->type.element = CLEAVE_INT8;
  if (tensor->type.element != CLEAVE_NONE && !cleave_tensor_type_check (&tensor->type, error))
    return FALSE;
  return read_buffer (flat, buffers, buffer & G_MAXUINT32, tensor, error);
}

static gboolean
read_tensors (CleaveTfliteModel *model,
              const CleaveFlatTable *table,
              CleaveTfliteSubgraph *subgraph,
              const CleaveFlatVector *buffers,
              GError **error)
{
  CleaveFlatVector list;

  if (!cleave_flat_get_vector (table, SUBGRAPH_TENSORS, 4, &list, error))
    return FALSE;
  subgraph->n_tensors = list.n;
  subgraph->tensors = g_new0 (CleaveTfliteTensor, list.n);
  for (guint i = 0; i < list.n; i++)
    {
      CleaveTfliteTensor *tensor = &subgraph->tensors[i];
      CleaveFlatTable item;

      if (cleave_flat_get_item (&model->flat, &list, i, &item, error) &&
          read_tensor (&model->flat, buffers, &item, tensor, error))
        continue;
      g_prefix_error (error, "tensor %u%s%s%s: ", i, tensor->name == NULL ? "" : " '",
                      tensor->name == NULL ? "" : tensor->name, tensor->name == NULL ? "" : "'");
      return FALSE;
    }
  return TRUE;
}

/* Reads the operator codes. In old files, a code below 127 is in another field. */
static gboolean
read_codes (CleaveTfliteModel *model, const CleaveFlatTable *root, guint **codes, GError **error)
{
  CleaveFlatVector list;

  if (!cleave_flat_get_vector (root, MODEL_CODES, 4, &list, error))
    return FALSE;
  model->n_codes = list.n;
  model->customs = g_new0 (char *, list.n);
  *codes = g_new0 (guint, list.n);
  for (guint i = 0; i < list.n; i++)
    {
      CleaveFlatTable table;
      gint64 old, new;

      if (!cleave_flat_get_item (&model->flat, &list, i, &table, error) ||
          !cleave_flat_get_integer (&table, CODE_DEPRECATED, 1, 0, &old, error) ||
          !cleave_flat_get_integer (&table, CODE_BUILTIN, 4, 0, &new, error) ||
          !cleave_flat_dup_string (&table, CODE_CUSTOM, &model->customs[i], error))
        return FALSE;
      (*codes)[i] = (guint) CLAMP (MAX (old, new), 0, G_MAXINT32);
    }
  return TRUE;
}

/* Checks that each item of a list is the index of a tensor, or -1 if `has_absent`. Sets the error
 * if not. */
static gboolean
check_indices (const CleaveTfliteSubgraph *subgraph,
               const CleaveFlatVector *list,
               gboolean has_absent,
               const char *name,
               GError **error)
{
  for (guint i = 0; i < list->n; i++)
    {
      gint64 index = cleave_flat_integer (list, 4, i);

      if (index < (has_absent ? -1 : 0) || index >= subgraph->n_tensors)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "%s %u is tensor %" G_GINT64_FORMAT ", the subgraph has %u tensors",
                            name, i, index, subgraph->n_tensors);
    }
  return TRUE;
}

static gboolean
read_operator (CleaveTfliteModel *model,
               const CleaveFlatTable *table,
               const guint *codes,
               const CleaveTfliteSubgraph *subgraph,
               CleaveTfliteOperator *op,
               GError **error)
{
  gint64 code;

  if (!cleave_flat_get_integer (table, OPERATOR_CODE, 4, 0, &code, error))
    return FALSE;
  code &= G_MAXUINT32;
  if (code >= model->n_codes)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "it has operator code %" G_GINT64_FORMAT ", the file has %u", code,
                        model->n_codes);
  op->code = codes[code];
  op->custom = op->code == CLEAVE_TFLITE_CUSTOM ? model->customs[code] : NULL;
  return cleave_flat_get_vector (table, OPERATOR_INPUTS, 4, &op->inputs, error) &&
         cleave_flat_get_vector (table, OPERATOR_OUTPUTS, 4, &op->outputs, error) &&
         check_indices (subgraph, &op->inputs, TRUE, "input", error) &&
         check_indices (subgraph, &op->outputs, FALSE, "output", error) &&
         cleave_flat_get_integer (table, OPERATOR_OPTIONS_TYPE, 1, 0, &op->options_type, error) &&
         cleave_flat_get_table (table, OPERATOR_OPTIONS, &op->options, error) &&
         cleave_flat_get_vector (table, OPERATOR_CUSTOM_OPTIONS, 1, &op->custom_options, error);
}

static gboolean
read_operators (CleaveTfliteModel *model,
                const CleaveFlatTable *table,
                const guint *codes,
                CleaveTfliteSubgraph *subgraph,
                GError **error)
{
  CleaveFlatVector list;

  if (!cleave_flat_get_vector (table, SUBGRAPH_OPERATORS, 4, &list, error))
    return FALSE;
  subgraph->n_operators = list.n;
  subgraph->operators = g_new0 (CleaveTfliteOperator, list.n);
  for (guint i = 0; i < list.n; i++)
    {
      CleaveFlatTable item;

      if (cleave_flat_get_item (&model->flat, &list, i, &item, error) &&
          read_operator (model, &item, codes, subgraph, &subgraph->operators[i], error))
        continue;
      g_prefix_error (error, "operator %u: ", i);
      return FALSE;
    }
  return TRUE;
}

static gboolean
read_subgraph (CleaveTfliteModel *model,
               const CleaveFlatTable *table,
               const CleaveFlatVector *buffers,
               const guint *codes,
               CleaveTfliteSubgraph *subgraph,
               GError **error)
{
  return read_tensors (model, table, subgraph, buffers, error) &&
         read_operators (model, table, codes, subgraph, error) &&
         cleave_flat_get_vector (table, SUBGRAPH_INPUTS, 4, &subgraph->inputs, error) &&
         cleave_flat_get_vector (table, SUBGRAPH_OUTPUTS, 4, &subgraph->outputs, error) &&
         check_indices (subgraph, &subgraph->inputs, FALSE, "graph input", error) &&
         check_indices (subgraph, &subgraph->outputs, FALSE, "graph output", error);
}

static gboolean
read_subgraphs (CleaveTfliteModel *model,
                const CleaveFlatTable *root,
                const CleaveFlatVector *buffers,
                const guint *codes,
                GError **error)
{
  CleaveFlatVector list;

  if (!cleave_flat_get_vector (root, MODEL_SUBGRAPHS, 4, &list, error))
    return FALSE;
  if (list.n == 0)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "the file has no subgraph");
  model->n_subgraphs = list.n;
  model->subgraphs = g_new0 (CleaveTfliteSubgraph, list.n);
  for (guint i = 0; i < list.n; i++)
    {
      CleaveFlatTable table;

      if (cleave_flat_get_item (&model->flat, &list, i, &table, error) &&
          read_subgraph (model, &table, buffers, codes, &model->subgraphs[i], error))
        continue;
      if (i > 0)
        g_prefix_error (error, "subgraph %u: ", i);
      return FALSE;
    }
  return TRUE;
}

static gboolean
read_root (CleaveTfliteModel *model, GError **error)
{
  g_autofree guint *codes = NULL;
  CleaveFlatTable root;
  CleaveFlatVector buffers;
  gint64 version;

  if (!cleave_flat_root (&model->flat, &root, error) ||
      !cleave_flat_get_integer (&root, MODEL_VERSION, 4, 0, &version, error))
    return FALSE;
  if (version != 3)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "the schema has version %" G_GINT64_FORMAT ", only 3 is supported",
                        version);
  return cleave_flat_dup_string (&root, MODEL_DESCRIPTION, &model->description, error) &&
         read_codes (model, &root, &codes, error) &&
         cleave_flat_get_vector (&root, MODEL_BUFFERS, 4, &buffers, error) &&
         read_subgraphs (model, &root, &buffers, codes, error);
}

CleaveTfliteModel *
cleave_tflite_model_new (const guint8 *data, gsize n_bytes, GError **error)
{
  g_autoptr (CleaveTfliteModel) model = NULL;

  if (!is_tflite (data, n_bytes))
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "a TensorFlow Lite file has the identifier TFL3 at byte 4, this one "
                             "has not");
  if (n_bytes > G_MAXINT32)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "the file is larger than 2 GiB");
  model = g_new0 (CleaveTfliteModel, 1);
  cleave_flat_init (&model->flat, data, n_bytes);
  return read_root (model, error) ? g_steal_pointer (&model) : NULL;
}
