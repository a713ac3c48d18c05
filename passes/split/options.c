/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "options.h"

#include "../../lib/ir/boxed.h"

gboolean
cleave_split_wrong (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (CLEAVE_ERROR, CLEAVE_ERROR_OPTION, format, args);
  va_end (args);
  return FALSE;
}

/* One of a list that has one for all, or one for each of `n`. */
static gboolean
get_of_list (const GArray *list, const char *what, guint i, guint n, gint64 *value, GError **error)
{
  if (list->len == 0 || (list->len != 1 && list->len != n))
    return cleave_split_wrong (error, "%u values of %s are given for %u dimensions", list->len,
                               what, n);
  *value = g_array_index (list, gint64, list->len == 1 ? 0 : i);
  if (*value < 1)
    return cleave_split_wrong (error, "%s must be at least 1, not %" G_GINT64_FORMAT, what, *value);
  return TRUE;
}

gboolean
cleave_split_get_grain (
    const CleaveSplit *split, guint i, guint n, CleaveGrain *grain, GError **error)
{
  grain->small_first = split->small_first;
  return get_of_list (split->alignments, "alignment", i, n, &grain->alignment, error) &&
         get_of_list (split->min_chunks, "minimum chunk", i, n, &grain->min_chunk, error);
}

static GArray *
new_ones (void)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 one = 1;

  return g_array_append_val (list, one);
}

static void
set_list (GArray *list, const gint64 *values, guint n)
{
  g_array_set_size (list, 0);
  g_array_append_vals (list, values, n);
}

static CleaveSplit *
split_new (const char *dims, CleaveCutExtent cut, const char *what)
{
  CleaveSplit *split = g_atomic_rc_box_new0 (CleaveSplit);

  split->dims = g_strdup (dims);
  split->cut = cut;
  split->what = what;
  split->lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  split->ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  split->alignments = new_ones ();
  split->min_chunks = new_ones ();
  return split;
}

static void
add_list (CleaveSplit *split, gconstpointer values, guint n, guint size)
{
  GArray *list = g_array_new (FALSE, FALSE, size);

  if (n > 0)
    g_array_append_vals (list, values, n);
  g_ptr_array_add (split->lists, list);
}

/**
 * cleave_split_by_num_chunks:
 * @dims: (nullable): dimensions, such as `H,W` or `2,-1`; the first is outermost.  %NULL lists
 * none, which is an error where the option meets a node
 * @counts: (array length=n_counts): number of chunks of each of them, between 1 and its extent
 * @n_counts: as many as dimensions are listed
 *
 * Cuts dimensions into so many chunks, whose sizes differ by at most one, the bigger first.  That
 * the numbers fit is checked where the option meets a node.
 *
 * Returns: (transfer full): the option
 */
CleaveSplit *
cleave_split_by_num_chunks (const char *dims, const gint64 *counts, guint n_counts)
{
  g_return_val_if_fail (counts != NULL || n_counts == 0, NULL);

  CleaveSplit *split = split_new (dims, cleave_cut_by_number, "numbers of chunks");

  for (guint i = 0; i < n_counts; i++)
    add_list (split, &counts[i], 1, sizeof *counts);
  return split;
}

/**
 * cleave_split_by_chunk_size:
 * @dims: (nullable): dimensions, such as `H,W` or `2,-1`; the first is outermost.  %NULL lists
 * none, which is an error where the option meets a node
 * @sizes: (array length=n_sizes): size of a chunk in each of them, between 1 and its extent
 * @n_sizes: as many as dimensions are listed
 *
 * Cuts dimensions into chunks of this size; what remains is the last.
 *
 * Returns: (transfer full): the option
 */
CleaveSplit *
cleave_split_by_chunk_size (const char *dims, const gint64 *sizes, guint n_sizes)
{
  g_return_val_if_fail (sizes != NULL || n_sizes == 0, NULL);

  CleaveSplit *split = split_new (dims, cleave_cut_by_size, "chunk sizes");

  for (guint i = 0; i < n_sizes; i++)
    add_list (split, &sizes[i], 1, sizeof *sizes);
  return split;
}

