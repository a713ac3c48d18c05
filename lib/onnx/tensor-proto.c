/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads TensorProtos: the element type, and the bytes in each of the forms that ONNX allows.
 *
 * Over 400 lines: this file has one function for each form. */

#include "tensor-proto.h"

#include <cleave/cleave-onnx.h>
#include <math.h>
#include <string.h>

#include "../ir/deferred-tensor.h"
#include "../ir/op.h"
#include "external-data.h"
#include "wire.h"

#if G_BYTE_ORDER != G_LITTLE_ENDIAN
#error "ONNX stores tensors little-endian"
#endif

/* first of the four numbers of 8-bit float types (17 to 20), which the schema of libonnx-dev lacks
 */
#define FLOAT8 17

static const struct
{
  const char *name; /* name of an element type that Cleave does not support; NULL: Cleave
                     * supports it as `element` */
  CleaveElement element;
} elements[] = {
  [ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT] = { .element = CLEAVE_FLOAT32 },
  [ONNX__TENSOR_PROTO__DATA_TYPE__UINT8] = { .element = CLEAVE_UINT8 },
  [ONNX__TENSOR_PROTO__DATA_TYPE__INT8] = { .element = CLEAVE_INT8 },
  [ONNX__TENSOR_PROTO__DATA_TYPE__UINT16] = { .element = CLEAVE_UINT16 },
  [ONNX__TENSOR_PROTO__DATA_TYPE__INT16] = { .element = CLEAVE_INT16 },
  [ONNX__TENSOR_PROTO__DATA_TYPE__INT32] = { .element = CLEAVE_INT32 },
  [ONNX__TENSOR_PROTO__DATA_TYPE__INT64] = { .element = CLEAVE_INT64 },
  [ONNX__TENSOR_PROTO__DATA_TYPE__STRING] = { .name = "string" },
  [ONNX__TENSOR_PROTO__DATA_TYPE__BOOL] = { .element = CLEAVE_BOOL },
  [ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16] = { .element = CLEAVE_FLOAT16 },
  [ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE] = { .element = CLEAVE_FLOAT64 },
  [ONNX__TENSOR_PROTO__DATA_TYPE__UINT32] = { .element = CLEAVE_UINT32 },
  [ONNX__TENSOR_PROTO__DATA_TYPE__UINT64] = { .element = CLEAVE_UINT64 },
  [ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX64] = { .name = "complex64" },
  [ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX128] = { .name = "complex128" },
  [ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16] = { .element = CLEAVE_BFLOAT16 },
  [17] = { .name = "float8e4m3fn" },
  [18] = { .name = "float8e4m3fnuz" },
  [19] = { .name = "float8e5m2" },
  [20] = { .name = "float8e5m2fnuz" },
  [CLEAVE_ONNX_UINT4] = { .name = "uint4" },
  [CLEAVE_ONNX_INT4] = { .name = "int4" },
};

gboolean
cleave_onnx_element (gint64 number, CleaveElement *element, GError **error)
{
  if (number <= 0 || number >= (gint64) G_N_ELEMENTS (elements))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "unknown element type %" G_GINT64_FORMAT,
                        number);
  if (elements[number].element == CLEAVE_NONE)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "element type %s is not supported",
                        elements[number].name);
  *element = elements[number].element;
  return TRUE;
}

int
cleave_onnx_element_number (CleaveElement element)
{
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (elements[i].element == element && element != CLEAVE_NONE)
      return (int) i;
  g_assert_not_reached ();
}

/* Returns a tensor of the bytes. Copies bytes from an address that is not aligned for the element
 * type, as may happen in a file. */
static CleaveTensor *
tensor_of_bytes (const CleaveTensorType *type, GBytes *bytes, GError **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  if ((guintptr) data % cleave_element_size (type->element) != 0)
    return cleave_tensor_new_copy (type, data, error);
  return cleave_tensor_new_from_bytes (type, bytes, error);
}

static CleaveTensor *
tensor_of_external (const Onnx__TensorProto *proto,
                    const CleaveTensorType *type,
                    CleaveOnnxFolder *folder,
                    GError **error)
{
  guint64 n_bytes = (guint64) cleave_tensor_type_n_bytes (type);
  g_autoptr (GBytes) bytes = cleave_onnx_read_external (proto, n_bytes, folder, error);

  return bytes == NULL ? NULL : tensor_of_bytes (type, bytes, error);
}

