/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes tilings, and sets and reads the alignment and the smallest size of their chunks. */

#include "options.h"

#include "../../lib/ir/boxed.h"

/* Sets `value` to element `i` of a list with one value for all `n` dimensions, or one for each.
 * On failure, sets an error that names the list (`what`), and returns FALSE. */
static gboolean
get_of_list (const GArray *list, const char *what, guint i, guint n, gint64 *value, GError **error)
{
  if (list->len == 0 || (list->len != 1 && list->len != n))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "%u values of %s are given for %u dimensions",
                        list->len, what, n);
  *value = g_array_index (list, gint64, list->len == 1 ? 0 : i);
  if (*value < 1)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s must be at least 1, not %" G_GINT64_FORMAT,
                        what, *value);
  return TRUE;
}

gboolean
cleave_tiling_get_chunk_rules (
    const CleaveTiling *tiling, guint i, guint n, CleaveChunkRules *rules, GError **error)
{
  rules->small_first = tiling->small_first;
  return get_of_list (tiling->alignments, "alignment", i, n, &rules->alignment, error) &&
         get_of_list (tiling->min_chunks, "minimum chunk", i, n, &rules->min_chunk, error);
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

static CleaveTiling *
new_tiling (const char *dims, CleaveCutExtent cut, const char *what)
{
  CleaveTiling *tiling = g_atomic_rc_box_new0 (CleaveTiling);

  tiling->dims = g_strdup (dims);
  tiling->cut = cut;
  tiling->what = what;
  tiling->lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  tiling->ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  tiling->alignments = new_ones ();
  tiling->min_chunks = new_ones ();
  return tiling;
}

static void
add_list (CleaveTiling *tiling, gconstpointer values, guint n, guint size)
{
  GArray *list = g_array_new (FALSE, FALSE, size);

  if (n > 0)
    g_array_append_vals (list, values, n);
  g_ptr_array_add (tiling->lists, list);
}

/**
 * cleave_tiling_by_num_chunks: (constructor)
 * @dims: (nullable): dimensions, such as `H,W` or `2,-1`; the first is outermost. %NULL lists no
 * dimensions, which is an error when the tiling is applied to a node
 * @counts: (array length=n_counts): number of chunks of each listed dimension, from 1 to its extent
 * @n_counts: number of listed dimensions
 *
 * Cuts dimensions into these numbers of chunks. Sizes differ by at most one; larger chunks come
 * first. The numbers are checked when the tiling is applied to a node.
 *
 * Returns: (transfer full): the tiling
 *
 * Since: 0.1
 */
CleaveTiling *
cleave_tiling_by_num_chunks (const char *dims, const gint64 *counts, guint n_counts)
{
  g_return_val_if_fail (counts != NULL || n_counts == 0, NULL);

  CleaveTiling *tiling = new_tiling (dims, cleave_cut_by_number, "numbers of chunks");

  for (guint i = 0; i < n_counts; i++)
    add_list (tiling, &counts[i], 1, sizeof *counts);
  return tiling;
}

/**
 * cleave_tiling_by_chunk_size: (constructor)
 * @dims: (nullable): dimensions, such as `H,W` or `2,-1`; the first is outermost. %NULL lists no
 * dimensions, which is an error when the tiling is applied to a node
 * @sizes: (array length=n_sizes): size of a chunk in each listed dimension, from 1 to its extent
 * @n_sizes: number of listed dimensions
 *
 * Cuts dimensions into chunks of this size; the last chunk is the remainder.
 *
 * Returns: (transfer full): the tiling
 *
 * Since: 0.1
 */
CleaveTiling *
cleave_tiling_by_chunk_size (const char *dims, const gint64 *sizes, guint n_sizes)
{
  g_return_val_if_fail (sizes != NULL || n_sizes == 0, NULL);

  CleaveTiling *tiling = new_tiling (dims, cleave_cut_by_size, "chunk sizes");

  for (guint i = 0; i < n_sizes; i++)
    add_list (tiling, &sizes[i], 1, sizeof *sizes);
  return tiling;
}

/**
 * cleave_tiling_by_chunk_sizes: (skip)
 * @dims: (nullable): dimensions, such as `H,W` or `2,-1`; the first is outermost. %NULL lists no
 * dimensions, which is an error when the tiling is applied to a node
 * @sizes: (array length=n_lists): for each dimension, the sizes of its chunks, which must add up to
 * its extent; one size may be -1, for the remainder
 * @n_sizes: (array length=n_lists): number of sizes in each list
 * @n_lists: number of listed dimensions
 *
 * Cuts dimensions into chunks of exactly these sizes.
 *
 * Returns: (transfer full): the tiling
 *
 * Since: 0.1
 */
CleaveTiling *
cleave_tiling_by_chunk_sizes (const char *dims,
                              const gint64 *const *sizes,
                              const guint *n_sizes,
                              guint n_lists)
{
  g_return_val_if_fail ((sizes != NULL && n_sizes != NULL) || n_lists == 0, NULL);

  for (guint i = 0; i < n_lists; i++)
    g_return_val_if_fail (sizes[i] != NULL || n_sizes[i] == 0, NULL);

  CleaveTiling *tiling = new_tiling (dims, cleave_cut_by_sizes, "lists of chunk sizes");

  for (guint i = 0; i < n_lists; i++)
    add_list (tiling, sizes[i], n_sizes[i], sizeof **sizes);
  return tiling;
}

/**
 * cleave_tiling_by_chunk_weights: (skip)
 * @dims: (nullable): dimensions, such as `H,W` or `2,-1`; the first is outermost. %NULL lists no
 * dimensions, which is an error when the tiling is applied to a node
 * @weights: (array length=n_lists): for each dimension, the weights of its chunks, which must be
 * positive; their sum does not matter
 * @n_weights: (array length=n_lists): number of weights in each list, at most the extent of the
 * dimension
 * @n_lists: number of listed dimensions
 *
 * Cuts dimensions into chunks with sizes proportional to weights, as Glow's node splitting does.
 * Each chunk gets one element. Each further element goes to the chunk that is furthest below its
 * share; among equal chunks, to the first chunk. Takes O(k log k) time for k weights.
 *
 * Returns: (transfer full): the tiling
 *
 * Since: 0.1
 */
CleaveTiling *
cleave_tiling_by_chunk_weights (const char *dims,
                                const double *const *weights,
                                const guint *n_weights,
                                guint n_lists)
{
  g_return_val_if_fail ((weights != NULL && n_weights != NULL) || n_lists == 0, NULL);

  for (guint i = 0; i < n_lists; i++)
    g_return_val_if_fail (weights[i] != NULL || n_weights[i] == 0, NULL);

  CleaveTiling *tiling = new_tiling (dims, cleave_cut_by_weights, "lists of chunk weights");

  for (guint i = 0; i < n_lists; i++)
    add_list (tiling, weights[i], n_weights[i], sizeof **weights);
  return tiling;
}

/**
 * cleave_tiling_by_chunk_sizes_along: (constructor)
 * @dim: (nullable): one dimension, such as `H` or `-1`
 * @sizes: (array length=n_sizes): the sizes of the chunks, which must add up to the extent; one
 * size may be -1, for the remainder
 * @n_sizes: number of chunks
 *
 * Cuts one dimension into chunks of exactly these sizes.
 *
 * Returns: (transfer full): the tiling
 *
 * Since: 0.1
 */
CleaveTiling *
cleave_tiling_by_chunk_sizes_along (const char *dim, const gint64 *sizes, guint n_sizes)
{
  return cleave_tiling_by_chunk_sizes (dim, &sizes, &n_sizes, 1);
}

/**
 * cleave_tiling_by_chunk_weights_along: (constructor)
 * @dim: (nullable): one dimension, such as `H` or `-1`
 * @weights: (array length=n_weights): the weights of the chunks, which must be positive
 * @n_weights: number of chunks, at most the extent of the dimension
 *
 * Cuts one dimension into chunks with sizes proportional to weights. Each chunk has at least one
 * element.
 *
 * Returns: (transfer full): the tiling
 *
 * Since: 0.1
 */
CleaveTiling *
cleave_tiling_by_chunk_weights_along (const char *dim, const double *weights, guint n_weights)
{
  return cleave_tiling_by_chunk_weights (dim, &weights, &n_weights, 1);
}

/**
 * cleave_tiling_by_slice_ranges: (constructor)
 * @ranges: (array length=n_ranges): one range over all dimensions for each chunk; they may overlap,
 * and together they cover the result
 * @n_ranges: number of @ranges
 *
 * Cuts a result into exactly these chunks.
 *
 * Returns: (transfer full): the tiling
 *
 * Since: 0.1
 */
CleaveTiling *
cleave_tiling_by_slice_ranges (const CleaveRange *ranges, guint n_ranges)
{
  g_return_val_if_fail (ranges != NULL || n_ranges == 0, NULL);

  CleaveTiling *tiling = new_tiling (NULL, NULL, "ranges");

  if (n_ranges > 0)
    g_array_append_vals (tiling->ranges, ranges, n_ranges);
  return tiling;
}

/**
 * cleave_tiling_by_search: (constructor)
 * @dims: (nullable): dimensions that may be cut, such as `H,W`; %NULL for all
 *
 * Cuts a result into the fewest chunks that meet a constraint, like a split without a tiling. In
 * addition, the caller can set the alignment, the minimum size, and the dimensions that may be cut.
 *
 * Returns: (transfer full): the tiling
 *
 * Since: 0.1
 */
CleaveTiling *
cleave_tiling_by_search (const char *dims)
{
  CleaveTiling *tiling = new_tiling (dims, NULL, "constraints");

  tiling->is_search = TRUE;
  return tiling;
}

static void
clear (gpointer data)
{
  CleaveTiling *tiling = data;

  g_ptr_array_unref (tiling->lists);
  g_array_unref (tiling->ranges);
  g_array_unref (tiling->alignments);
  g_array_unref (tiling->min_chunks);
  g_free (tiling->dims);
}

/**
 * cleave_tiling_ref:
 * @tiling: a tiling
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @tiling
 *
 * Since: 0.1
 */

/**
 * cleave_tiling_unref:
 * @tiling: (nullable) (transfer full): a tiling
 *
 * Drops a reference; the last one frees the tiling.
 *
 * Since: 0.1
 */

CLEAVE_DEFINE_COUNTED (CleaveTiling, tiling, clear)

CLEAVE_DEFINE_VALUE (CleaveConstraint, constraint)
CLEAVE_DEFINE_VALUE (CleaveRecursion, recursion)

/**
 * cleave_tiling_set_small_first:
 * @tiling: a tiling
 * @small_first: whether smaller chunks come first; only for tilings by number of chunks and by
 * chunk size
 *
 * Sets whether the smaller chunks come before or after the larger chunks.
 *
 * Since: 0.1
 */
void
cleave_tiling_set_small_first (CleaveTiling *tiling, gboolean small_first)
{
  g_return_if_fail (tiling != NULL);
  tiling->small_first = small_first;
}

/**
 * cleave_tiling_set_alignment:
 * @tiling: a tiling
 * @alignment: chunks end at multiples of this number, except for the last chunk; 1 by default
 *
 * Aligns chunks. Computed sizes are adjusted: a chunk size is rounded down to a multiple, but not
 * below the minimum nor to zero. Sizes and ranges given by the caller must be aligned.
 *
 * Since: 0.1
 */
void
cleave_tiling_set_alignment (CleaveTiling *tiling, gint64 alignment)
{
  g_return_if_fail (tiling != NULL);
  cleave_tiling_set_alignments (tiling, &alignment, 1);
}

/**
 * cleave_tiling_set_alignments:
 * @tiling: a tiling
 * @alignments: (array length=n_alignments): the alignment of each listed dimension, or of each
 * dimension if the tiling has ranges
 * @n_alignments: the number of these dimensions; or 1, for the same alignment in all dimensions
 *
 * Aligns chunks as [method@Cleave.Tiling.set_alignment] does, with an alignment for each dimension.
 *
 * Since: 0.1
 */
void
cleave_tiling_set_alignments (CleaveTiling *tiling, const gint64 *alignments, guint n_alignments)
{
  g_return_if_fail (tiling != NULL && (alignments != NULL || n_alignments == 0));
  set_list (tiling->alignments, alignments, n_alignments);
}

/**
 * cleave_tiling_set_min_chunk:
 * @tiling: a tiling
 * @min_chunk: the smallest legal chunk of a dimension; 1 by default
 *
 * Forbids chunks that are too small. A dimension that is smaller than the minimum stays whole. A
 * remainder that is too small is added to its neighbor. With weights or a number of chunks, a last
 * chunk that is too small gets the minimum. Sizes and ranges of the caller must meet the minimum.
 *
 * Since: 0.1
 */
void
cleave_tiling_set_min_chunk (CleaveTiling *tiling, gint64 min_chunk)
{
  g_return_if_fail (tiling != NULL);
  cleave_tiling_set_min_chunks (tiling, &min_chunk, 1);
}

/**
 * cleave_tiling_set_min_chunks:
 * @tiling: a tiling
 * @min_chunks: (array length=n_min_chunks): the smallest legal chunk of each listed dimension, or
 * of each dimension if the tiling has ranges
 * @n_min_chunks: the number of these dimensions; or 1, for the same minimum in all dimensions
 *
 * Forbids chunks that are too small, as [method@Cleave.Tiling.set_min_chunk] does, with a minimum
 * for each dimension.
 *
 * Since: 0.1
 */
void
cleave_tiling_set_min_chunks (CleaveTiling *tiling, const gint64 *min_chunks, guint n_min_chunks)
{
  g_return_if_fail (tiling != NULL && (min_chunks != NULL || n_min_chunks == 0));
  set_list (tiling->min_chunks, min_chunks, n_min_chunks);
}
