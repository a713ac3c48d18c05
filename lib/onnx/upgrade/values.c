/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes Compress, NonZero and Unique during the import. The shapes of their results depend on
 * values, so the operands must be constant. */

#include "upgrades.h"

#include "../../ops/lines.h"
#include "../import/dynamic.h"

/* An operand may have at most this many elements, so that lists of indices fit into a GArray. */
#define MAX_ELEMENTS (1 << 28)
/* Estimated work of Unique for each element, since Unique sorts. The unit is the unit of the budget
 * of constant folding, about one MAC. */
#define SORT_WORK 64

/* Returns the tensor of a constant operand. For each of its elements, subtracts `work` from the
 * budget of constant folding. Returns NULL on error. */
static CleaveTensor *
constant_of (CleaveOnnxNode *node, guint operand, double work, GError **error)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, operand);
  const CleaveShape *shape = cleave_onnx_node_operand_shape (node, operand);
  const char *why = NULL;

  if (value == NULL)
    why = "is missing";
  else if (cleave_onnx_value_constant (node->import, value) == NULL)
    why = cleave_onnx_why_unknown (node->import, value);
  else if (cleave_shape_n_elements (shape) > MAX_ELEMENTS)
    why = "has too many elements";
  else if (!cleave_onnx_spend (node->import, work * (double) cleave_shape_n_elements (shape)))
    {
      cleave_onnx_note_unknown (node->import, value, "takes too much work to compute at import");
      why = CLEAVE_ONNX_TOO_COSTLY;
    }
  else
    return cleave_tensor_dup_dense (value->constant);
  return cleave_onnx_node_fail_null (node, error, "operand %u %s", operand, why);
}

static CleaveOnnxValue *
integers (CleaveOnnxNode *node, const CleaveShape *shape, const GArray *numbers)
{
  CleaveTensorType type = { CLEAVE_INT64, *shape };

  return cleave_onnx_constant (node, &type, numbers->data);
}

static gboolean
is_true (const CleaveTensor *tensor, gint64 i)
{
  CleaveElement element = cleave_tensor_get_type (tensor)->element;
  const char *data = cleave_tensor_get_data (tensor);

  return cleave_real_load (element, data + i * (gint64) cleave_element_size (element)) != 0;
}

/* The functions below upgrade Compress to a Gather of the indices for which the condition is
 * TRUE. */

static CleaveOnnxValue *
flatten (CleaveOnnxNode *node, CleaveOnnxValue *x, GError **error)
{
  const CleaveTensorType one = CLEAVE_TYPE (CLEAVE_INT64, 1);

  return CLEAVE_ONNX_STEP ("Reshape", ".flat", NULL, x,
                           cleave_onnx_constant (node, &one, &(gint64){ -1 }));
}

gboolean
cleave_onnx_upgrade_compress (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveTensor) condition = constant_of (node, 1, 1, error);
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);
  g_autoptr (GArray) kept = g_array_new (FALSE, FALSE, sizeof (gint64));
  CleaveShape shape;

  if (condition == NULL || x == NULL)
    return condition != NULL && cleave_onnx_node_fail (node, error, "operand 0 is missing");
  for (gint64 i = 0; i < cleave_shape_n_elements (&cleave_tensor_get_type (condition)->shape); i++)
    if (is_true (condition, i))
      g_array_append_val (kept, i);
  if (cleave_onnx_node_find (node, "axis") == NULL)
    {
      x = flatten (node, x, error);
      g_ptr_array_add (node->attrs, cleave_onnx_attr_new_int ("axis", 0));
    }
  if (x == NULL)
    return FALSE;
  shape = CLEAVE_SHAPE (kept->len);
  cleave_onnx_node_set_operand (node, 0, x);
  cleave_onnx_node_set_operand (node, 1, integers (node, &shape, kept));
  node->op = "Gather";
  return TRUE;
}

/* Upgrades NonZero to a constant: the indices of all elements that are not 0, one row for each
 * dimension. */
gboolean
cleave_onnx_upgrade_non_zero (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveTensor) x = constant_of (node, 0, CLEAVE_MAX_RANK, error);
  g_autoptr (GArray) found =
      g_array_new (FALSE, FALSE, sizeof (gint64)); /* gint64: the indices of the first nonzero
                                                    * element, then of the second, and so on */
  g_autoptr (GArray) transposed = g_array_new (FALSE, FALSE, sizeof (gint64));
  const CleaveShape *shape;
  gint64 i[CLEAVE_MAX_RANK], at = 0;
  guint n = 0;

  if (x == NULL || !cleave_onnx_node_check_no_attrs (node, error))
    return FALSE;
  shape = &cleave_tensor_get_type (x)->shape;
  CLEAVE_EACH_INDEX (i, shape)
    if (is_true (x, at++))
      {
        g_array_append_vals (found, i, shape->rank);
        n++;
      }
  for (guint d = 0; d < shape->rank; d++)
    for (guint k = 0; k < n; k++)
      g_array_append_val (transposed, g_array_index (found, gint64, k * shape->rank + d));
  return cleave_onnx_finish (node, integers (node, &CLEAVE_SHAPE (shape->rank, n), transposed));
}