/**
 * cleave_split_by_chunk_sizes: (skip)
 * @dims: (nullable): dimensions, such as `H,W` or `2,-1`; the first is outermost.  %NULL lists
 * none, which is an error where the option meets a node
 * @sizes: (array length=n_lists): for each dimension the sizes of its chunks, which add up to its
 * extent; one of them may be -1, what is left
 * @n_sizes: (array length=n_lists): how many sizes each list has
 * @n_lists: as many as dimensions are listed
 *
 * Cuts dimensions into chunks of exactly these sizes.
 *
 * Returns: (transfer full): the option
 */
CleaveSplit *
cleave_split_by_chunk_sizes (const char *dims,
                             const gint64 *const *sizes,
                             const guint *n_sizes,
                             guint n_lists)
{
  g_return_val_if_fail ((sizes != NULL && n_sizes != NULL) || n_lists == 0, NULL);

  for (guint i = 0; i < n_lists; i++)
    g_return_val_if_fail (sizes[i] != NULL || n_sizes[i] == 0, NULL);

  CleaveSplit *split = split_new (dims, cleave_cut_by_sizes, "lists of chunk sizes");

  for (guint i = 0; i < n_lists; i++)
    add_list (split, sizes[i], n_sizes[i], sizeof **sizes);
  return split;
}

/**
 * cleave_split_by_chunk_weights: (skip)
 * @dims: (nullable): dimensions, such as `H,W` or `2,-1`; the first is outermost.  %NULL lists
 * none, which is an error where the option meets a node
 * @weights: (array length=n_lists): for each dimension the positive weights of its chunks; they
 * need not add up to anything
 * @n_weights: (array length=n_lists): how many weights each list has, at most the dimension's
 * extent
 * @n_lists: as many as dimensions are listed
 *
 * Cuts dimensions into chunks proportional to weights, each of at least one: every chunk begins
 * with one, then one more goes to the chunk furthest below its share, the first of several (the
 * rule of Glow's node splitting). Costs O(k log k) for k weights.
 *
 * Returns: (transfer full): the option
 */
CleaveSplit *
cleave_split_by_chunk_weights (const char *dims,
                               const double *const *weights,
                               const guint *n_weights,
                               guint n_lists)
{
  g_return_val_if_fail ((weights != NULL && n_weights != NULL) || n_lists == 0, NULL);

  for (guint i = 0; i < n_lists; i++)
    g_return_val_if_fail (weights[i] != NULL || n_weights[i] == 0, NULL);

  CleaveSplit *split = split_new (dims, cleave_cut_by_weights, "lists of chunk weights");

  for (guint i = 0; i < n_lists; i++)
    add_list (split, weights[i], n_weights[i], sizeof **weights);
  return split;
}

/**
 * cleave_split_by_chunk_sizes_along:
 * @dim: (nullable): one dimension, such as `H` or `-1`
 * @sizes: (array length=n_sizes): the sizes of its chunks, which add up to its extent; one of them
 * may be -1, what is left
 * @n_sizes: how many
 *
 * Cuts one dimension into chunks of exactly these sizes.
 *
 * Returns: (transfer full): the option
 */
CleaveSplit *
cleave_split_by_chunk_sizes_along (const char *dim, const gint64 *sizes, guint n_sizes)
{
  return cleave_split_by_chunk_sizes (dim, &sizes, &n_sizes, 1);
}

/**
 * cleave_split_by_chunk_weights_along:
 * @dim: (nullable): one dimension, such as `H` or `-1`
 * @weights: (array length=n_weights): the positive weights of its chunks
 * @n_weights: how many, at most the dimension's extent
 *
 * Cuts one dimension into chunks proportional to weights, each of at least one.
 *
 * Returns: (transfer full): the option
 */
CleaveSplit *
cleave_split_by_chunk_weights_along (const char *dim, const double *weights, guint n_weights)
{
  return cleave_split_by_chunk_weights (dim, &weights, &n_weights, 1);
}

/**
 * cleave_split_by_slice_ranges:
 * @ranges: (array length=n_ranges): one range over all dimensions for each chunk; they may overlap,
 * and together they cover the result
 * @n_ranges: how many
 *
 * Cuts out exactly these chunks.
 *
 * Returns: (transfer full): the option
 */
CleaveSplit *
cleave_split_by_slice_ranges (const CleaveRange *ranges, guint n_ranges)
{
  g_return_val_if_fail (ranges != NULL || n_ranges == 0, NULL);

  CleaveSplit *split = split_new (NULL, NULL, "ranges");

  if (n_ranges > 0)
    g_array_append_vals (split->ranges, ranges, n_ranges);
  return split;
}

