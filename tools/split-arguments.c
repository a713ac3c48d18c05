/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "split-arguments.h"

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
cleave_split_arguments_clear (CleaveSplitArguments *arguments)
{
  g_free (arguments->dims);
  g_free (arguments->num_chunks);
  g_free (arguments->chunk_size);
  g_free (arguments->chunk_sizes);
  g_free (arguments->chunk_weights);
  g_free (arguments->slice_ranges);
  g_free (arguments->align);
  g_free (arguments->min_chunk);
  cleave_limits_clear (&arguments->limits);
}

gboolean
cleave_split_arguments_has_option (const CleaveSplitArguments *arguments)
{
  return arguments->dims != NULL || arguments->num_chunks != NULL ||
         arguments->chunk_size != NULL || arguments->chunk_sizes != NULL ||
         arguments->chunk_weights != NULL || arguments->slice_ranges != NULL ||
         arguments->align != NULL || arguments->min_chunk != NULL || arguments->small_first;
}

gboolean
cleave_split_arguments_is_given (const CleaveSplitArguments *arguments)
{
  return cleave_split_arguments_has_option (arguments) ||
         cleave_limits_is_given (&arguments->limits);
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
by_num_chunks (const CleaveSplitArguments *arguments, GError **error)
{
  g_autoptr (GArray) list = cleave_argument_ints ("--num-chunks", arguments->num_chunks, error);

  return list == NULL ? NULL
                      : cleave_split_by_num_chunks (arguments->dims,
                                                    (gint64 *) (gpointer) list->data, list->len);
}

static CleaveSplit *
by_chunk_size (const CleaveSplitArguments *arguments, GError **error)
{
  g_autoptr (GArray) list = cleave_argument_ints ("--chunk-size", arguments->chunk_size, error);

  return list == NULL ? NULL
                      : cleave_split_by_chunk_size (arguments->dims,
                                                    (gint64 *) (gpointer) list->data, list->len);
}

static CleaveSplit *
by_chunk_sizes (const CleaveSplitArguments *arguments, GError **error)
{
  g_auto (Lists) lists = { 0 };

  if (!parse_lists ("--chunk-sizes", arguments->chunk_sizes, cleave_argument_ints, &lists, error))
    return NULL;
  return cleave_split_by_chunk_sizes (arguments->dims, (const gint64 *const *) lists.data->pdata,
                                      (const guint *) (gpointer) lists.lengths->data,
                                      lists.data->len);
}

static CleaveSplit *
by_chunk_weights (const CleaveSplitArguments *arguments, GError **error)
{
  g_auto (Lists) lists = { 0 };

  if (!parse_lists ("--chunk-weights", arguments->chunk_weights, cleave_argument_doubles, &lists,
                    error))
    return NULL;
  return cleave_split_by_chunk_weights (arguments->dims, (const double *const *) lists.data->pdata,
                                        (const guint *) (gpointer) lists.lengths->data,
                                        lists.data->len);
}

static CleaveSplit *
by_slice_ranges (const CleaveSplitArguments *arguments, GError **error)
{
  g_autoptr (GArray) list =
      cleave_argument_ranges ("--slice-ranges", arguments->slice_ranges, error);

  return list == NULL
             ? NULL
             : cleave_split_by_slice_ranges ((CleaveRange *) (gpointer) list->data, list->len);
}

typedef struct
{
  const char *name, *text;
  CleaveSplit *(*make) (const CleaveSplitArguments *arguments, GError **error);
  gboolean has_dims;
} Option;

/* Finds the one option that is given; none has no `make`. */
static gboolean
choose (const CleaveSplitArguments *arguments, Option *chosen, GError **error)
{
  const Option options[] = {
    { "--num-chunks", arguments->num_chunks, by_num_chunks, TRUE },
    { "--chunk-size", arguments->chunk_size, by_chunk_size, TRUE },
    { "--chunk-sizes", arguments->chunk_sizes, by_chunk_sizes, TRUE },
    { "--chunk-weights", arguments->chunk_weights, by_chunk_weights, TRUE },
    { "--slice-ranges", arguments->slice_ranges, by_slice_ranges, FALSE },
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
  if (chosen->make == NULL && arguments->dims != NULL &&
      !cleave_limits_is_given (&arguments->limits))
    return cleave_argument_fail (
        error, "--dims alone does not say how to split: add --num-chunks, --chunk-size, "
               "--chunk-sizes, --chunk-weights or a limit");
  if (chosen->make != NULL && chosen->has_dims && arguments->dims == NULL)
    return cleave_argument_fail (error, "%s needs --dims", chosen->name);
  if (chosen->make != NULL && !chosen->has_dims && arguments->dims != NULL)
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
shape_split (const CleaveSplitArguments *arguments, CleaveSplit *split, GError **error)
{
  g_autoptr (GArray) align = NULL, min_chunk = NULL;

  if ((arguments->align != NULL &&
       (align = parse_grain ("--align", arguments->align, error)) == NULL) ||
      (arguments->min_chunk != NULL &&
       (min_chunk = parse_grain ("--min-chunk", arguments->min_chunk, error)) == NULL))
    return FALSE;
  if (align != NULL)
    cleave_split_set_alignments (split, (gint64 *) (gpointer) align->data, align->len);
  if (min_chunk != NULL)
    cleave_split_set_min_chunks (split, (gint64 *) (gpointer) min_chunk->data, min_chunk->len);
  cleave_split_set_small_first (split, arguments->small_first);
  return TRUE;
}

gboolean
cleave_split_arguments_parse (const CleaveSplitArguments *arguments,
                              CleaveSplit **split,
                              CleaveConstraint *constraint,
                              GError **error)
{
  g_autoptr (CleaveSplit) made = NULL;
  Option option;

  if (!choose (arguments, &option, error) ||
      !cleave_limits_parse (&arguments->limits, constraint, error))
    return FALSE;
  if (option.make == NULL && !cleave_limits_is_given (&arguments->limits))
    return cleave_argument_fail (
        error, "expected --num-chunks, --chunk-size, --chunk-sizes, --chunk-weights, "
               "--slice-ranges or a limit such as --max-memory to say how to split");
  if (option.make == NULL && arguments->small_first)
    return cleave_argument_fail (error,
                                 "--small-first orders chunks, which a limit alone does not");
  made = option.make != NULL ? option.make (arguments, error)
                             : cleave_split_by_search (arguments->dims);
  if (made == NULL || !shape_split (arguments, made, error))
    return FALSE;
  *split = g_steal_pointer (&made);
  return TRUE;
}