/* The functions below read data in the model file. */

/* A list of a TensorProto that may hold its elements, such as `int32_data`. */
typedef struct
{
  void **data;
  size_t *n;
  gsize size; /* bytes of an entry of the list */
  const char *name;
} List;

static List
find_list (Onnx__TensorProto *proto, CleaveElement element)
{
  if (element == CLEAVE_FLOAT32)
    return (List){ (void **) &proto->float_data, &proto->n_float_data, 4, "float_data" };
  if (element == CLEAVE_FLOAT64)
    return (List){ (void **) &proto->double_data, &proto->n_double_data, 8, "double_data" };
  if (element == CLEAVE_INT64)
    return (List){ (void **) &proto->int64_data, &proto->n_int64_data, 8, "int64_data" };
  if (element == CLEAVE_UINT64 || element == CLEAVE_UINT32)
    return (List){ (void **) &proto->uint64_data, &proto->n_uint64_data, 8, "uint64_data" };
  return (List){ (void **) &proto->int32_data, &proto->n_int32_data, 4, "int32_data" };
}

/* Moves a list of `*n` entries of `size` bytes out of a message. Returns the bytes, and sets
 * `*data` to NULL and `*n` to 0. */
static GBytes *
steal (void **data, size_t *n, gsize size)
{
  void *block = *data;
  gsize n_bytes = *n * size;

  *data = NULL;
  *n = 0;
  return block == NULL ? g_bytes_new (NULL, 0)
                       : g_bytes_new_with_free_func (block, n_bytes, free, block);
}

/* Converts a list whose entries have more bytes than the elements of the tensor. Returns NULL and
 * the error if a value does not fit. */
static GBytes *
narrow_list (const List *list, CleaveElement element, GError **error)
{
  gsize size = cleave_element_size (element);
  g_autofree guint8 *data = g_malloc (*list->n * size + 1);
  gint64 limit = G_GINT64_CONSTANT (1) << (8 * size);

  for (size_t i = 0; i < *list->n; i++)
    {
      gint64 value = list->size == 8 ? ((gint64 *) *list->data)[i] : ((gint32 *) *list->data)[i];

      if (value < -limit / 2 || value >= limit)
        return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                                 "%s has %" G_GINT64_FORMAT ", which does not fit %s", list->name,
                                 value, cleave_element_get_name (element));
      memcpy (data + i * size, &value, size);
    }
  return g_bytes_new_take (g_steal_pointer (&data), *list->n * size);
}

static GBytes *
bytes_of_list (Onnx__TensorProto *proto, const CleaveTensorType *type, GError **error)
{
  List list = find_list (proto, type->element);
  gint64 n = cleave_shape_n_elements (&type->shape);

  if ((guint64) *list.n != (guint64) n)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "%s has %" G_GSIZE_FORMAT
                             " elements, but its shape takes %" G_GINT64_FORMAT,
                             list.name, (gsize) *list.n, n);
  if (list.size == cleave_element_size (type->element))
    return steal (list.data, list.n, list.size);
  return narrow_list (&list, type->element, error);
}

static GBytes *
bytes_of_raw (Onnx__TensorProto *proto, const CleaveTensorType *type, GError **error)
{
  if ((guint64) proto->raw_data.len != (guint64) cleave_tensor_type_n_bytes (type))
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "raw_data has %" G_GSIZE_FORMAT
                             " bytes, but its type takes %" G_GINT64_FORMAT,
                             (gsize) proto->raw_data.len, cleave_tensor_type_n_bytes (type));
  return steal ((void **) &proto->raw_data.data, &proto->raw_data.len, 1);
}

gboolean
cleave_onnx_read_dims (const int64_t *dims, gsize n_dims, CleaveShape *shape, GError **error)
{
  if (n_dims > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "rank %" G_GSIZE_FORMAT " is more than %d",
                        n_dims, CLEAVE_MAX_RANK);
  shape->rank = (guint) n_dims;
  for (guint d = 0; d < shape->rank; d++)
    {
      if (dims[d] < 0)
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "dimension %u is %" G_GINT64_FORMAT, d,
                            (gint64) dims[d]);
      shape->dim[d] = dims[d];
    }
  return TRUE;
}

