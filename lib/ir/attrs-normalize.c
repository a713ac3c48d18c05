/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts the attributes that a caller or a file gives into normal form. Fills in defaults, makes
 * axes positive, and checks minima and enums, as the op's attribute table (CleaveAttr) says. Error
 * messages name the legal values. */

#include "op.h"

/* Makes an axis of operand 0 positive. For a scalar, and for a call without operands, only axis 0
 * (or -1) is legal. */
static gboolean
normalize_axis (const CleaveCall *call, const CleaveAttr *attr, gint64 *axis, GError **error)
{
  guint rank = call->n_operands > 0 ? call->operands[0].shape.rank : 0;
  gint64 n = MAX ((gint64) rank, 1);

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
normalize_int (const CleaveCall *call, const CleaveAttr *attr, gint64 *value, GError **error)
{
  if (attr->has_minimum && attr->minimum > 0 && *value == 0)
    *value = (gint64) attr->fallback;
  if ((attr->flags & CLEAVE_ATTR_AXIS) != 0 && !normalize_axis (call, attr, value, error))
    return FALSE;
  return check_minimum (attr, *value, error);
}

static gboolean
normalize_ints (const CleaveCall *call, const CleaveAttr *attr, CleaveInts *ints, GError **error)
{
  gboolean all_default = (attr->flags & (CLEAVE_ATTR_NO_DEFAULT | CLEAVE_ATTR_AXIS)) == 0;

  if (ints->n > G_N_ELEMENTS (ints->v))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has %u entries, more than %u",
                        attr->name, ints->n, (guint) G_N_ELEMENTS (ints->v));
  for (guint i = 0; i < ints->n; i++)
    {
      if ((attr->flags & CLEAVE_ATTR_AXIS) != 0 && !normalize_axis (call, attr, &ints->v[i], error))
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
check_element (const CleaveAttr *attr, CleaveElement element, GError **error)
{
  if (element == CLEAVE_NONE && (attr->flags & CLEAVE_ATTR_OPTIONAL) != 0)
    return TRUE;
  return (element > CLEAVE_NONE && element < CLEAVE_N_ELEMENTS) ||
         cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has no value %d", attr->name, element);
}

static gboolean
normalize_field (const CleaveCall *call, const CleaveAttr *attr, gpointer field, GError **error)
{
  switch (attr->kind)
    {
    case CLEAVE_ATTR_INT:
      return normalize_int (call, attr, field, error);
    case CLEAVE_ATTR_INTS:
      return normalize_ints (call, attr, field, error);
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
      return check_element (attr, *(CleaveElement *) field, error);
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
cleave_attrs_normalize (const CleaveCall *call, gpointer attrs, GError **error)
{
  for (const CleaveAttr *attr = call->op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (!normalize_field (call, attr, cleave_attr_field (attr, attrs), error))
      return FALSE;
  return call->op->normalize == NULL || call->op->normalize (call, attrs, error);
}
