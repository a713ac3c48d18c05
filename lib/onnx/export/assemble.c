/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes an Assemble as Concats.
 *
 * The result of the Assemble is a box (a range in each dimension). fill_box() cuts the box into
 * smaller boxes until each small box lies inside one part. Each cut makes the operands of one
 * Concat:
 *
 *     0 0 1 1     cut at column 2:  Concat (axis 1) of part 0 and the right half;
 *     0 0 2 2     the right half is cut at row 1: Concat (axis 0) of parts 1 and 2
 *
 * A cut goes between parts where possible. If a cut must cross parts, it crosses as few parts as
 * possible, and Slices trim the crossed parts. After each cut, the parts and their Slices still
 * cover both smaller boxes. So the cuts work for every arrangement of parts, also for overlapping
 * parts. */

#include "export.h"

#include "../../ir/graph-private.h"

/* The Assemble to write, and its parts. */
typedef struct
{
  CleaveOnnxExport *export;
  const CleaveNode *node;
  const CleaveRange *ranges; /* indexed by part: range of the result that the part holds */
} Work;

/* A cut of a box at position `at` of dimension `dim`. The cut crosses `n_crossed` parts. */
typedef struct
{
  guint dim;
  gint64 at;
  guint n_crossed;
  gboolean ascends; /* whether the begins of the parts along `dim` ascend in operand order */
} Cut;

static gboolean
crosses (const CleaveRange *range, guint dim, gint64 at)
{
  return range->dim[dim].begin < at && at < range->dim[dim].end;
}

static int
compare_positions (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

/* Returns how many elements of a sorted list are less than a limit. */
static guint
count_below (const GArray *sorted, gint64 limit)
{
  guint low = 0, high = sorted->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (sorted, gint64, middle) < limit)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Sets `begins` to the begins of all parts along dimension `dim`, and `ends` to the ends. Sorts
 * both arrays in ascending order. */
static void
list_bounds (const Work *work, const GArray *parts, guint dim, GArray *begins, GArray *ends)
{
  g_array_set_size (begins, 0);
  g_array_set_size (ends, 0);
  for (guint i = 0; i < parts->len; i++)
    {
      const CleaveRange *range = &work->ranges[g_array_index (parts, guint, i)];

      g_array_append_val (begins, range->dim[dim].begin);
      g_array_append_val (ends, range->dim[dim].end);
    }
  g_array_sort (begins, compare_positions);
  g_array_sort (ends, compare_positions);
}

/* Returns whether the begins of the parts along dimension `dim` ascend, or stay equal, in operand
 * order. */
static gboolean
is_ascending (const Work *work, const GArray *parts, guint dim)
{
  for (guint i = 1; i < parts->len; i++)
    if (work->ranges[g_array_index (parts, guint, i)].dim[dim].begin <
        work->ranges[g_array_index (parts, guint, i - 1)].dim[dim].begin)
      return FALSE;
  return TRUE;
}

static gboolean
is_better (const Cut *cut, const Cut *best, const CleaveRange *box)
{
  gint64 middle = (box->dim[cut->dim].begin + box->dim[cut->dim].end) / 2;

  if (best->n_crossed == G_MAXUINT || cut->n_crossed != best->n_crossed)
    return cut->n_crossed < best->n_crossed;
  if (cut->ascends != best->ascends)
    return cut->ascends;
  return cut->dim == best->dim && ABS (cut->at - middle) < ABS (best->at - middle);
}

/* Returns the best cut of a box. Prefers, in this order:
 *
 * - the cut that crosses the fewest parts;
 * - a dimension along which the begins of the parts ascend in operand order, so that a reader
 *   of the file sees the parts in order;
 * - the lower dimension;
 * - the position nearest to the middle of the box. */
static Cut
find_cut (const Work *work, const GArray *parts, const CleaveRange *box)
{
  g_autoptr (GArray) begins = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (gint64));
  Cut best = { .n_crossed = G_MAXUINT };

  for (guint dim = 0; dim < box->rank; dim++)
    {
      gboolean ascends = is_ascending (work, parts, dim);

      list_bounds (work, parts, dim, begins, ends);
      for (guint i = 0; i < 2 * parts->len; i++)
        {
          gint64 at = i < parts->len ? g_array_index (begins, gint64, i)
                                     : g_array_index (ends, gint64, i - parts->len);
          Cut cut = { dim, at, count_below (begins, at) - count_below (ends, at + 1), ascends };

          if (crosses (box, dim, at) && is_better (&cut, &best, box))
            best = cut;
        }
    }
  return best;
}

/* Returns the positions (gint64) along the dimension of `cut` at which a cut of the box crosses no
 * part. If every cut of the box crosses a part, returns only the position of `cut`. */
static GArray *
find_positions (const Work *work, const GArray *parts, const CleaveRange *box, const Cut *cut)
{
  g_autoptr (GArray) begins = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (gint64));
  GArray *positions = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 last = box->dim[cut->dim].begin;

  if (cut->n_crossed > 0)
    {
      g_array_append_val (positions, cut->at);
      return positions;
    }
  list_bounds (work, parts, cut->dim, begins, ends);
  for (guint i = 0; i < begins->len; i++)
    {
      gint64 at = g_array_index (begins, gint64, i);

      if (at > last && crosses (box, cut->dim, at) &&
          count_below (begins, at) == count_below (ends, at + 1))
        {
          g_array_append_val (positions, at);
          last = at;
        }
    }
  return positions;
}