static gboolean
read_type (const Onnx__TensorProto *proto, CleaveTensorType *type, GError **error)
{
  *type = (CleaveTensorType){ 0 };
  if (!cleave_onnx_element (proto->has_data_type ? proto->data_type : 0, &type->element, error))
    return FALSE;
  return cleave_onnx_read_dims (proto->dims, proto->n_dims, &type->shape, error) &&
         cleave_tensor_type_check (type, error);
}

static CleaveTensor *
read_data (Onnx__TensorProto *proto,
           const CleaveTensorType *type,
           CleaveOnnxFolder *folder,
           GError **error)
{
  g_autoptr (GBytes) bytes = NULL;

  if (proto->segment != NULL)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "tensors in segments are not supported");
  if (proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
    return tensor_of_external (proto, type, folder, error);
  bytes =
      proto->has_raw_data ? bytes_of_raw (proto, type, error) : bytes_of_list (proto, type, error);
  return bytes == NULL ? NULL : tensor_of_bytes (type, bytes, error);
}

/* Elements of 4 bits, two in a byte: the first element is in the low half. A deferred tensor
 * converts them to one byte each when it is first read. */
typedef struct
{
  CleaveTensor *packed;
  gint64 n;
  gboolean is_signed;
} Halves;

static void
halves_free (gpointer data)
{
  cleave_tensor_unref (((Halves *) data)->packed);
  g_free (data);
}

static void
fill_halves (gpointer to, gpointer data)
{
  const Halves *halves = data;
  const guint8 *from = cleave_tensor_get_data (halves->packed);

  for (gint64 i = 0; i < halves->n; i++)
    {
      guint half = i % 2 == 0 ? from[i / 2] & 15 : from[i / 2] >> 4;

      ((guint8 *) to)[i] = (guint8) (halves->is_signed && half > 7 ? half + 240 : half);
    }
}

/* Returns a tensor with one byte for each element of 4 bits; NULL on error. */
static CleaveTensor *
read_halves (Onnx__TensorProto *proto, CleaveOnnxFolder *folder, GError **error)
{
  gboolean is_signed = proto->data_type == CLEAVE_ONNX_INT4;
  CleaveTensorType type;
  g_autoptr (CleaveTensor) packed = NULL;
  Halves halves = { .is_signed = is_signed };
  CleaveTensor *tensor;

  proto->data_type =
      is_signed ? ONNX__TENSOR_PROTO__DATA_TYPE__INT8 : ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
  if (!read_type (proto, &type, error))
    return NULL;
  halves.n = cleave_shape_n_elements (&type.shape);
  packed = read_data (proto, &CLEAVE_TYPE (CLEAVE_UINT8, (halves.n + 1) / 2), folder, error);
  if (packed == NULL)
    return NULL;
  halves.packed = cleave_tensor_ref (packed);
  tensor = cleave_tensor_new_deferred (&type, fill_halves, g_memdup2 (&halves, sizeof halves),
                                       halves_free, error);
  if (tensor != NULL)
    cleave_tensor_set_bits (tensor, is_signed ? CLEAVE_BITS_INT4 : CLEAVE_BITS_UINT4, packed);
  return tensor;
}

/* The four types of 8-bit floats, indexed by the ONNX number of the type minus FLOAT8. */
static const struct
{
  int n_fraction, bias;
  gboolean is_unsigned_zero; /* whether the name of the type ends in "fnuz": the bits of -0 are the
                              * only NaN, and there is no infinity */
} floats8[] = { { 3, 7, FALSE }, { 3, 8, TRUE }, { 2, 15, FALSE }, { 2, 16, TRUE } };

static float
load_float8 (guint kind, guint8 bits)
{
  const int n = floats8[kind].n_fraction;
  const int fraction = bits & ((1 << n) - 1), exponent = (bits & 0x7f) >> n;
  float value;

  if (floats8[kind].is_unsigned_zero && bits == 0x80)
    return NAN;
  if (!floats8[kind].is_unsigned_zero && n == 3 && (bits & 0x7f) == 0x7f)
    return NAN;
  if (!floats8[kind].is_unsigned_zero && n == 2 && exponent == 31)
    value = fraction == 0 ? INFINITY : NAN;
  else if (exponent == 0)
    value = ldexpf ((float) fraction, 1 - floats8[kind].bias - n);
  else
    value = ldexpf ((float) (fraction + (1 << n)), exponent - floats8[kind].bias - n);
  return (bits & 0x80) != 0 ? -value : value;
}

