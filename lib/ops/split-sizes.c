/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes and checks the sizes of a Split. */

#include "split-sizes.h"

#include "../ir/boxed.h"

gboolean
cleave_split_check_shape (const CleaveShape *shape, GError **error)
{
  if (shape->rank == 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "a scalar has no dimension to split");
  for (guint d = 0; d < shape->rank; d++)
    if (shape->dim[d] < 0)
      return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                          "dimension %u must be at least 0, not %" G_GINT64_FORMAT, d,
                          shape->dim[d]);
  return TRUE;
}

gboolean
cleave_split_find_axis (const CleaveShape *shape, gint64 *axis, GError **error)
{
  const gint64 rank = shape->rank;

  if (!cleave_split_check_shape (shape, error))
    return FALSE;
  if (*axis < -rank || *axis >= rank)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "axis must be between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                        " for rank %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT,
                        -rank, rank - 1, rank, *axis);
  *axis += *axis < 0 ? rank : 0;
  return TRUE;
}

/* Returns a list as text, such as "1, 2, 2". Writes only the first 16 entries of a longer list. */
static char *
list_to_string (const gint64 *list, guint n)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < MIN (n, 16); i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, i == 0 ? "" : ", ", list[i]);
  if (n > 16)
    g_string_append (out, ", …");
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static gboolean
add_up (const char *what, const gint64 *sizes, guint n, gint64 minimum, gint64 *sum, GError **error)
{
  *sum = 0;
  for (guint i = 0; i < n; i++)
    {
      if (sizes[i] < minimum)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "entry %u of %s must be at least %" G_GINT64_FORMAT
                            ", not %" G_GINT64_FORMAT,
                            i, what, minimum, sizes[i]);
      if (__builtin_add_overflow (*sum, MAX (sizes[i], 0), sum))
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "the sum of %s does not fit 64 bits at entry %u", what, i);
    }
  return TRUE;
}

CleaveSplitAttrs *
cleave_split_make (const CleaveShape *shape,
                   const char *what,
                   gint64 axis,
                   const gint64 *sizes,
                   guint n,
                   GError **error)
{
  CleaveSplitAttrs *attrs;
  gint64 sum;

  if (n == 0)
    cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "at least one result is needed, %s is empty", what);
  if (n == 0 || !add_up (what, sizes, n, 0, &sum, error))
    return NULL;
  if (sum != shape->dim[axis])
    {
      g_autofree char *list = list_to_string (sizes, n);

      return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE,
                               "%s %s add up to %" G_GINT64_FORMAT ", dimension %" G_GINT64_FORMAT
                               " has %" G_GINT64_FORMAT,
                               what, list, sum, axis, shape->dim[axis]);
    }
  attrs = g_new0 (CleaveSplitAttrs, 1);
  attrs->axis = axis;
  attrs->sizes = g_array_sized_new (FALSE, FALSE, sizeof (gint64), n);
  g_array_append_vals (attrs->sizes, sizes, n);
  return attrs;
}

CleaveSplitAttrs *
cleave_split_make_sized (
    const CleaveShape *shape, gint64 axis, gint64 n, gint64 size, GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 left = shape->dim[axis];

  if (n > CLEAVE_MAX_RESULTS)
    return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE,
                             "dimension %" G_GINT64_FORMAT " would have %" G_GINT64_FORMAT
                             " pieces, more than %d",
                             axis, n, CLEAVE_MAX_RESULTS);
  for (gint64 i = 0; i < n; i++, left -= size)
    {
      gint64 piece = i == n - 1 ? left : size;

      g_array_append_val (sizes, piece);
    }
  return cleave_split_make (shape, "sizes", axis, (const gint64 *) sizes->data, sizes->len, error);
}

gboolean
cleave_split_check_least (const char *name, gint64 value, gint64 least, GError **error)
{
  if (value >= least)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                      "%s must be at least %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, name,
                      least, value);
}

CleaveSplitAttrs *
cleave_split_make_equal (
    const CleaveShape *shape, gint64 axis, const char *name, gint64 count, GError **error)
{
  gint64 extent = shape->dim[axis];

  if (!cleave_split_check_least (name, count, 1, error))
    return NULL;
  if (extent % count == 0)
    return cleave_split_make_sized (shape, axis, count, extent / count, error);
  return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE,
                           "dimension %" G_GINT64_FORMAT " has %" G_GINT64_FORMAT
                           ", which does not divide by %s %" G_GINT64_FORMAT,
                           axis, extent, name, count);
}

