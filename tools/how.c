/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "how.h"

#include "arguments.h"

/* Lists for several dimensions, parted by '/'. */
typedef struct
{
  GPtrArray *lists; /* GArray */
  GPtrArray *data;  /* what is in them */
  GArray *lengths;  /* guint */
} Lists;

static void
lists_clear (Lists *lists)
{
  g_clear_pointer (&lists->lists, g_ptr_array_unref);
  g_clear_pointer (&lists->data, g_ptr_array_unref);
  g_clear_pointer (&lists->lengths, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Lists, lists_clear)

void
cleave_how_clear (CleaveHow *how)
{
  g_free (how->dims);
  g_free (how->num_chunks);
  g_free (how->chunk_size);
  g_free (how->chunk_sizes);
  g_free (how->chunk_weights);
  g_free (how->slice_ranges);
  g_free (how->align);
  g_free (how->min_chunk);
  cleave_limits_clear (&how->limits);
}

gboolean
cleave_how_is_given (const CleaveHow *how)
{
  return how->dims != NULL || how->num_chunks != NULL || how->chunk_size != NULL ||
         how->chunk_sizes != NULL || how->chunk_weights != NULL || how->slice_ranges != NULL ||
         how->align != NULL || how->min_chunk != NULL || how->small_first ||
         cleave_limits_is_given (&how->limits);
}

static gboolean
parse_lists (const char *option,
             const char *text,
             GArray *(*parse) (const char *option, const char *text, GError **error),
             Lists *lists,
             GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, "/", -1);

  lists->lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  lists->data = g_ptr_array_new ();
  lists->lengths = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; parts[i] != NULL || i == 0; i++)
    {
      GArray *list = parse (option, parts[i] == NULL ? "" : parts[i], error);

      if (list == NULL)
        return FALSE;
      g_ptr_array_add (lists->lists, list);
      g_ptr_array_add (lists->data, list->data);
      g_array_append_val (lists->lengths, list->len);
    }
  return TRUE;
}

/* The five options */

static CleaveSplit *
by_num_chunks (const CleaveHow *how, GError **error)
{
  g_autoptr (GArray) list = cleave_argument_ints ("--num-chunks", how->num_chunks, error);

  return list == NULL
             ? NULL
             : cleave_split_by_num_chunks (how->dims, (gint64 *) (gpointer) list->data, list->len);
}

static CleaveSplit *
by_chunk_size (const CleaveHow *how, GError **error)
{
  g_autoptr (GArray) list = cleave_argument_ints ("--chunk-size", how->chunk_size, error);

  return list == NULL
             ? NULL
             : cleave_split_by_chunk_size (how->dims, (gint64 *) (gpointer) list->data, list->len);
}

static CleaveSplit *
by_chunk_sizes (const CleaveHow *how, GError **error)
{
  g_auto (Lists) lists = { 0 };

  if (!parse_lists ("--chunk-sizes", how->chunk_sizes, cleave_argument_ints, &lists, error))
    return NULL;
  return cleave_split_by_chunk_sizes (how->dims, (const gint64 *const *) lists.data->pdata,
                                      (const guint *) (gpointer) lists.lengths->data,
                                      lists.data->len);
}

static CleaveSplit *
by_chunk_weights (const CleaveHow *how, GError **error)
{
  g_auto (Lists) lists = { 0 };

  if (!parse_lists ("--chunk-weights", how->chunk_weights, cleave_argument_doubles, &lists, error))
    return NULL;
  return cleave_split_by_chunk_weights (how->dims, (const double *const *) lists.data->pdata,
                                        (const guint *) (gpointer) lists.lengths->data,
                                        lists.data->len);
}

static CleaveSplit *
by_slice_ranges (const CleaveHow *how, GError **error)
{
  g_autoptr (GArray) list = cleave_argument_ranges ("--slice-ranges", how->slice_ranges, error);

  return list == NULL
             ? NULL
             : cleave_split_by_slice_ranges ((CleaveRange *) (gpointer) list->data, list->len);
}

