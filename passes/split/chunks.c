/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cuts an extent into chunks: by a number of chunks, a chunk size, a list of sizes, or weights. The
 * functions implement four of the five ways to describe a tiling (options.h), and return lists of
 * chunk sizes. */

#include "../../lib/ir/align.h"
#include "options.h"
#include "weights.h"

#include <math.h>

/* An extent in units of the alignment, and the limits on its chunks. For example, an extent of 10
 * with the alignment 4 has 3 units: two of 4 elements, and the last one of 2. Since the last unit
 * may be shorter, the last chunk may need one more unit than the other chunks to reach the minimum
 * size. */
typedef struct
{
  /* number of alignment units in the extent; an alignment unit has as many elements as the
   * alignment */
  gint64 n;
  gint64 least; /* smallest number of alignment units that a chunk may have */
  /* smallest number of alignment units that the last chunk may have, if there are several chunks */
  gint64 least_at_end;
  /* largest number of chunks into which the extent can be cut, if each chunk has the minimum
   * size */
  gint64 most;
} Units;

static Units
count_units (const CleaveChunkRules *rules, gint64 extent)
{
  gint64 align = rules->alignment, min = MIN (rules->min_chunk, extent);
  gint64 missing = extent % align == 0 ? 0 : align - extent % align;
  Units units = { .n = cleave_ceil_div (extent, align), .most = 1 };

  units.least = MAX (cleave_ceil_div (min, align), 1);
  units.least_at_end = MAX (cleave_ceil_div (min + missing, align), 1);
  if (units.n > units.least_at_end)
    units.most += (units.n - units.least_at_end) / units.least;
  return units;
}

/* Converts `sizes` from units of the alignment to elements, and returns `sizes`. The last size ends
 * at the end of the extent. */
static GArray *
scale (GArray *sizes, const CleaveChunkRules *rules, gint64 extent)
{
  gint64 begin = 0;

  for (guint i = 0; i < sizes->len; i++)
    {
      gint64 *size = &g_array_index (sizes, gint64, i);

      *size = MIN (*size * rules->alignment, extent - begin);
      begin += *size;
    }
  return sizes;
}

static GArray *
new_sizes (gint64 n)
{
  return g_array_sized_new (FALSE, FALSE, sizeof (gint64), (guint) n);
}

static gint64 *
get_size (GArray *sizes, guint i)
{
  return &g_array_index (sizes, gint64, i);
}

/* Appends `k` sizes that add up to `n` and differ by at most 1. `small_first`: the smaller sizes
 * come first. */
static void
add_equal (GArray *sizes, gint64 n, gint64 k, gboolean small_first)
{
  for (gint64 i = 0; i < k; i++)
    {
      gint64 size = n / k + (small_first ? i >= k - n % k : i < n % k);

      g_array_append_val (sizes, size);
    }
}

/* Returns the rules that limit the chunks, such as ", with align 8 and min-chunk 30"; "" if there
 * are none. */
static char *
dup_rules (const CleaveChunkRules *rules)
{
  GString *text = g_string_new (NULL);

  if (rules->alignment > 1)
    g_string_append_printf (text, ", with align %" G_GINT64_FORMAT, rules->alignment);
  if (rules->min_chunk > 1)
    g_string_append_printf (text, "%s min-chunk %" G_GINT64_FORMAT,
                            text->len > 0 ? " and" : ", with", rules->min_chunk);
  return g_string_free (text, FALSE);
}

/* Sets the error for a dimension that cannot be cut at all, although the caller asked for `k`
 * chunks. Returns NULL. */
static GArray *
fail_whole (gint64 k, const CleaveChunkRules *rules, gint64 extent, GError **error)
{
  g_autofree char *given = dup_rules (rules);

  return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                           "%" G_GINT64_FORMAT " chunks are not possible: the extent is"
                           " %" G_GINT64_FORMAT "%s",
                           k, extent, given);
}

/* Sets the error that the number named `what` must be between `least` and `most`, and is `found`.
 * If rules limit the chunks, the message also states the extent and the rules. Returns FALSE. */
static gboolean
fail_between (const char *what,
              gint64 least,
              gint64 most,
              gint64 found,
              const CleaveChunkRules *rules,
              gint64 extent,
              GError **error)
{
  g_autofree char *given = dup_rules (rules);
  g_autofree char *why =
      *given == '\0' ? g_strdup ("")
                     : g_strdup_printf (": the extent is %" G_GINT64_FORMAT "%s", extent, given);

  return cleave_fail (error, CLEAVE_ERROR_OPTION,
                      "%s must be between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                      ", not %" G_GINT64_FORMAT "%s",
                      what, least, most, found, why);
}

GArray *
cleave_cut_by_number (const GArray *list,
                      const CleaveChunkRules *rules,
                      gint64 extent,
                      GError **error)
{
  gint64 k = g_array_index (list, gint64, 0);
  Units units = count_units (rules, extent);
  GArray *sizes;

  if (k > 1 && units.most == 1)
    return fail_whole (k, rules, extent, error);
  if (k < 1 || k > units.most)
    {
      fail_between ("number of chunks", 1, units.most, k, rules, extent, error);
      return NULL;
    }
  k = MIN (k, CLEAVE_MAX_CHUNKS + 1);
  sizes = new_sizes (k);
  add_equal (sizes, units.n, k, rules->small_first);
  if (k > 1 && *get_size (sizes, sizes->len - 1) < units.least_at_end)
    {
      g_array_set_size (sizes, 0);
      add_equal (sizes, units.n - units.least_at_end, k - 1, rules->small_first);
      g_array_append_val (sizes, units.least_at_end);
    }
  return scale (sizes, rules, extent);
}

