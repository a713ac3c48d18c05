/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Functions for the attribute struct of any op, by the op's attribute table (CleaveAttr): defaults,
 * copies, equality, hash. Only the files attrs*.c, and the ONNX importer and exporter, switch over
 * the kinds of attributes. */

#include "attrs.h"

#include <string.h>

#include "deferred-tensor.h"

/* Returns the size of a field in the attribute struct, in bytes. */

static guint
field_size (CleaveAttrKind kind)
{
  switch (kind)
    {
    case CLEAVE_ATTR_END:
      return 0;
    case CLEAVE_ATTR_INT:
      return sizeof (gint64);
    case CLEAVE_ATTR_BOOL:
      return sizeof (gboolean);
    case CLEAVE_ATTR_ENUM:
    case CLEAVE_ATTR_ELEMENT:
      return sizeof (int);
    case CLEAVE_ATTR_DOUBLE:
      return sizeof (double);
    case CLEAVE_ATTR_INTS:
    case CLEAVE_ATTR_ENUMS:
      return sizeof (CleaveInts);
    case CLEAVE_ATTR_DOUBLES:
      return sizeof (CleaveDoubles);
    case CLEAVE_ATTR_ARRAY:
    case CLEAVE_ATTR_RANGES:
    case CLEAVE_ATTR_STRING:
    case CLEAVE_ATTR_TENSOR:
      return sizeof (gpointer);
    case CLEAVE_ATTR_TYPE:
      return sizeof (CleaveTensorType);
    }
  g_assert_not_reached ();
}

void
cleave_attrs_init (const CleaveOp *op, gpointer attrs)
{
  if (op->attrs_size == 0)
    return;
  memset (attrs, 0, op->attrs_size);
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    {
      gpointer field = cleave_attr_field (attr, attrs);

      if (attr->kind == CLEAVE_ATTR_INT)
        *(gint64 *) field = (gint64) attr->fallback;
      else if (attr->kind == CLEAVE_ATTR_DOUBLE)
        *(double *) field = attr->fallback;
      else if (attr->kind == CLEAVE_ATTR_BOOL || attr->kind == CLEAVE_ATTR_ENUM ||
               attr->kind == CLEAVE_ATTR_ELEMENT)
        *(int *) field = (int) attr->fallback;
    }
}

gpointer
cleave_attrs_copy (const CleaveOp *op, gconstpointer attrs)
{
  gpointer copy;

  if (op->attrs_size == 0)
    return NULL;
  copy = g_malloc0 (op->attrs_size);
  if (attrs == NULL)
    {
      cleave_attrs_init (op, copy);
      return copy;
    }
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    {
      gpointer to = cleave_attr_field (attr, copy);

      memcpy (to, cleave_attr_const_field (attr, attrs), field_size (attr->kind));
      if (attr->kind == CLEAVE_ATTR_TENSOR && *(CleaveTensor **) to != NULL)
        cleave_tensor_ref (*(CleaveTensor **) to);
      if ((attr->kind == CLEAVE_ATTR_ARRAY || attr->kind == CLEAVE_ATTR_RANGES) &&
          *(GArray **) to != NULL)
        g_array_ref (*(GArray **) to);
      if (attr->kind == CLEAVE_ATTR_STRING)
        *(char **) to = g_strdup (*(char **) to);
    }
  return copy;
}

void
cleave_attr_swap (const CleaveAttr *attr, gpointer a, gpointer b)
{
  guint8 kept[MAX (MAX (sizeof (CleaveInts), sizeof (CleaveDoubles)), sizeof (CleaveTensorType))];
  guint size = field_size (attr->kind);

  memcpy (kept, cleave_attr_field (attr, a), size);
  memcpy (cleave_attr_field (attr, a), cleave_attr_field (attr, b), size);
  memcpy (cleave_attr_field (attr, b), kept, size);
}

void
cleave_attrs_free (const CleaveOp *op, gpointer attrs)
{
  if (attrs == NULL)
    return;
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    {
      gpointer field = cleave_attr_field (attr, attrs);

      if (attr->kind == CLEAVE_ATTR_TENSOR)
        cleave_tensor_unref (*(CleaveTensor **) field);
      if (attr->kind == CLEAVE_ATTR_ARRAY || attr->kind == CLEAVE_ATTR_RANGES)
        g_clear_pointer ((GArray **) field, g_array_unref);
      if (attr->kind == CLEAVE_ATTR_STRING)
        g_free (*(char **) field);
    }
  g_free (attrs);
}

