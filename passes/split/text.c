/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the options of a split from text, with one function for each form of option. */

#include <cleave/cleave-split.h>

#include "../../lib/ir/error.h"
#include "../../lib/ir/text.h"
#include "text.h"

/* The options of a split, as a command line or a pipeline gives them: their texts by name. */
typedef struct
{
  GHashTable *texts;
  const char *prefix; /* prefix of option names in messages, such as "--" */
} Options;

/* Lists of numbers for several dimensions, which '/' separates in the text. */
typedef struct
{
  GPtrArray *lists; /* GArray of numbers, one for each dimension */
  GPtrArray *data;  /* pointers to the elements of each list */
  GArray *lengths;  /* guint: number of elements of each list */
} Lists;

static void
lists_clear (Lists *lists)
{
  g_clear_pointer (&lists->lists, g_ptr_array_unref);
  g_clear_pointer (&lists->data, g_ptr_array_unref);
  g_clear_pointer (&lists->lengths, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Lists, lists_clear)

static const char *
get (const Options *options, const char *name)
{
  return g_hash_table_lookup (options->texts, name);
}

/* Returns the name of an option as the user writes it, with a prefix such as `--`. */
static char *
dup_name (const Options *options, const char *name)
{
  return g_strconcat (options->prefix, name, NULL);
}

gboolean
cleave_split_texts_have_limit (GHashTable *texts)
{
  static const char *const limits[] = { "max-memory", "max-subgraph-memory", "max-schedule-memory",
                                        "max-added-macs", "max-pieces" };

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    if (g_hash_table_contains (texts, limits[i]))
      return TRUE;
  return FALSE;
}

/* Parses an option with an integer from 1 to `max`. Returns FALSE and sets the error if the text is
 * wrong. Does not change `value` if the option is not given. */

static gboolean
parse_int (const Options *options, const char *name, gint64 max, gint64 *value, GError **error)
{
  g_autofree char *said = dup_name (options, name);
  const char *text = get (options, name);

  return text == NULL || cleave_text_to_int (said, text, 1, max, value, error);
}

static gboolean
parse_size (const Options *options, const char *name, gint64 *bytes, GError **error)
{
  g_autofree char *said = dup_name (options, name);
  const char *text = get (options, name);

  return text == NULL || cleave_text_to_size (said, text, bytes, error);
}

static gboolean
parse_added_macs (const Options *options, double *fraction, GError **error)
{
  g_autofree char *said = dup_name (options, "max-added-macs");
  const char *text = get (options, "max-added-macs");

  return text == NULL || cleave_text_to_max_added (said, text, fraction, error);
}

static gboolean
parse_constraint (const Options *options, CleaveConstraint *constraint, GError **error)
{
  gint64 pieces = 0;

  *constraint = (CleaveConstraint){ 0 };
  if (!parse_int (options, "max-pieces", G_MAXUINT32, &pieces, error) ||
      !parse_int (options, "search-budget", G_MAXINT64, &constraint->search_budget, error))
    return FALSE;
  constraint->max_pieces = (guint) pieces;
  return parse_size (options, "max-memory", &constraint->max_memory, error) &&
         parse_size (options, "max-subgraph-memory", &constraint->max_subgraph_memory, error) &&
         parse_size (options, "max-schedule-memory", &constraint->max_schedule_memory, error) &&
         parse_added_macs (options, &constraint->max_added_macs, error);
}

static gboolean
parse_lists (const Options *options,
             const char *name,
             GArray *(*parse) (const char *option, const char *text, GError **error),
             Lists *lists,
             GError **error)
{
  g_autofree char *said = dup_name (options, name);
  g_auto (GStrv) parts = g_strsplit (get (options, name), "/", -1);

  lists->lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  lists->data = g_ptr_array_new ();
  lists->lengths = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; parts[i] != NULL || i == 0; i++)
    {
      GArray *list = parse (said, parts[i] == NULL ? "" : parts[i], error);

      if (list == NULL)
        return FALSE;
      g_ptr_array_add (lists->lists, list);
      g_ptr_array_add (lists->data, list->data);
      g_array_append_val (lists->lengths, list->len);
    }
  return TRUE;
}

static CleaveTiling *
by_ints (const Options *options,
         const char *name,
         CleaveTiling *(*make) (const char *dims, const gint64 *numbers, guint n),
         GError **error)
{
  g_autofree char *said = dup_name (options, name);
  g_autoptr (GArray) list = cleave_text_to_ints (said, get (options, name), error);

  return list == NULL ? NULL
                      : make (get (options, "dims"), (gint64 *) (gpointer) list->data, list->len);
}

static CleaveTiling *
by_num_chunks (const Options *options, GError **error)
{
  return by_ints (options, "num-chunks", cleave_tiling_by_num_chunks, error);
}