/* Returns a tensor of 32-bit floats, converted from 8-bit floats; NULL on error. */
static CleaveTensor *
read_floats8 (Onnx__TensorProto *proto, CleaveOnnxFolder *folder, GError **error)
{
  const guint kind = (guint) proto->data_type - FLOAT8;
  CleaveTensorType type;
  g_autoptr (CleaveTensor) packed = NULL;
  CleaveTensor *tensor;
  gint64 n;

  proto->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
  packed = read_type (proto, &type, error) ? read_data (proto, &type, folder, error) : NULL;
  type.element = CLEAVE_FLOAT32;
  if (packed == NULL || !cleave_tensor_type_check (&type, error))
    return NULL;
  tensor = cleave_tensor_new (&type, error);
  n = tensor == NULL ? 0 : cleave_shape_n_elements (&type.shape);
  for (gint64 i = 0; i < n; i++)
    ((float *) cleave_tensor_get_mutable_data (tensor))[i] =
        load_float8 (kind, ((const guint8 *) cleave_tensor_get_data (packed))[i]);
  return tensor;
}

/* Checks that each bool is 0 or 1, as kernels assume. */
static gboolean
check_bool (const CleaveTensor *tensor, GError **error)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  const guint8 *data = cleave_tensor_get_data (tensor);
  gint64 n = cleave_shape_n_elements (&type->shape);

  for (gint64 i = 0; type->element == CLEAVE_BOOL && i < n; i++)
    if (data[i] > 1)
      return cleave_fail (error, CLEAVE_ERROR_MODEL,
                          "element %" G_GINT64_FORMAT " is %d, but a bool is 0 or 1", i, data[i]);
  return TRUE;
}

CleaveTensor *
cleave_onnx_tensor (Onnx__TensorProto *proto, CleaveOnnxFolder *folder, GError **error)
{
  CleaveTensorType type;
  g_autoptr (CleaveTensor) tensor =
      read_type (proto, &type, error) ? read_data (proto, &type, folder, error) : NULL;

  if (tensor != NULL && check_bool (tensor, error))
    return g_steal_pointer (&tensor);
  g_prefix_error (error, "tensor '%s': ", proto->name == NULL ? "" : proto->name);
  return NULL;
}

CleaveTensor *
cleave_onnx_initializer (Onnx__TensorProto *proto,
                         CleaveOnnxFolder *folder,
                         CleaveOnnxForm *form,
                         GError **error)
{
  const gint64 number = proto->has_data_type ? proto->data_type : 0;
  CleaveTensor *tensor;

  *form = number == CLEAVE_ONNX_UINT4 || number == CLEAVE_ONNX_INT4 ? CLEAVE_ONNX_FORM_HALVES
          : number >= FLOAT8 && number < FLOAT8 + (gint64) G_N_ELEMENTS (floats8)
              ? CLEAVE_ONNX_FORM_FLOAT8
              : CLEAVE_ONNX_FORM_SAME;
  if (*form == CLEAVE_ONNX_FORM_SAME)
    return cleave_onnx_tensor (proto, folder, error);
  tensor = *form == CLEAVE_ONNX_FORM_HALVES ? read_halves (proto, folder, error)
                                            : read_floats8 (proto, folder, error);
  if (tensor == NULL)
    g_prefix_error (error, "tensor '%s': ", proto->name == NULL ? "" : proto->name);
  return tensor;
}

/**
 * cleave_onnx_parse_tensor:
 * @bytes: a serialized `TensorProto`, such as the `.pb` files of ONNX's own tests
 * @error: return location for a [struct@GLib.Error]
 *
 * Reads a tensor.
 *
 * Fails with %CLEAVE_ERROR_MODEL if the bytes are not a tensor, if Cleave does not support its
 * element type, or if its data lies in another file.
 *
 * Returns: (transfer full) (nullable): the tensor, or %NULL on error
 *
 * Since: 0.1
 */
CleaveTensor *
cleave_onnx_parse_tensor (GBytes *bytes, GError **error)
{
  Onnx__TensorProto *proto;
  CleaveTensor *tensor;

  g_return_val_if_fail (bytes != NULL, NULL);
  proto = cleave_wire_unpack (&onnx__tensor_proto__descriptor, bytes, FALSE, "ONNX tensor", error);
  if (proto == NULL)
    return NULL;
  tensor = cleave_onnx_tensor (proto, NULL, error);
  onnx__tensor_proto__free_unpacked (proto, NULL);
  return tensor;
}