/* Returns one GArray (guint) for each interval into which the positions divide the dimension: the
 * parts that overlap the interval, in operand order. */
static GPtrArray *
sort_by_side (const Work *work, const GArray *parts, guint dim, const GArray *positions)
{
  GPtrArray *sides = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);

  for (guint i = 0; i <= positions->len; i++)
    g_ptr_array_add (sides, g_array_new (FALSE, FALSE, sizeof (guint)));
  for (guint i = 0; i < parts->len; i++)
    {
      guint part = g_array_index (parts, guint, i);
      CleaveSpan span = work->ranges[part].dim[dim];
      guint end = count_below (positions, span.end);

      for (guint side = count_below (positions, span.begin + 1); side <= end; side++)
        g_array_append_val ((GArray *) sides->pdata[side], part);
    }
  return sides;
}

/* Returns the name of a value that has the elements of `part` inside the box. Adds a Slice if the
 * part is larger than the box. */
static const char *
take_part (const Work *work, guint part, const CleaveRange *box)
{
  const CleaveResult *result = work->node->operands[part].result;
  const char *name = cleave_onnx_result_name (work->export, result);
  const CleaveRange *range = &work->ranges[part];
  CleaveRange inside = cleave_range_relative (box, range);

  if (cleave_range_equal (range, box))
    return name;
  return cleave_onnx_add_slice (work->export, work->node->name, name, &result->type.shape, &inside,
                                NULL);
}

static const char *
add_concat (const Work *work, guint axis, const GPtrArray *names, const char *to)
{
  g_autofree char *inner = g_strconcat (work->node->name, CLEAVE_ONNX_PART, NULL);
  const char *name = to == NULL ? cleave_onnx_name_value (work->export, inner) : to;
  Onnx__NodeProto *node;

  node = cleave_onnx_add_node (work->export, "Concat", to == NULL ? name : work->node->name,
                               (const char *const *) names->pdata, names->len, &name, 1);
  cleave_onnx_add_int (node, "axis", axis);
  return name;
}

/* Appends to `names` the values whose Concat along `axis` gives the elements of `box`. Calls itself
 * for each interval between cuts. The recursion is as deep as the number of dimensions if the parts
 * form a grid. If parts overlap, the depth grows with the logarithm of their number. */
static void
fill_box (
    const Work *work, const GArray *parts, const CleaveRange *box, guint axis, GPtrArray *names)
{
  g_autoptr (GArray) positions = NULL;
  g_autoptr (GPtrArray) sides = NULL;
  CleaveRange side = *box;
  Cut cut;

  for (guint i = 0; i < parts->len; i++)
    if (cleave_range_contains (&work->ranges[g_array_index (parts, guint, i)], box))
      {
        g_ptr_array_add (names, (gpointer) take_part (work, g_array_index (parts, guint, i), box));
        return;
      }
  cut = find_cut (work, parts, box);
  g_assert (cut.n_crossed != G_MAXUINT);
  if (cut.dim != axis)
    {
      g_autoptr (GPtrArray) inner = g_ptr_array_new ();

      fill_box (work, parts, box, cut.dim, inner);
      g_ptr_array_add (names, (gpointer) add_concat (work, cut.dim, inner, NULL));
      return;
    }
  positions = find_positions (work, parts, box, &cut);
  sides = sort_by_side (work, parts, axis, positions);
  for (guint i = 0; i <= positions->len; i++)
    {
      side.dim[axis].end =
          i < positions->len ? g_array_index (positions, gint64, i) : box->dim[axis].end;
      fill_box (work, sides->pdata[i], &side, axis, names);
      side.dim[axis].begin = side.dim[axis].end;
    }
}

/* Adds an empty result (no elements) as a constant, and returns the constant's name. A Concat of
 * empty parts might have a shape other than the shape of the result. */
static const char *
add_empty (CleaveOnnxExport *export, const CleaveNode *node)
{
  return cleave_onnx_add_small (export, node->name,
                                cleave_tensor_new (&node->results[0].type, NULL));
}

void
cleave_onnx_export_assemble (CleaveOnnxExport *export, const CleaveNode *node)
{
  const CleaveAssembleAttrs *a = node->attrs;
  Work work = { export, node, (const CleaveRange *) (gpointer) a->ranges->data };
  CleaveRange whole = cleave_range_whole (&node->results[0].type.shape);
  const char *to = cleave_onnx_result_name (export, &node->results[0]);
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  guint axis;

  for (guint i = 0; i < node->n_operands; i++)
    g_array_append_val (parts, i);
  axis = find_cut (&work, parts, &whole).dim;
  if (cleave_range_is_empty (&whole))
    g_ptr_array_add (names, (gpointer) add_empty (export, node));
  else
    fill_box (&work, parts, &whole, axis, names);
  if (names->len > 1)
    add_concat (&work, axis, names, to);
  else
    cleave_onnx_add_node (export, "Identity", node->name, (const char *const *) names->pdata, 1,
                          &to, 1);
}
