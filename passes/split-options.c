/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cleave/cleave-error.h>
#include <cleave/cleave-split.h>

#include <math.h>
#include <string.h>

#include "split-weights.h"

/* Far above what anyone wants, far below what fills the memory. */
#define MAX_CHUNKS (1 << 20)

/* An extent becomes sizes that add up to it. */
typedef GArray *(*Cut) (const CleaveSplit *split,
                        const GArray *list,
                        gint64 extent,
                        GError **error);

struct _CleaveSplit
{
  char *dims;
  Cut cut;          /* NULL: the ranges are given */
  const char *what; /* what a list holds, for messages */
  GPtrArray *lists; /* a GArray of gint64 or double for each listed dimension */
  GArray *ranges;
  gboolean small_first;
  gint64 alignment, min_chunk;
};

static gboolean wrong (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
wrong (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (CLEAVE_ERROR, CLEAVE_ERROR_OPTION, format, args);
  va_end (args);
  return FALSE;
}

/* Sizes. */

static void
reverse (GArray *sizes)
{
  gint64 *size = (gint64 *) sizes->data;

  for (guint i = 0, j = sizes->len; i + 1 < j; i++)
    {
      gint64 first = size[i];

      size[i] = size[--j];
      size[j] = first;
    }
}

/* From units of the alignment to elements: the last unit may be short. */
static GArray *
scale (const CleaveSplit *split, GArray *sizes, gint64 extent, GError **error)
{
  g_autoptr (GArray) owned = sizes;
  gint64 begin = 0;

  for (guint i = 0; i < sizes->len; i++)
    {
      gint64 *size = &g_array_index (sizes, gint64, i);

      *size = MIN (*size * split->alignment, extent - begin);
      begin += *size;
      if (*size < split->min_chunk && sizes->len > 1)
        {
          wrong (error,
                 "chunk %u would be %" G_GINT64_FORMAT ", below the minimum of %" G_GINT64_FORMAT,
                 i, *size, split->min_chunk);
          return NULL;
        }
    }
  return g_steal_pointer (&owned);
}

static gint64
ceil_div (gint64 a, gint64 b)
{
  return a / b + (a % b != 0);
}

static GArray *
new_sizes (gint64 n)
{
  return g_array_sized_new (FALSE, FALSE, sizeof (gint64), (guint) n);
}

static GArray *
cut_by_number (const CleaveSplit *split, const GArray *list, gint64 extent, GError **error)
{
  gint64 k = g_array_index (list, gint64, 0);
  gint64 units = ceil_div (extent, split->alignment);
  gint64 smallest = ceil_div (split->min_chunk, split->alignment);
  gint64 most = MIN (extent, MAX (units / smallest, 1));
  GArray *sizes;

  if (k < 1 || k > most)
    {
      wrong (error,
             "number of chunks must be between 1 and %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT,
             most, k);
      return NULL;
    }
  k = MIN (k, MAX_CHUNKS + 1);
  sizes = new_sizes (k);
  for (gint64 i = 0; i < k; i++)
    {
      gint64 size = units / k + (i < units % k);

      g_array_append_val (sizes, size);
    }
  if (split->small_first)
    reverse (sizes);
  return scale (split, sizes, extent, error);
}

static GArray *
cut_by_size (const CleaveSplit *split, const GArray *list, gint64 extent, GError **error)
{
  gint64 wanted = g_array_index (list, gint64, 0);
  gint64 units = ceil_div (extent, split->alignment);
  gint64 size = MAX (wanted / split->alignment, 1);
  gint64 rest = units % size;
  gint64 n = units / size;
  gint64 least = MIN (split->min_chunk, extent);
  GArray *sizes;

  if (wanted < least || wanted > extent)
    {
      wrong (error,
             "chunk size must be between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
             ", not %" G_GINT64_FORMAT,
             least, extent, wanted);
      return NULL;
    }
  n = MIN (n, MAX_CHUNKS + 1);
  sizes = new_sizes (n + 1);
  for (gint64 i = 0; i < n; i++)
    g_array_append_val (sizes, size);
  /* What is left over is a chunk if it is large enough, else its neighbour's. */
  if (rest > 0 && (n == 0 || extent - n * size * split->alignment >= split->min_chunk))
    g_array_append_val (sizes, rest);
  else if (rest > 0)
    g_array_index (sizes, gint64, sizes->len - 1) += rest;
  if (split->small_first && rest > 0)
    reverse (sizes);
  return scale (split, sizes, extent, error);
}

/* Sizes that were given must keep to alignment and minimum by themselves. */
static gboolean
check_given (const CleaveSplit *split, const CleaveSpan *span, gint64 extent, GError **error)
{
  if (span->begin % split->alignment != 0 ||
      (span->end % split->alignment != 0 && span->end != extent))
    return wrong (error,
                  "%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT
                  " does not keep to multiples of the alignment %" G_GINT64_FORMAT,
                  span->begin, span->end, split->alignment);
  if (span->end - span->begin < MIN (split->min_chunk, extent))
    return wrong (error,
                  "%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT
                  " is smaller than the minimum of %" G_GINT64_FORMAT,
                  span->begin, span->end, split->min_chunk);
  return TRUE;
}

/* The list with its one -1, if any, replaced by what is left; or the error. */
static gboolean
fill_in (GArray *sizes, gint64 extent, GError **error)
{
  gint64 sum = 0;
  guint open = G_MAXUINT;

  for (guint i = 0; i < sizes->len; i++)
    {
      gint64 size = g_array_index (sizes, gint64, i);

      if (size == -1 && open != G_MAXUINT)
        return wrong (error, "chunk sizes %u and %u are both -1: only one can be what is left",
                      open, i);
      if (size == -1)
        open = i;
      else if (size < 1)
        return wrong (error, "chunk size %u must be at least 1, not %" G_GINT64_FORMAT, i, size);
      else if (__builtin_add_overflow (sum, size, &sum))
        return wrong (error, "chunk sizes up to %u add up to more than 64 bits", i);
    }
  if (open != G_MAXUINT && sum < extent)
    g_array_index (sizes, gint64, open) = extent - sum;
  else if (open != G_MAXUINT)
    return wrong (error,
                  "the other chunk sizes add up to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                  ": nothing is left for the -1",
                  sum, extent);
  else if (sum != extent)
    return wrong (error, "chunk sizes add up to %" G_GINT64_FORMAT ", not to %" G_GINT64_FORMAT,
                  sum, extent);
  return TRUE;
}

static GArray *
cut_by_sizes (const CleaveSplit *split, const GArray *list, gint64 extent, GError **error)
{
  g_autoptr (GArray) sizes = g_array_copy ((GArray *) list);
  CleaveSpan span = { 0, 0 };

  if (!fill_in (sizes, extent, error))
    return NULL;
  for (guint i = 0; i < sizes->len; i++, span.begin = span.end)
    {
      span.end = span.begin + g_array_index (sizes, gint64, i);
      if (!check_given (split, &span, extent, error))
        return NULL;
    }
  return g_steal_pointer (&sizes);
}

static gboolean
check_weights (const GArray *list, gint64 most, GError **error)
{
  double sum = 0;

  if (list->len < 1 || list->len > most)
    return wrong (error, "number of weights must be between 1 and %" G_GINT64_FORMAT ", not %u",
                  most, list->len);
  for (guint i = 0; i < list->len; i++)
    {
      double weight = g_array_index (list, double, i);

      sum += weight;
      if (!(weight > 0) || !isfinite (sum))
        return wrong (error, "chunk weight %u must be positive and finite, not %g", i, weight);
    }
  return TRUE;
}

static GArray *
cut_by_weights (const CleaveSplit *split, const GArray *list, gint64 extent, GError **error)
{
  gint64 least = ceil_div (split->min_chunk, split->alignment);
  gint64 units = ceil_div (extent, split->alignment);
  GArray *sizes;

  if (!check_weights (list, MIN (extent, MAX (units / least, 1)), error))
    return NULL;
  sizes = g_array_set_size (new_sizes (list->len), list->len);
  cleave_share_out ((const double *) list->data, list->len, units, MIN (least, units),
                    (gint64 *) sizes->data);
  return scale (split, sizes, extent, error);
}

/* Dimensions. */

/* "H" or "dimension 2". */
static char *
dim_name (guint d, const char *letters)
{
  return letters != NULL && d < strlen (letters) ? g_strdup_printf ("%c", letters[d])
                                                 : g_strdup_printf ("dimension %u", d);
}

static gboolean
parse_dim (const char *word, guint rank, const char *letters, guint *dim, GError **error)
{
  const char *letter = letters != NULL && strlen (word) == 1 && strlen (letters) == rank
                           ? strchr (letters, *word)
                           : NULL;
  gint64 index;

  if (letter != NULL)
    {
      *dim = (guint) (letter - letters);
      return TRUE;
    }
  if (rank == 0)
    return wrong (error, "a scalar has no dimension '%s'", word);
  if (!g_ascii_string_to_signed (word, 10, -(gint64) rank, (gint64) rank - 1, &index, NULL))
    return wrong (error, "dimension must be between -%u and %u%s%s, not '%s'", rank, rank - 1,
                  letters != NULL ? " or a letter of " : "", letters != NULL ? letters : "", word);
  *dim = (guint) (index < 0 ? index + rank : index);
  return TRUE;
}

/* The listed dimensions in their order, as many as there are lists. */
static gboolean
parse_dims (const CleaveSplit *split, guint rank, const char *letters, guint *dims, GError **error)
{
  g_auto (GStrv) words = g_strsplit (split->dims != NULL ? split->dims : "", ",", -1);
  guint n = g_strv_length (words);

  if (n == 0)
    return wrong (error, "no dimension is listed");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = NULL;

      if (i == CLEAVE_MAX_RANK)
        return wrong (error, "more than %d dimensions are listed", CLEAVE_MAX_RANK);
      if (!parse_dim (g_strstrip (words[i]), rank, letters, &dims[i], error))
        return FALSE;
      name = dim_name (dims[i], letters);
      for (guint j = 0; j < i; j++)
        if (dims[j] == dims[i])
          return wrong (error, "%s is listed twice in '%s'", name, split->dims);
    }
  if (n != split->lists->len)
    return wrong (error, "'%s' lists %u dimensions, but %s are given for %u", split->dims, n,
                  split->what, split->lists->len);
  return TRUE;
}