/* Splits a dimension into as many pieces of `size` as needed. A dimension of extent 0 becomes one
 * piece. */
CleaveSplitAttrs *
cleave_split_make_of_size (const CleaveShape *shape, gint64 axis, gint64 size, GError **error)
{
  gint64 extent = shape->dim[axis];

  return cleave_split_make_sized (shape, axis, extent == 0 ? 1 : (extent - 1) / size + 1, size,
                                  error);
}

CleaveSplitAttrs *
cleave_split_make_with_rest (const CleaveShape *shape,
                             const char *what,
                             gint64 axis,
                             const gint64 *given,
                             guint n,
                             GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 extent = shape->dim[axis], sum, *rest = NULL;

  if (!add_up (what, given, n, -1, &sum, error))
    return NULL;
  g_array_append_vals (sizes, n == 0 ? &sum : given, n);
  for (guint i = 0; i < n; i++)
    if (given[i] == -1 && rest != NULL)
      {
        return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE,
                                 "entries %u and %u of %s are both -1",
                                 (guint) (rest - (gint64 *) sizes->data), i, what);
      }
    else if (given[i] == -1)
      rest = &g_array_index (sizes, gint64, i);
  if (rest != NULL && sum > extent)
    return cleave_fail_null (
        error, CLEAVE_ERROR_ATTRIBUTE,
        "nothing is left for the -1 of %s: the others add up to %" G_GINT64_FORMAT
        ", dimension %" G_GINT64_FORMAT " has %" G_GINT64_FORMAT,
        what, sum, axis, extent);
  if (rest != NULL)
    *rest = extent - sum;
  return cleave_split_make (shape, what, axis, (const gint64 *) sizes->data, n, error);
}

gpointer
cleave_split_name_call (const char *call, gpointer attrs, GError **error)
{
  if (attrs == NULL)
    g_prefix_error (error, "%s: ", call);
  return attrs;
}

/**
 * cleave_split_attrs_free:
 * @attrs: (nullable) (transfer full): attributes of a Split
 *
 * Frees attributes that a constructor such as [ctor@Cleave.SplitAttrs.new] made.
 *
 * Since: 0.1
 */
void
cleave_split_attrs_free (CleaveSplitAttrs *attrs)
{
  if (attrs == NULL)
    return;
  g_clear_pointer (&attrs->sizes, g_array_unref);
  g_free (attrs);
}

static CleaveSplitAttrs *
copy (const CleaveSplitAttrs *attrs)
{
  CleaveSplitAttrs *result = g_memdup2 (attrs, sizeof *attrs);

  result->sizes = attrs->sizes == NULL ? NULL : g_array_copy (attrs->sizes);
  return result;
}

CLEAVE_DEFINE_BOXED (CleaveSplitAttrs, split_attrs, copy, cleave_split_attrs_free)
CLEAVE_DEFINE_VALUE (CleaveAxisAttrs, axis_attrs)
CLEAVE_DEFINE_VALUE (CleaveSliceAttrs, slice_attrs)

/**
 * cleave_split_attrs_new:
 * @operand: type of the value to split, of rank 1 or more
 * @axis: the dimension; negative values count from the end
 * @sizes: (array length=n_sizes): one size for each result, 0 or more; they must add up to the
 * extent of the dimension
 * @n_sizes: number of results, at least 1
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Split from its sizes, and checks them.
 *
 * Fails with %CLEAVE_ERROR_SHAPE if @operand is a scalar, and with %CLEAVE_ERROR_ATTRIBUTE if @axis
 * is out of range or the sizes are wrong.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error; free them
 * with [method@Cleave.SplitAttrs.free]
 *
 * Since: 0.1
 */
CleaveSplitAttrs *
cleave_split_attrs_new (const CleaveTensorType *operand,
                        gint64 axis,
                        const gint64 *sizes,
                        guint n_sizes,
                        GError **error)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (operand) && (sizes != NULL || n_sizes == 0),
                        NULL);
  if (!cleave_split_find_axis (&operand->shape, &axis, error))
    return NULL;
  return cleave_split_make (&operand->shape, "sizes", axis, sizes, n_sizes, error);
}