/* The slices that Unique compares: the slices along an axis, or the elements if there is no axis.
 * Unique keeps the first of equal slices. */

typedef struct
{
  CleaveView view;   /* view of the operand with the axis as dimension 0 */
  CleaveShape inner; /* shape of a slice without the axis */
  CleaveWide wide;
} Slices;

/* Compares two slices element by element, in row-major order. Unique sorts slices by this order. */
static gint
compare_slices (gconstpointer a, gconstpointer b, gpointer data)
{
  const Slices *slices = data;
  gint64 first = *(const gint64 *) a, second = *(const gint64 *) b, i[CLEAVE_MAX_RANK];
  const CleaveView *view = &slices->view;
  int order = 0;

  for (gboolean more = cleave_index_first (&slices->inner, i); more && order == 0;
       more = cleave_index_next (&slices->inner, i))
    {
      gint64 inner = cleave_index_offset (slices->inner.rank, i, view->stride + 1);
      CleaveLineBuffer x, y;

      order = cleave_wide_compare (
          slices->wide,
          cleave_line_read (view, first * view->stride[0] + inner, 1, 1, slices->wide, &x),
          cleave_line_read (view, second * view->stride[0] + inner, 1, 1, slices->wide, &y));
    }
  return order;
}

static gint
compare_positions (gconstpointer a, gconstpointer b, gpointer data)
{
  gint64 first = *(const gint64 *) a, second = *(const gint64 *) b;
  gint order = compare_slices (a, b, data);

  return order != 0 ? order : (first > second) - (first < second);
}

/* Makes the view of the operand. Dimension 0 of the view is the axis `axis`. If `axis` is NULL, the
 * view is the operand flattened to one dimension. */
static void
slices_init (Slices *slices, CleaveTensor *x, const gint64 *axis)
{
  CleaveTensorType type = *cleave_tensor_get_type (x), flat;
  CleaveView whole = cleave_view_tensor (x);
  guint to = 1;

  flat = CLEAVE_TYPE (type.element, cleave_shape_n_elements (&type.shape));
  *slices = (Slices){ .view = cleave_view_dense (&flat, whole.data),
                      .wide = cleave_wide_of (type.element) };
  if (axis == NULL)
    return;
  slices->view = whole;
  slices->view.stride[0] = whole.stride[*axis];
  slices->view.type.shape.dim[0] = type.shape.dim[*axis];
  for (guint d = 0; d < type.shape.rank; d++)
    if (d != *axis)
      {
        slices->view.stride[to] = whole.stride[d];
        slices->view.type.shape.dim[to++] = slices->inner.dim[slices->inner.rank] =
            type.shape.dim[d];
        slices->inner.rank++;
      }
}

/* Groups of equal slices: the index of the first slice of each group, the group of each slice, and
 * the number of slices in each group. */
typedef struct
{
  GArray *first, *inverse, *counts;
} Groups;