/* Ranges. */

static gboolean
cut_ranges (GArray **ranges, guint d, const GArray *sizes, GError **error)
{
  GArray *cut;

  if ((gint64) (*ranges)->len * sizes->len > MAX_CHUNKS)
    return wrong (error, "the split would make more than %d chunks", MAX_CHUNKS);
  cut = g_array_sized_new (FALSE, FALSE, sizeof (CleaveRange), (*ranges)->len * sizes->len);
  for (guint i = 0; i < (*ranges)->len; i++)
    {
      CleaveRange range = g_array_index (*ranges, CleaveRange, i);

      range.dim[d].end = range.dim[d].begin;
      for (guint j = 0; j < sizes->len; j++)
        {
          range.dim[d].begin = range.dim[d].end;
          range.dim[d].end += g_array_index (sizes, gint64, j);
          g_array_append_val (cut, range);
        }
    }
  g_array_unref (*ranges);
  *ranges = cut;
  return TRUE;
}

static GArray *
grid_ranges (const CleaveSplit *split,
             const CleaveShape *shape,
             const char *letters,
             GError **error)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  CleaveRange whole = cleave_range_whole (shape);
  guint dims[CLEAVE_MAX_RANK];

  if (!parse_dims (split, shape->rank, letters, dims, error))
    return NULL;
  g_array_append_val (ranges, whole);
  for (guint i = 0; i < split->lists->len; i++)
    {
      g_autoptr (GArray) sizes =
          split->cut (split, g_ptr_array_index (split->lists, i), shape->dim[dims[i]], error);

      if (sizes == NULL)
        {
          g_autofree char *name = dim_name (dims[i], letters);

          g_prefix_error (error, "%s: ", name);
          return NULL;
        }
      if (!cut_ranges (&ranges, dims[i], sizes, error))
        return NULL;
    }
  return g_steal_pointer (&ranges);
}