/* The functions below compare and hash attribute structs. */

/* Returns the bytes of a field's value, for kinds of attributes that can be compared as bytes. Sets
 * `n` to the number of bytes, or to G_MAXSIZE if the value is absent. Returns NULL for a type,
 * ranges or a tensor. Doubles are compared by their bits: 0 differs from -0, and a NaN equals
 * itself. */
static gconstpointer
get_bytes (const CleaveAttr *attr, gconstpointer field, gsize *n)
{
  const GArray *array;

  switch (attr->kind)
    {
    case CLEAVE_ATTR_INT:
    case CLEAVE_ATTR_BOOL:
    case CLEAVE_ATTR_ENUM:
    case CLEAVE_ATTR_ELEMENT:
    case CLEAVE_ATTR_DOUBLE:
      *n = field_size (attr->kind);
      return field;
    case CLEAVE_ATTR_INTS:
    case CLEAVE_ATTR_ENUMS:
      *n = ((const CleaveInts *) field)->n * sizeof (gint64);
      return ((const CleaveInts *) field)->v;
    case CLEAVE_ATTR_DOUBLES:
      *n = ((const CleaveDoubles *) field)->n * sizeof (double);
      return ((const CleaveDoubles *) field)->v;
    case CLEAVE_ATTR_ARRAY:
      array = *(GArray *const *) field;
      *n = array == NULL ? G_MAXSIZE : array->len * sizeof (gint64);
      return array == NULL || array->len == 0 ? field : (gconstpointer) array->data;
    case CLEAVE_ATTR_STRING:
      *n = *(char *const *) field == NULL ? G_MAXSIZE : strlen (*(char *const *) field);
      return *n == G_MAXSIZE ? field : *(gconstpointer const *) field;
    case CLEAVE_ATTR_RANGES:
    case CLEAVE_ATTR_TYPE:
    case CLEAVE_ATTR_TENSOR:
    case CLEAVE_ATTR_END:
      break;
    }
  return NULL;
}

static gboolean
ranges_equal (const GArray *a, const GArray *b)
{
  if (a == b)
    return TRUE;
  if (a == NULL || b == NULL || a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    if (!cleave_range_equal (&g_array_index (a, CleaveRange, i),
                             &g_array_index (b, CleaveRange, i)))
      return FALSE;
  return TRUE;
}

static gboolean
field_equal (const CleaveAttr *attr, gconstpointer a, gconstpointer b)
{
  gsize n = 0, n_others = 0;
  gconstpointer bytes = get_bytes (attr, a, &n), others = get_bytes (attr, b, &n_others);
  const CleaveTensor *x, *y;

  if (bytes != NULL)
    return n == n_others && (n == G_MAXSIZE || memcmp (bytes, others, n) == 0);
  if (attr->kind == CLEAVE_ATTR_RANGES)
    return ranges_equal (*(GArray *const *) a, *(GArray *const *) b);
  if (attr->kind == CLEAVE_ATTR_TYPE)
    return cleave_tensor_type_equal (a, b);
  x = *(CleaveTensor *const *) a;
  y = *(CleaveTensor *const *) b;
  return x == y || (x != NULL && y != NULL && cleave_tensor_equal (x, y));
}

gboolean
cleave_attrs_equal (const CleaveOp *op, gconstpointer a, gconstpointer b)
{
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (!field_equal (attr, cleave_attr_const_field (attr, a), cleave_attr_const_field (attr, b)))
      return FALSE;
  return TRUE;
}

static guint
hash_bytes (guint hash, gconstpointer bytes, gsize n)
{
  for (gsize i = 0; i < n; i++)
    hash = (hash ^ ((const guint8 *) bytes)[i]) * 16777619u;
  return hash;
}

static guint
hash_ranges (guint hash, const GArray *ranges)
{
  for (guint i = 0; ranges != NULL && i < ranges->len; i++)
    {
      const CleaveRange *range = &g_array_index (ranges, CleaveRange, i);

      hash = hash_bytes (hash, range->dim, range->rank * sizeof (CleaveSpan));
    }
  return hash;
}

/* The hash of a tensor reads at most this many elements, so that large weights take little time.
 * cleave_attrs_equal() compares all elements. */
#define N_HASHED 64

static guint
hash_elements (guint hash, const CleaveTensor *tensor)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  gsize size = cleave_element_size (type->element);

  hash = hash_bytes (hash, type->shape.dim, type->shape.rank * sizeof (gint64));
  for (gint64 i = 0; i < MIN (cleave_shape_n_elements (&type->shape), N_HASHED); i++)
    {
      gint64 at = 0, rest = i;

      for (guint d = type->shape.rank; d > 0; rest /= type->shape.dim[--d])
        at += rest % type->shape.dim[d - 1] * cleave_tensor_get_strides (tensor)[d - 1];
      hash = hash_bytes (hash, (const char *) cleave_tensor_get_data (tensor) + at * (gint64) size,
                         size);
    }
  return hash;
}