static void
groups_clear (Groups *groups)
{
  g_clear_pointer (&groups->first, g_array_unref);
  g_clear_pointer (&groups->inverse, g_array_unref);
  g_clear_pointer (&groups->counts, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Groups, groups_clear)

static GArray *
new_integers (gint64 n)
{
  GArray *array = g_array_new (FALSE, TRUE, sizeof (gint64));

  g_array_set_size (array, (guint) n);
  return array;
}

static gint
compare_integers (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

/* Finds the groups of equal slices. If `sorted`, the groups ascend by the contents of their slices.
 * If not, the groups ascend by the index of their first slice. */
static void
groups_init (Groups *groups, const Slices *slices, gboolean sorted)
{
  gint64 n = slices->view.type.shape.dim[0];
  g_autoptr (GArray) order = new_integers (n), leader = new_integers (n), place = new_integers (n);

  *groups = (Groups){ new_integers (0), new_integers (n), new_integers (0) };
  for (gint64 i = 0; i < n; i++)
    g_array_index (order, gint64, i) = i;
  g_array_sort_with_data (order, compare_positions, (gpointer) slices);
  for (gint64 i = 0; i < n; i++)
    {
      gint64 at = g_array_index (order, gint64, i);
      gint64 before = i == 0 ? at : g_array_index (order, gint64, i - 1);
      gboolean fresh = i == 0 || compare_slices (&before, &at, (gpointer) slices) != 0;

      g_array_index (leader, gint64, at) = fresh ? at : g_array_index (leader, gint64, before);
      if (fresh)
        g_array_append_val (groups->first, at);
    }
  if (!sorted)
    g_array_sort (groups->first, compare_integers);
  g_array_set_size (groups->counts, groups->first->len);
  for (guint g = 0; g < groups->first->len; g++)
    g_array_index (place, gint64, g_array_index (groups->first, gint64, g)) = g;
  for (gint64 i = 0; i < n; i++)
    {
      gint64 group = g_array_index (place, gint64, g_array_index (leader, gint64, i));

      g_array_index (groups->inverse, gint64, i) = group;
      g_array_index (groups->counts, gint64, group)++;
    }
}

/* Returns the first slice of each group, concatenated along the axis. The axis has the same
 * position in the result as in the operand. */
static CleaveTensor *
gather_groups (const Slices *slices, const Groups *groups, const gint64 *axis)
{
  const CleaveView *from = &slices->view;
  CleaveTensorType type = { from->type.element, { from->type.shape.rank, { 0 } } };
  CleaveTensor *tensor;
  CleaveView to;

  for (guint d = 0, inner = 0; d < type.shape.rank; d++)
    type.shape.dim[d] =
        axis == NULL || d == *axis ? groups->first->len : slices->inner.dim[inner++];
  tensor = cleave_tensor_new (&type, NULL);
  to = cleave_view_dense (&type, cleave_tensor_get_mutable_data (tensor));
  for (guint g = 0; g < groups->first->len; g++)
    {
      CleaveRange part = cleave_range_whole (&type.shape);
      CleaveView target,
          source = { .data = cleave_view_element (from, g_array_index (groups->first, gint64, g) *
                                                            from->stride[0]),
                     .type = from->type };

      part.dim[axis == NULL ? 0 : *axis] = (CleaveSpan){ g, g + 1 };
      target = cleave_view_slice (&to, &part);
      source.type.shape = target.type.shape;
      for (guint d = 0, inner = 1; d < type.shape.rank; d++)
        source.stride[d] = axis == NULL || d == *axis ? 0 : from->stride[inner++];
      cleave_view_copy (&target, &source);
    }
  return tensor;
}

gboolean
cleave_onnx_upgrade_unique (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveTensor) x = constant_of (node, 0, SORT_WORK, error);
  g_autoptr (CleaveOnnxAttr) axis = cleave_onnx_node_take (node, "axis");
  gboolean sorted = cleave_onnx_node_take_int (node, "sorted", 1) != 0;
  const gint64 *at =
      axis == NULL || axis->ints->len != 1 ? NULL : (gint64 *) (gpointer) axis->ints->data;
  g_auto (Groups) groups = { 0 };
  CleaveShape n_groups, n_slices;
  gint64 rank;
  Slices slices;

  if (x == NULL || !cleave_onnx_node_check_no_attrs (node, error))
    return FALSE;
  rank = cleave_tensor_get_type (x)->shape.rank;
  if (at != NULL && (*at < -rank || *at >= rank))
    return cleave_onnx_node_fail (node, error, "axis %" G_GINT64_FORMAT " does not fit rank %d",
                                  *at, (int) rank);
  if (at != NULL && *at < 0)
    g_array_index (axis->ints, gint64, 0) += rank;
  slices_init (&slices, x, at);
  if (slices.view.type.shape.dim[0] > MAX_ELEMENTS) /* constant_of() refuses an operand of more than
                                                     * MAX_ELEMENTS elements, so there can be more
                                                     * slices only if the slices are empty */
    return cleave_onnx_node_fail (node, error, "operand 0 has too many elements");
  groups_init (&groups, &slices, sorted);
  n_groups = CLEAVE_SHAPE (groups.first->len);
  n_slices = CLEAVE_SHAPE (groups.inverse->len);
  cleave_onnx_finish (node, cleave_onnx_value_new_constant (node->import, NULL,
                                                            gather_groups (&slices, &groups, at)));
  g_ptr_array_add (node->values, integers (node, &n_groups, groups.first));
  g_ptr_array_add (node->values, integers (node, &n_slices, groups.inverse));
  g_ptr_array_add (node->values, integers (node, &n_groups, groups.counts));
  return TRUE;
}
