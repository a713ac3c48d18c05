/* SPDX-License-Identifier: GPL-2.0-or-later */

/* All that the attribute table drives.  The kinds are this file's own enum: nobody else switches
 * over them but import and export, which translate them. */

#include <string.h>

#include "op.h"

/* What lies in the struct, field by field. */

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

static const CleaveAttr *
attrs_of (const CleaveOp *op)
{
  static const CleaveAttr none = { 0 };

  return op->attrs == NULL ? &none : op->attrs;
}

void
cleave_attrs_init (const CleaveOp *op, gpointer attrs)
{
  if (op->attrs_size == 0)
    return;
  memset (attrs, 0, op->attrs_size);
  for (const CleaveAttr *attr = attrs_of (op); attr->name != NULL; attr++)
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
  for (const CleaveAttr *attr = attrs_of (op); attr->name != NULL; attr++)
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
cleave_attrs_free (const CleaveOp *op, gpointer attrs)
{
  if (attrs == NULL)
    return;
  for (const CleaveAttr *attr = attrs_of (op); attr->name != NULL; attr++)
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

/* Equality and hash. */

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
array_equal (const GArray *a, const GArray *b)
{
  if (a == b)
    return TRUE;
  return a != NULL && b != NULL && a->len == b->len &&
         (a->len == 0 || memcmp (a->data, b->data, a->len * sizeof (gint64)) == 0);
}

/* Of doubles the bits: 0 and −0 are two attributes, and a NaN is itself. */
static gboolean
doubles_equal (const CleaveDoubles *a, const CleaveDoubles *b)
{
  return a->n == b->n && memcmp (a->v, b->v, a->n * sizeof (double)) == 0;
}

static gboolean
field_equal (const CleaveAttr *attr, gconstpointer a, gconstpointer b)
{
  switch (attr->kind)
    {
    case CLEAVE_ATTR_INT:
    case CLEAVE_ATTR_BOOL:
    case CLEAVE_ATTR_ENUM:
    case CLEAVE_ATTR_ELEMENT:
    case CLEAVE_ATTR_DOUBLE:
      return memcmp (a, b, field_size (attr->kind)) == 0;
    case CLEAVE_ATTR_INTS:
    case CLEAVE_ATTR_ENUMS:
      {
        const CleaveInts *x = a, *y = b;

        return x->n == y->n && memcmp (x->v, y->v, x->n * sizeof (gint64)) == 0;
      }
    case CLEAVE_ATTR_DOUBLES:
      return doubles_equal (a, b);
    case CLEAVE_ATTR_ARRAY:
      return array_equal (*(GArray *const *) a, *(GArray *const *) b);
    case CLEAVE_ATTR_STRING:
      return g_strcmp0 (*(char *const *) a, *(char *const *) b) == 0;
    case CLEAVE_ATTR_RANGES:
      return ranges_equal (*(GArray *const *) a, *(GArray *const *) b);
    case CLEAVE_ATTR_TYPE:
      return cleave_tensor_type_equal (a, b);
    case CLEAVE_ATTR_TENSOR:
      {
        const CleaveTensor *x = *(CleaveTensor *const *) a, *y = *(CleaveTensor *const *) b;

        return x == y || (x != NULL && y != NULL && cleave_tensor_equal (x, y));
      }
    case CLEAVE_ATTR_END:
      break;
    }
  g_assert_not_reached ();
}

gboolean
cleave_attrs_equal (const CleaveOp *op, gconstpointer a, gconstpointer b)
{
  for (const CleaveAttr *attr = attrs_of (op); attr->name != NULL; attr++)
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

/* Of a tensor only the type and the first bytes: equality reads the rest. */
static guint
hash_tensor (guint hash, const CleaveTensor *tensor)
{
  const CleaveTensorType *type;

  if (tensor == NULL)
    return hash;
  type = cleave_tensor_get_type (tensor);
  hash = hash_bytes (hash, type->shape.dim, type->shape.rank * sizeof (gint64));
  if (cleave_tensor_is_dense (tensor))
    hash = hash_bytes (hash, cleave_tensor_get_data (tensor),
                       (gsize) MIN (cleave_tensor_type_n_bytes (type), 256));
  return hash;
}

guint
cleave_attrs_hash (const CleaveOp *op, gconstpointer attrs)
{
  guint hash = 2166136261u;

  for (const CleaveAttr *attr = attrs_of (op); attr->name != NULL; attr++)
    {
      gconstpointer field = cleave_attr_const_field (attr, attrs);

      if (attr->kind == CLEAVE_ATTR_TENSOR)
        hash = hash_tensor (hash, *(CleaveTensor *const *) field);
      else if (attr->kind == CLEAVE_ATTR_STRING)
        {
          const char *string = *(char *const *) field;

          hash = hash_bytes (hash, string, string == NULL ? 0 : strlen (string));
        }
      else if (attr->kind == CLEAVE_ATTR_RANGES)
        hash = hash_ranges (hash, *(GArray *const *) field);
      else if (attr->kind == CLEAVE_ATTR_ARRAY)
        {
          const GArray *array = *(GArray *const *) field;

          if (array != NULL && array->len > 0)
            hash = hash_bytes (hash, array->data, array->len * sizeof (gint64));
        }
      else if (attr->kind == CLEAVE_ATTR_INTS || attr->kind == CLEAVE_ATTR_ENUMS)
        hash = hash_bytes (hash, ((const CleaveInts *) field)->v,
                           ((const CleaveInts *) field)->n * sizeof (gint64));
      else if (attr->kind == CLEAVE_ATTR_DOUBLES)
        hash = hash_bytes (hash, ((const CleaveDoubles *) field)->v,
                           ((const CleaveDoubles *) field)->n * sizeof (double));
      else if (attr->kind == CLEAVE_ATTR_TYPE)
        hash = hash_bytes (hash, ((const CleaveTensorType *) field)->shape.dim,
                           ((const CleaveTensorType *) field)->shape.rank * sizeof (gint64));
      else
        hash = hash_bytes (hash, field, field_size (attr->kind));
    }
  return hash;
}

/* Print. */

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
      /* Bits: a NaN equals itself.  NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
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

static void
print_double (double value, GString *out)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (out, g_ascii_formatd (text, sizeof text, "%.9g", value));
}

static void
print_ints (const gint64 *v, guint n, GString *out)
{
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, i == 0 ? "" : ",", v[i]);
}

static void
print_enums (const CleaveAttr *attr, const CleaveInts *enums, GString *out)
{
  for (guint i = 0; i < enums->n; i++)
    g_string_append_printf (out, "%s%s", i == 0 ? "" : ",", attr->names[enums->v[i]]);
}

static void
print_ranges (const GArray *ranges, GString *out)
{
  for (guint i = 0; i < ranges->len; i++)
    {
      g_autofree char *range = cleave_range_to_string (&g_array_index (ranges, CleaveRange, i));

      g_string_append_printf (out, "%s%s", i == 0 ? "" : "/", range);
    }
}

static void
print_field (const CleaveAttr *attr, gconstpointer field, GString *out)
{
  switch (attr->kind)
    {
    case CLEAVE_ATTR_INT:
      g_string_append_printf (out, "%" G_GINT64_FORMAT, *(const gint64 *) field);
      return;
    case CLEAVE_ATTR_BOOL:
      g_string_append (out, *(const gboolean *) field ? "1" : "0");
      return;
    case CLEAVE_ATTR_ENUM:
      g_string_append (out, attr->names[*(const int *) field]);
      return;
    case CLEAVE_ATTR_DOUBLE:
      print_double (*(const double *) field, out);
      return;
    case CLEAVE_ATTR_INTS:
      print_ints (((const CleaveInts *) field)->v, ((const CleaveInts *) field)->n, out);
      return;
    case CLEAVE_ATTR_ENUMS:
      print_enums (attr, field, out);
      return;
    case CLEAVE_ATTR_DOUBLES:
      for (guint i = 0; i < ((const CleaveDoubles *) field)->n; i++)
        {
          g_string_append (out, i == 0 ? "" : ",");
          print_double (((const CleaveDoubles *) field)->v[i], out);
        }
      return;
    case CLEAVE_ATTR_ARRAY:
      print_ints ((const gint64 *) (gpointer) (*(GArray *const *) field)->data,
                  (*(GArray *const *) field)->len, out);
      return;
    case CLEAVE_ATTR_STRING:
      g_string_append (out, *(char *const *) field);
      return;
    case CLEAVE_ATTR_RANGES:
      print_ranges (*(GArray *const *) field, out);
      return;
    case CLEAVE_ATTR_ELEMENT:
      g_string_append (out, cleave_element_get_name (*(const CleaveElement *) field));
      return;
    case CLEAVE_ATTR_TYPE:
    case CLEAVE_ATTR_TENSOR:
      {
        const CleaveTensorType *type =
            attr->kind == CLEAVE_ATTR_TYPE
                ? (const CleaveTensorType *) field
                : cleave_tensor_get_type (*(CleaveTensor *const *) field);
        g_autofree char *text = cleave_tensor_type_to_string (type);

        g_string_append_printf (out, "[%s]", text);
        return;
      }
    case CLEAVE_ATTR_END:
      break;
    }
  g_assert_not_reached ();
}

/* " name=value" for each that is not its default. */
void
cleave_attrs_print (const CleaveOp *op, gconstpointer attrs, GString *out)
{
  if (op->print != NULL)
    {
      op->print (attrs, out);
      return;
    }
  for (const CleaveAttr *attr = attrs_of (op); attr->name != NULL; attr++)
    if (!cleave_attr_is_default (attr, attrs))
      {
        g_string_append_printf (out, " %s=", attr->name);
        print_field (attr, cleave_attr_const_field (attr, attrs), out);
      }
}

/* Bring to the normal form. */

static gboolean
normalise_axis (const CleaveAttr *attr, gint64 *axis, guint rank, GError **error)
{
  gint64 n = MAX ((gint64) rank, 1); /* a scalar counts as one element along axis 0 */

  if (*axis < -n || *axis >= n)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "%s must be between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                        " for rank %u, not %" G_GINT64_FORMAT,
                        attr->name, -n, n - 1, rank, *axis);
  if (*axis < 0)
    *axis += n;
  return TRUE;
}

static gboolean
check_minimum (const CleaveAttr *attr, gint64 value, GError **error)
{
  if (!attr->has_minimum || value >= attr->minimum)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                      "%s must be at least %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, attr->name,
                      attr->minimum, value);
}

static gboolean
normalise_int (const CleaveCall *call, const CleaveAttr *attr, gint64 *value, GError **error)
{
  if (attr->has_minimum && attr->minimum > 0 && *value == 0)
    *value = (gint64) attr->fallback;
  if ((attr->flags & CLEAVE_ATTR_AXIS) != 0 &&
      !normalise_axis (attr, value, call->n_operands > 0 ? call->operands[0].shape.rank : 0, error))
    return FALSE;
  return check_minimum (attr, *value, error);
}

static gboolean
normalise_ints (const CleaveCall *call, const CleaveAttr *attr, CleaveInts *ints, GError **error)
{
  gboolean all_default = (attr->flags & (CLEAVE_ATTR_NO_DEFAULT | CLEAVE_ATTR_AXIS)) == 0;

  if (ints->n > G_N_ELEMENTS (ints->v))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has %u entries, more than %u",
                        attr->name, ints->n, (guint) G_N_ELEMENTS (ints->v));
  for (guint i = 0; i < ints->n; i++)
    {
      if ((attr->flags & CLEAVE_ATTR_AXIS) != 0 &&
          !normalise_axis (attr, &ints->v[i], call->operands[0].shape.rank, error))
        return FALSE;
      if (!check_minimum (attr, ints->v[i], error))
        return FALSE;
      all_default = all_default && ints->v[i] == (gint64) attr->fallback;
    }
  if (all_default)
    ints->n = 0;
  return TRUE;
}