static CleaveTiling *
by_chunk_size (const Options *options, GError **error)
{
  return by_ints (options, "chunk-size", cleave_tiling_by_chunk_size, error);
}

static CleaveTiling *
by_chunk_sizes (const Options *options, GError **error)
{
  g_auto (Lists) lists = { 0 };

  if (!parse_lists (options, "chunk-sizes", cleave_text_to_ints, &lists, error))
    return NULL;
  return cleave_tiling_by_chunk_sizes (
      get (options, "dims"), (const gint64 *const *) lists.data->pdata,
      (const guint *) (gpointer) lists.lengths->data, lists.data->len);
}

static CleaveTiling *
by_chunk_weights (const Options *options, GError **error)
{
  g_auto (Lists) lists = { 0 };

  if (!parse_lists (options, "chunk-weights", cleave_text_to_doubles, &lists, error))
    return NULL;
  return cleave_tiling_by_chunk_weights (
      get (options, "dims"), (const double *const *) lists.data->pdata,
      (const guint *) (gpointer) lists.lengths->data, lists.data->len);
}

static CleaveTiling *
by_slice_ranges (const Options *options, GError **error)
{
  g_autofree char *said = dup_name (options, "slice-ranges");
  g_autoptr (GArray) list = cleave_text_to_ranges (said, get (options, "slice-ranges"), error);

  return list == NULL
             ? NULL
             : cleave_tiling_by_slice_ranges ((CleaveRange *) (gpointer) list->data, list->len);
}

typedef struct
{
  const char *name;
  CleaveTiling *(*make) (const Options *options, GError **error);
} Way;

static const Way ways[] = {
  { "num-chunks", by_num_chunks },     { "chunk-size", by_chunk_size },
  { "chunk-sizes", by_chunk_sizes },   { "chunk-weights", by_chunk_weights },
  { "slice-ranges", by_slice_ranges },
};

/* Checks that `dims` is given exactly if `way`, the option with the tiling, needs it. `way` NULL: a
 * search chooses the tiling, so `dims` is only allowed with a limit, such as `max-memory`. */
static gboolean
check_dims (const Options *options, const Way *way, GError **error)
{
  const char *p = options->prefix;
  gboolean has_dims = get (options, "dims") != NULL;
  gboolean needs_dims = way != NULL && way->make != by_slice_ranges;

  if (way == NULL && has_dims && !cleave_split_texts_have_limit (options->texts))
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "%sdims alone does not say how to split: add %snum-chunks, %schunk-size, "
                        "%schunk-sizes, %schunk-weights or a limit",
                        p, p, p, p, p);
  if (needs_dims && !has_dims)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s%s needs %sdims", p, way->name, p);
  if (way != NULL && !needs_dims && has_dims)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s%s lists all dimensions: leave out %sdims",
                        p, way->name, p);
  return TRUE;
}

/* Sets `chosen` to the option that gives the tiling; NULL: none. Fails if there are several. */
static gboolean
choose (const Options *options, const Way **chosen, GError **error)
{
  *chosen = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      if (get (options, ways[i].name) == NULL)
        continue;
      if (*chosen != NULL)
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "expected one of %s%s and %s%s, not both",
                            options->prefix, (*chosen)->name, options->prefix, ways[i].name);
      *chosen = &ways[i];
    }
  return check_dims (options, *chosen, error);
}

/* Parses a list with one number for all dimensions, or one for each dimension that is cut. */
static gboolean
parse_chunk_rule (const Options *options, const char *name, GArray **list, GError **error)
{
  g_autofree char *said = dup_name (options, name);
  const char *text = get (options, name);

  if (text == NULL)
    return TRUE;
  *list = cleave_text_to_ints (said, text, error);
  for (guint i = 0; *list != NULL && i < (*list)->len; i++)
    if (g_array_index (*list, gint64, i) < 1)
      return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s expects numbers from 1, not '%s'", said,
                          text);
  return *list != NULL;
}

static gboolean
shape_split (const Options *options, CleaveTiling *tiling, GError **error)
{
  g_autoptr (GArray) align = NULL, min_chunk = NULL;

  if (!parse_chunk_rule (options, "align", &align, error) ||
      !parse_chunk_rule (options, "min-chunk", &min_chunk, error))
    return FALSE;
  if (align != NULL)
    cleave_tiling_set_alignments (tiling, (gint64 *) (gpointer) align->data, align->len);
  if (min_chunk != NULL)
    cleave_tiling_set_min_chunks (tiling, (gint64 *) (gpointer) min_chunk->data, min_chunk->len);
  cleave_tiling_set_small_first (tiling, get (options, "small-first") != NULL);
  return TRUE;
}