static gboolean
check_range (const CleaveSplit *split, guint i, const CleaveRange *whole, GError **error)
{
  const CleaveRange *range = &g_array_index (split->ranges, CleaveRange, i);
  g_autofree char *text = cleave_range_to_string (range);
  g_autofree char *allowed = cleave_range_to_string (whole);

  if (range->rank != whole->rank)
    return wrong (error, "range %u, %s, has rank %u, but the result has rank %u", i, text,
                  range->rank, whole->rank);
  if (cleave_range_is_empty (range))
    return wrong (error, "range %u, %s, is empty", i, text);
  if (!cleave_range_contains (whole, range))
    return wrong (error, "range %u, %s, must lie inside %s", i, text, allowed);
  for (guint d = 0; d < range->rank; d++)
    if (!check_given (split, &range->dim[d], whole->dim[d].end, error))
      return FALSE;
  return TRUE;
}

static GArray *
given_ranges (const CleaveSplit *split, const CleaveShape *shape, GError **error)
{
  CleaveRange whole = cleave_range_whole (shape);
  g_autofree char *text = cleave_range_to_string (&whole);
  CleaveRange missing;

  if (split->ranges->len == 0)
    {
      wrong (error, "no range is given; together they must cover %s", text);
      return NULL;
    }
  for (guint i = 0; i < split->ranges->len; i++)
    if (!check_range (split, i, &whole, error))
      return NULL;
  if (!cleave_ranges_cover ((const CleaveRange *) split->ranges->data, split->ranges->len, &whole,
                            &missing))
    {
      g_autofree char *gap = cleave_range_to_string (&missing);

      wrong (error, "the ranges must cover %s, but none covers %s", text, gap);
      return NULL;
    }
  return g_array_copy (split->ranges);
}