/**
 * cleave_split_by_search:
 * @dims: (nullable): dimensions that may be cut, such as `H,W`; %NULL for all
 *
 * Cuts as few chunks as a constraint allows, as where there is no option at all; but alignment and
 * minimum size may be set, and dimensions left alone.
 *
 * Returns: (transfer full): the option
 */
CleaveSplit *
cleave_split_by_search (const char *dims)
{
  CleaveSplit *split = split_new (dims, NULL, "constraints");

  split->is_search = TRUE;
  return split;
}

/**
 * cleave_split_ref:
 * @split: an option
 *
 * Returns: (transfer full): the same option, with one more owner
 */
CleaveSplit *
cleave_split_ref (CleaveSplit *split)
{
  g_return_val_if_fail (split != NULL, NULL);
  return g_atomic_rc_box_acquire (split);
}

static void
clear (gpointer data)
{
  CleaveSplit *split = data;

  g_ptr_array_unref (split->lists);
  g_array_unref (split->ranges);
  g_array_unref (split->alignments);
  g_array_unref (split->min_chunks);
  g_free (split->dims);
}

/**
 * cleave_split_unref:
 * @split: (nullable) (transfer full): an option
 *
 * Gives up one owner's hold; the last one frees the option.
 */
void
cleave_split_unref (CleaveSplit *split)
{
  if (split != NULL)
    g_atomic_rc_box_release_full (split, clear);
}

CLEAVE_DEFINE_BOXED (CleaveSplit, split, cleave_split_ref, cleave_split_unref)

/**
 * cleave_split_set_small_first:
 * @split: an option
 * @small_first: whether the smaller chunks come first; only of a number of chunks and of a chunk
 * size
 *
 * Chooses where the smaller chunks lie.
 */
void
cleave_split_set_small_first (CleaveSplit *split, gboolean small_first)
{
  g_return_if_fail (split != NULL);
  split->small_first = small_first;
}

/**
 * cleave_split_set_alignment:
 * @split: an option
 * @alignment: chunks end at multiples of it, the last chunk excepted; 1 by default
 *
 * Aligns chunks.  Sizes that are computed are shaped by it (a chunk size is rounded down to a
 * multiple, but not below the minimum nor to zero); sizes and ranges that are given must keep to
 * it.
 */
void
cleave_split_set_alignment (CleaveSplit *split, gint64 alignment)
{
  g_return_if_fail (split != NULL);
  cleave_split_set_alignments (split, &alignment, 1);
}

/**
 * cleave_split_set_alignments:
 * @split: an option
 * @alignments: (array length=n_alignments): of each dimension listed, or of each of a range
 * @n_alignments: as many as these; or 1, for all of them
 *
 * Aligns chunks as [method@Cleave.Split.set_alignment] does, each dimension by itself.
 */
void
cleave_split_set_alignments (CleaveSplit *split, const gint64 *alignments, guint n_alignments)
{
  g_return_if_fail (split != NULL && (alignments != NULL || n_alignments == 0));
  set_list (split->alignments, alignments, n_alignments);
}

/**
 * cleave_split_set_min_chunk:
 * @split: an option
 * @min_chunk: the smallest legal chunk of a dimension; 1 by default
 *
 * Forbids chunks that are too small, unless a dimension is smaller and stays whole.  A remainder
 * that would be is given to its neighbour; of a number of chunks and of weights the last gets as
 * much as it takes; sizes and ranges that are given must keep to it.
 */
void
cleave_split_set_min_chunk (CleaveSplit *split, gint64 min_chunk)
{
  g_return_if_fail (split != NULL);
  cleave_split_set_min_chunks (split, &min_chunk, 1);
}

/**
 * cleave_split_set_min_chunks:
 * @split: an option
 * @min_chunks: (array length=n_min_chunks): of each dimension listed, or of each of a range
 * @n_min_chunks: as many as these; or 1, for all of them
 *
 * Forbids chunks that are too small, as [method@Cleave.Split.set_min_chunk] does, in each dimension
 * by itself.
 */
void
cleave_split_set_min_chunks (CleaveSplit *split, const gint64 *min_chunks, guint n_min_chunks)
{
  g_return_if_fail (split != NULL && (min_chunks != NULL || n_min_chunks == 0));
  set_list (split->min_chunks, min_chunks, n_min_chunks);
}