static gboolean
check_enum (const CleaveAttr *attr, gint64 value, GError **error)
{
  guint n = g_strv_length ((char **) attr->names);

  if (value >= 0 && value < n)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has no value %" G_GINT64_FORMAT,
                      attr->name, value);
}

static gboolean
check_enums (const CleaveAttr *attr, const CleaveInts *enums, GError **error)
{
  if (enums->n > G_N_ELEMENTS (enums->v))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has %u entries, more than %u",
                        attr->name, enums->n, (guint) G_N_ELEMENTS (enums->v));
  for (guint i = 0; i < enums->n; i++)
    if (!check_enum (attr, enums->v[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
normalise_field (const CleaveCall *call, const CleaveAttr *attr, gpointer field, GError **error)
{
  switch (attr->kind)
    {
    case CLEAVE_ATTR_INT:
      return normalise_int (call, attr, field, error);
    case CLEAVE_ATTR_INTS:
      return normalise_ints (call, attr, field, error);
    case CLEAVE_ATTR_ENUM:
      return check_enum (attr, *(int *) field, error);
    case CLEAVE_ATTR_ENUMS:
      return check_enums (attr, field, error);
    case CLEAVE_ATTR_ARRAY:
      {
        GArray *array = *(GArray **) field;

        for (guint i = 0; array != NULL && i < array->len; i++)
          if (!check_minimum (attr, g_array_index (array, gint64, i), error))
            return FALSE;
        return TRUE;
      }
    case CLEAVE_ATTR_BOOL:
      *(gboolean *) field = *(gboolean *) field != 0;
      return TRUE;
    case CLEAVE_ATTR_ELEMENT:
      if (*(CleaveElement *) field == CLEAVE_NONE && (attr->flags & CLEAVE_ATTR_OPTIONAL) != 0)
        return TRUE;
      if (*(CleaveElement *) field <= CLEAVE_NONE || *(CleaveElement *) field >= CLEAVE_N_ELEMENTS)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has no value %d", attr->name,
                            *(int *) field);
      return TRUE;
    case CLEAVE_ATTR_DOUBLES:
      if (((CleaveDoubles *) field)->n > 2 * CLEAVE_MAX_RANK)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has more than %d entries",
                            attr->name, 2 * CLEAVE_MAX_RANK);
      return TRUE;
    case CLEAVE_ATTR_DOUBLE:
    case CLEAVE_ATTR_RANGES:
    case CLEAVE_ATTR_TYPE:
    case CLEAVE_ATTR_STRING:
    case CLEAVE_ATTR_TENSOR:
      return TRUE;
    case CLEAVE_ATTR_END:
      break;
    }
  g_assert_not_reached ();
}

gboolean
cleave_attrs_normalise (const CleaveCall *call, gpointer attrs, GError **error)
{
  for (const CleaveAttr *attr = attrs_of (call->op); attr->name != NULL; attr++)
    if (!normalise_field (call, attr, cleave_attr_field (attr, attrs), error))
      return FALSE;
  return call->op->normalise == NULL || call->op->normalise (call, attrs, error);
}