/**
 * cleave_split_parse:
 * @options: (element-type utf8 utf8): the texts of the options by their names
 * @prefix: (nullable): text before the name of an option in messages, such as `--`; %NULL for none
 * @tiling: (out) (transfer full): the tiling
 * @constraint: (out caller-allocates): the limits
 * @error: return location for a [struct@GLib.Error]
 *
 * Parses the options of a split from the texts of a command line or a pipeline: `dims` with
 * `num-chunks`, `chunk-size`, `chunk-sizes` or `chunk-weights`; `slice-ranges`; limits
 * `max-memory`, `max-subgraph-memory`, `max-schedule-memory`, `max-added-macs`, `max-pieces`, with
 * `search-budget`; `align`, `min-chunk`, `small-first`. Commas separate the elements of a list, and
 * slashes separate the lists of several dimensions. Other options are ignored.
 *
 * Fails with %CLEAVE_ERROR_OPTION, naming the option.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_split_parse (GHashTable *options,
                    const char *prefix,
                    CleaveTiling **tiling,
                    CleaveConstraint *constraint,
                    GError **error)
{
  Options o = { options, prefix != NULL ? prefix : "" };
  const char *p = o.prefix;
  g_autoptr (CleaveTiling) made = NULL;
  const Way *way;

  g_return_val_if_fail (options != NULL && tiling != NULL && constraint != NULL, FALSE);
  if (!choose (&o, &way, error) || !parse_constraint (&o, constraint, error))
    return FALSE;
  if (way == NULL && !cleave_split_texts_have_limit (options))
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "expected %snum-chunks, %schunk-size, %schunk-sizes, %schunk-weights, "
                        "%sslice-ranges or a limit such as %smax-memory to say how to split",
                        p, p, p, p, p, p);
  if (get (&o, "search-budget") != NULL && !cleave_split_texts_have_limit (options))
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "%ssearch-budget is for a search, which needs a limit", p);
  if (way == NULL && get (&o, "small-first") != NULL)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "%ssmall-first needs an option that sets chunks, not only a limit", p);
  made = way != NULL ? way->make (&o, error) : cleave_tiling_by_search (get (&o, "dims"));
  if (made == NULL || !shape_split (&o, made, error))
    return FALSE;
  *tiling = g_steal_pointer (&made);
  return TRUE;
}

static gboolean
parse_halo (const Options *options, CleaveHalo *halo, GError **error)
{
  static const char *const halos[] = { [CLEAVE_HALO_RECOMPUTE] = "recompute",
                                       [CLEAVE_HALO_CARRY] = "carry",
                                       [CLEAVE_HALO_EXCHANGE] = "exchange",
                                       [CLEAVE_HALO_CARRY_NARROW] = "carry-narrow" };
  const char *text = get (options, "halo");

  if (text == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (halos); i++)
    if (g_str_equal (text, halos[i]))
      {
        *halo = (CleaveHalo) i;
        return TRUE;
      }
  return cleave_fail (error, CLEAVE_ERROR_OPTION,
                      "%shalo expects recompute, carry, exchange or carry-narrow, not '%s'",
                      options->prefix, text);
}

/**
 * cleave_recursion_parse:
 * @options: (element-type utf8 utf8): the texts of the options by their names
 * @prefix: (nullable): text before the name of an option in messages, such as `--`; %NULL for none
 * @recursion: (out caller-allocates): how far the split extends to producers
 * @error: return location for a [struct@GLib.Error]
 *
 * Parses `depth`, 1 by default, and `halo`, `strips-per-band` and `single-use`, which need `depth`.
 *
 * Fails with %CLEAVE_ERROR_OPTION, naming the option.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_recursion_parse (GHashTable *options,
                        const char *prefix,
                        CleaveRecursion *recursion,
                        GError **error)
{
  Options o = { options, prefix != NULL ? prefix : "" };
  static const char *const need_depth[] = { "halo", "strips-per-band", "single-use" };
  CleaveHalo halo = CLEAVE_HALO_RECOMPUTE;
  gint64 depth = 1, strips = 0;

  g_return_val_if_fail (options != NULL && recursion != NULL, FALSE);
  if (!parse_int (&o, "depth", G_MAXUINT32, &depth, error) ||
      !parse_int (&o, "strips-per-band", G_MAXUINT32, &strips, error) ||
      !parse_halo (&o, &halo, error))
    return FALSE;
  if (get (&o, "strips-per-band") != NULL && halo == CLEAVE_HALO_RECOMPUTE)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "%sstrips-per-band needs %shalo carry or exchange", o.prefix, o.prefix);
  if (get (&o, "depth") == NULL)
    for (guint i = 0; i < G_N_ELEMENTS (need_depth); i++)
      if (get (&o, need_depth[i]) != NULL)
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s%s has no effect without %sdepth",
                            o.prefix, need_depth[i], o.prefix);
  *recursion = (CleaveRecursion){ .depth = (guint) depth,
                                  .halo = halo,
                                  .strips_per_band = (guint) strips,
                                  .single_use = get (&o, "single-use") != NULL };
  return TRUE;
}