typedef struct
{
  const char *name, *text;
  CleaveSplit *(*make) (const CleaveHow *how, GError **error);
  gboolean has_dims;
} Option;

/* Finds the one option that is given; none has no `make`. */
static gboolean
choose (const CleaveHow *how, Option *chosen, GError **error)
{
  const Option options[] = {
    { "--num-chunks", how->num_chunks, by_num_chunks, TRUE },
    { "--chunk-size", how->chunk_size, by_chunk_size, TRUE },
    { "--chunk-sizes", how->chunk_sizes, by_chunk_sizes, TRUE },
    { "--chunk-weights", how->chunk_weights, by_chunk_weights, TRUE },
    { "--slice-ranges", how->slice_ranges, by_slice_ranges, FALSE },
  };

  *chosen = (Option){ 0 };
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      if (options[i].text == NULL)
        continue;
      if (chosen->make != NULL)
        return cleave_argument_fail (error, "expected one of %s and %s, not both", chosen->name,
                                     options[i].name);
      *chosen = options[i];
    }
  if (chosen->make == NULL && how->dims != NULL && !cleave_limits_is_given (&how->limits))
    return cleave_argument_fail (
        error, "--dims alone does not say how to split: add --num-chunks, --chunk-size, "
               "--chunk-sizes, --chunk-weights or a limit");
  if (chosen->make != NULL && chosen->has_dims && how->dims == NULL)
    return cleave_argument_fail (error, "%s needs --dims", chosen->name);
  if (chosen->make != NULL && !chosen->has_dims && how->dims != NULL)
    return cleave_argument_fail (error, "%s has all dimensions in it and takes no --dims",
                                 chosen->name);
  return TRUE;
}

/* One number for all dimensions, or one for each that is cut. */
static GArray *
parse_grain (const char *option, const char *text, GError **error)
{
  g_autoptr (GArray) list = cleave_argument_ints (option, text, error);

  for (guint i = 0; list != NULL && i < list->len; i++)
    if (g_array_index (list, gint64, i) < 1)
      {
        cleave_argument_fail (error, "%s expects numbers from 1, not '%s'", option, text);
        return NULL;
      }
  return g_steal_pointer (&list);
}

static gboolean
shape_split (const CleaveHow *how, CleaveSplit *split, GError **error)
{
  g_autoptr (GArray) align = NULL, min_chunk = NULL;

  if ((how->align != NULL && (align = parse_grain ("--align", how->align, error)) == NULL) ||
      (how->min_chunk != NULL &&
       (min_chunk = parse_grain ("--min-chunk", how->min_chunk, error)) == NULL))
    return FALSE;
  if (align != NULL)
    cleave_split_set_alignments (split, (gint64 *) (gpointer) align->data, align->len);
  if (min_chunk != NULL)
    cleave_split_set_min_chunks (split, (gint64 *) (gpointer) min_chunk->data, min_chunk->len);
  cleave_split_set_small_first (split, how->small_first);
  return TRUE;
}

gboolean
cleave_how_parse (const CleaveHow *how,
                  CleaveSplit **split,
                  CleaveConstraint *constraint,
                  GError **error)
{
  g_autoptr (CleaveSplit) made = NULL;
  Option option;

  if (!choose (how, &option, error) || !cleave_limits_parse (&how->limits, constraint, error))
    return FALSE;
  if (option.make == NULL && !cleave_limits_is_given (&how->limits))
    return cleave_argument_fail (
        error, "expected --num-chunks, --chunk-size, --chunk-sizes, --chunk-weights, "
               "--slice-ranges or a limit such as --max-memory to say how to split");
  if (option.make == NULL && how->small_first)
    return cleave_argument_fail (error,
                                 "--small-first orders chunks, which a limit alone does not");
  made = option.make != NULL ? option.make (how, error) : cleave_split_by_search (how->dims);
  if (made == NULL || !shape_split (how, made, error))
    return FALSE;
  *split = g_steal_pointer (&made);
  return TRUE;
}