/**
 * cleave_split_ranges:
 * @split: an option
 * @shape: shape of a result
 * @letters: (nullable): letters of its dimensions, such as `NCHW`
 * @error: return location for a [struct@GLib.Error]
 *
 * Turns an option into the ranges of its chunks: of a grid, the first listed dimension outermost;
 * of given ranges, these, in their order.  Costs as much as there are chunks, but for the cover
 * check of ranges in disorder.
 *
 * Fails with %CLEAVE_ERROR_OPTION, telling what is allowed and what came, if the option does not
 * fit the shape.
 *
 * Returns: (transfer full) (nullable) (element-type CleaveRange): the ranges
 */
GArray *
cleave_split_ranges (const CleaveSplit *split,
                     const CleaveShape *shape,
                     const char *letters,
                     GError **error)
{
  if (split->alignment < 1)
    {
      wrong (error, "alignment must be at least 1, not %" G_GINT64_FORMAT, split->alignment);
      return NULL;
    }
  if (split->min_chunk < 1)
    {
      wrong (error, "minimum chunk must be at least 1, not %" G_GINT64_FORMAT, split->min_chunk);
      return NULL;
    }
  return split->cut == NULL ? given_ranges (split, shape, error)
                            : grid_ranges (split, shape, letters, error);
}

/* Constructors. */

static CleaveSplit *
split_new (const char *dims, Cut cut, const char *what)
{
  CleaveSplit *split = g_new0 (CleaveSplit, 1);

  split->dims = g_strdup (dims);
  split->cut = cut;
  split->what = what;
  split->lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  split->ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  split->alignment = split->min_chunk = 1;
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
 * @dims: dimensions, such as `H,W` or `2,-1`; the first is outermost
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
  CleaveSplit *split = split_new (dims, cut_by_number, "numbers of chunks");

  for (guint i = 0; i < n_counts; i++)
    add_list (split, &counts[i], 1, sizeof *counts);
  return split;
}

/**
 * cleave_split_by_chunk_size:
 * @dims: dimensions, such as `H,W` or `2,-1`; the first is outermost
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
  CleaveSplit *split = split_new (dims, cut_by_size, "chunk sizes");

  for (guint i = 0; i < n_sizes; i++)
    add_list (split, &sizes[i], 1, sizeof *sizes);
  return split;
}

/**
 * cleave_split_by_chunk_sizes:
 * @dims: dimensions, such as `H,W` or `2,-1`; the first is outermost
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
  CleaveSplit *split = split_new (dims, cut_by_sizes, "lists of chunk sizes");

  for (guint i = 0; i < n_lists; i++)
    add_list (split, sizes[i], n_sizes[i], sizeof **sizes);
  return split;
}

/**
 * cleave_split_by_chunk_weights:
 * @dims: dimensions, such as `H,W` or `2,-1`; the first is outermost
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
  CleaveSplit *split = split_new (dims, cut_by_weights, "lists of chunk weights");

  for (guint i = 0; i < n_lists; i++)
    add_list (split, weights[i], n_weights[i], sizeof **weights);
  return split;
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
  CleaveSplit *split = split_new (NULL, NULL, "ranges");

  if (n_ranges > 0)
    g_array_append_vals (split->ranges, ranges, n_ranges);
  return split;
}

/**
 * cleave_split_free:
 * @split: (nullable) (transfer full): an option
 *
 * Frees it.
 */
void
cleave_split_free (CleaveSplit *split)
{
  if (split == NULL)
    return;
  g_ptr_array_unref (split->lists);
  g_array_unref (split->ranges);
  g_free (split->dims);
  g_free (split);
}

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
  split->small_first = small_first;
}

/**
 * cleave_split_set_alignment:
 * @split: an option
 * @alignment: chunks end at multiples of it, the last chunk excepted; 1 by default
 *
 * Aligns chunks.  Sizes that are computed are shaped by it (a chunk size is rounded down to a
 * multiple, but not to zero); sizes and ranges that are given must keep to it.
 */
void
cleave_split_set_alignment (CleaveSplit *split, gint64 alignment)
{
  split->alignment = alignment;
}

/**
 * cleave_split_set_min_chunk:
 * @split: an option
 * @min_chunk: the smallest legal chunk of a dimension; 1 by default
 *
 * Forbids chunks that are too small.  A remainder that would be is given to its neighbour; sizes
 * and ranges that are given must keep to it.
 */
void
cleave_split_set_min_chunk (CleaveSplit *split, gint64 min_chunk)
{
  split->min_chunk = min_chunk;
}