/* Returns `hash` combined with the hash of a tensor. Does not unpack a tensor whose elements need 4
 * bits. */
static guint
hash_tensor (guint hash, const CleaveTensor *tensor)
{
  g_autoptr (CleaveTensor) packed = NULL;

  if (tensor == NULL)
    return hash;
  if (cleave_tensor_get_bits (tensor) == CLEAVE_BITS_8 ||
      cleave_shape_n_elements (&cleave_tensor_get_type (tensor)->shape) % 2 != 0)
    return hash_elements (hash, tensor);
  packed = cleave_tensor_dup_packed (tensor);
  return hash_elements (hash, packed);
}

guint
cleave_attrs_hash (const CleaveOp *op, gconstpointer attrs)
{
  guint hash = 2166136261u;

  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    {
      gconstpointer field = cleave_attr_const_field (attr, attrs), bytes;
      gsize n;

      bytes = get_bytes (attr, field, &n);
      if (bytes != NULL)
        hash = hash_bytes (hash, bytes, n == G_MAXSIZE ? 0 : n);
      else if (attr->kind == CLEAVE_ATTR_TENSOR)
        hash = hash_tensor (hash, *(CleaveTensor *const *) field);
      else if (attr->kind == CLEAVE_ATTR_RANGES)
        hash = hash_ranges (hash, *(GArray *const *) field);
      else
        hash = hash_bytes (hash, ((const CleaveTensorType *) field)->shape.dim,
                           ((const CleaveTensorType *) field)->shape.rank * sizeof (gint64));
    }
  return hash;
}

gboolean
cleave_attr_is_default (const CleaveAttr *attr, gconstpointer attrs)
{
  gconstpointer field = cleave_attr_const_field (attr, attrs);

  switch (attr->kind)
    {
    case CLEAVE_ATTR_INT:
      return *(const gint64 *) field == (gint64) attr->fallback;
    case CLEAVE_ATTR_BOOL:
    case CLEAVE_ATTR_ENUM:
      return *(const int *) field == (int) attr->fallback;
    case CLEAVE_ATTR_DOUBLE:
      /* Compare the bits of the doubles, so that a NaN equals itself. */
      /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
      return memcmp (field, &attr->fallback, sizeof (double)) == 0;
    case CLEAVE_ATTR_INTS:
    case CLEAVE_ATTR_ENUMS:
      return ((const CleaveInts *) field)->n == 0;
    case CLEAVE_ATTR_DOUBLES:
      return ((const CleaveDoubles *) field)->n == 0;
    case CLEAVE_ATTR_ARRAY:
    case CLEAVE_ATTR_RANGES:
    case CLEAVE_ATTR_STRING:
    case CLEAVE_ATTR_TENSOR:
      return *(const gconstpointer *) field == NULL;
    case CLEAVE_ATTR_ELEMENT:
      return *(const CleaveElement *) field == CLEAVE_NONE;
    case CLEAVE_ATTR_TYPE:
      return FALSE;
    case CLEAVE_ATTR_END:
      break;
    }
  g_assert_not_reached ();
}