/* Merges the first chunk with the next chunk if the first chunk is too small. Merges the last chunk
 * with the chunk before it if the last chunk is too small. */
static void
merge_ends (GArray *sizes, const Units *units)
{
  if (sizes->len > 1 && *get_size (sizes, 0) < units->least)
    {
      *get_size (sizes, 1) += *get_size (sizes, 0);
      g_array_remove_index (sizes, 0);
    }
  if (sizes->len > 1 && *get_size (sizes, sizes->len - 1) < units->least_at_end)
    {
      *get_size (sizes, sizes->len - 2) += *get_size (sizes, sizes->len - 1);
      g_array_set_size (sizes, sizes->len - 1);
    }
}

GArray *
cleave_cut_by_size (const GArray *list,
                    const CleaveChunkRules *rules,
                    gint64 extent,
                    GError **error)
{
  gint64 wanted = g_array_index (list, gint64, 0), least = MIN (rules->min_chunk, extent);
  Units units = count_units (rules, extent);
  gint64 size = MAX (wanted / rules->alignment, units.least);
  gint64 rest = units.n % size, n = MIN (units.n / size, CLEAVE_MAX_CHUNKS + 1);
  GArray *sizes;

  if (wanted < least || wanted > extent)
    {
      fail_between ("chunk size", least, extent, wanted, rules, extent, error);
      return NULL;
    }
  sizes = new_sizes (n + 1);
  if (rest > 0 && rules->small_first)
    g_array_append_val (sizes, rest);
  for (gint64 i = 0; i < n; i++)
    g_array_append_val (sizes, size);
  if (rest > 0 && !rules->small_first)
    g_array_append_val (sizes, rest);
  merge_ends (sizes, &units);
  return scale (sizes, rules, extent);
}

gboolean
cleave_chunk_rules_check (const CleaveChunkRules *rules,
                          const CleaveSpan *span,
                          gint64 extent,
                          GError **error)
{
  if (span->begin % rules->alignment != 0 ||
      (span->end % rules->alignment != 0 && span->end != extent))
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT
                        " does not begin and end at multiples of the alignment %" G_GINT64_FORMAT,
                        span->begin, span->end, rules->alignment);
  if (span->end - span->begin < MIN (rules->min_chunk, extent))
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT
                        " is smaller than the minimum of %" G_GINT64_FORMAT,
                        span->begin, span->end, rules->min_chunk);
  return TRUE;
}

/* Replaces the size -1, if the list has one, by the extent minus all other sizes. Returns FALSE and
 * sets the error if the sizes do not add up to the extent. */
static gboolean
fill_in (GArray *sizes, gint64 extent, GError **error)
{
  gint64 sum = 0;
  guint open = G_MAXUINT;

  for (guint i = 0; i < sizes->len; i++)
    {
      gint64 size = g_array_index (sizes, gint64, i);

      if (size == -1 && open != G_MAXUINT)
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "chunk sizes %u and %u are both -1: only one can be the remainder",
                            open, i);
      if (size == -1)
        open = i;
      else if (size < 1)
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "chunk size %u must be at least 1, not %" G_GINT64_FORMAT, i, size);
      else if (__builtin_add_overflow (sum, size, &sum))
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "chunk sizes up to %u add up to more than 64 bits", i);
    }
  if (open != G_MAXUINT && sum < extent)
    g_array_index (sizes, gint64, open) = extent - sum;
  else if (open != G_MAXUINT)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "the other chunk sizes add up to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                        ": nothing is left for the -1",
                        sum, extent);
  else if (sum != extent)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "chunk sizes add up to %" G_GINT64_FORMAT ", not to %" G_GINT64_FORMAT, sum,
                        extent);
  return TRUE;
}

GArray *
cleave_cut_by_sizes (const GArray *list,
                     const CleaveChunkRules *rules,
                     gint64 extent,
                     GError **error)
{
  g_autoptr (GArray) sizes = g_array_copy ((GArray *) list);
  CleaveSpan span = { 0, 0 };

  if (!fill_in (sizes, extent, error))
    return NULL;
  for (guint i = 0; i < sizes->len; i++, span.begin = span.end)
    {
      span.end = span.begin + *get_size (sizes, i);
      if (!cleave_chunk_rules_check (rules, &span, extent, error))
        return NULL;
    }
  return g_steal_pointer (&sizes);
}

static gboolean
check_weights (
    const GArray *list, gint64 most, const CleaveChunkRules *rules, gint64 extent, GError **error)
{
  if (list->len < 1 || list->len > most)
    return fail_between ("number of weights", 1, most, list->len, rules, extent, error);
  for (guint i = 0; i < list->len; i++)
    {
      double weight = g_array_index (list, double, i);

      if (!(weight > 0) || !isfinite (weight))
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "chunk weight %u must be positive and finite, not %g", i, weight);
    }
  return TRUE;
}

GArray *
cleave_cut_by_weights (const GArray *list,
                       const CleaveChunkRules *rules,
                       gint64 extent,
                       GError **error)
{
  const double *weights = (const double *) (gpointer) list->data;
  Units units = count_units (rules, extent);
  guint k = list->len;
  gint64 *size;
  GArray *sizes;

  if (!check_weights (list, units.most, rules, extent, error))
    return NULL;
  sizes = g_array_set_size (new_sizes (k), k);
  size = get_size (sizes, 0);
  cleave_share_out (weights, k, units.n, MIN (units.least, units.n), size);
  if (k > 1 && size[k - 1] < units.least_at_end)
    {
      size[k - 1] = units.least_at_end;
      cleave_share_out (weights, k - 1, units.n - units.least_at_end, units.least, size);
    }
  return scale (sizes, rules, extent);
}
