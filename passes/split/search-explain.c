/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Composes the messages of a search that finds no split. A combination is a choice of a cut for
 * each dimension. */

#include "search-state.h"

/* Returns the bytes that value `v` takes in the largest piece of a combination. If `combination` is
 * NULL, cuts each dimension as finely as possible. */
static gint64
taken_bytes (const CleaveSearch *search, const CleaveCombination *combination, guint v)
{
  gint64 n = search->taken[0][v] * (combination == NULL ? search->least[0][v] : 1);

  for (guint d = 0; d < search->cuts.shape.rank && combination != NULL; d++)
    n *= cleave_cuts_get (&search->cuts, d, combination->at[d])->low[v];
  return n;
}

/* Appends the description of a piece to the message: the name `what`, the number of bytes
 * `n_bytes`, and the value that takes most of these bytes. */
static void
explain_piece (CleaveSearch *search,
               const char *what,
               gint64 n_bytes,
               const CleaveCombination *combination)
{
  gint64 most = 0;
  const char *name = "no value";

  for (guint v = 0; v < search->cuts.n_values; v++)
    {
      gint64 n = taken_bytes (search, combination, v);

      if (n <= most)
        continue;
      most = n;
      name = search->cuts.values[v].name;
    }
  g_string_append_printf (search->why,
                          "%s needs %" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT
                          " of them for %s; the limit is %" G_GINT64_FORMAT,
                          what, n_bytes, most, name, MAX (search->max_bytes, 0));
}

/* Returns a lower bound on the number of pieces: the bytes of the result divided by the limit. */
static gint64
count_least_pieces (const CleaveSearch *search)
{
  gint64 n_bytes = cleave_tensor_type_n_bytes (&search->cuts.node->results[0].type);
  gint64 limit = MAX (search->max_bytes, 1);

  return n_bytes / limit + (n_bytes % limit != 0);
}

/* Composes the message for a limit on the bytes of a piece that would require more than
 * `search->max_n` pieces. The message states the smallest size that the largest piece can have with
 * at most `max_n` pieces, and the limits that the user can raise. */
static void
explain_too_many (CleaveSearch *search)
{
  gint64 n = MAX (count_least_pieces (search), search->max_n + 1);
  gboolean by_request = search->constraint->max_pieces > 0 &&
                        search->max_n == (gint64) search->constraint->max_pieces;
  g_autofree char *capped =
      g_strdup_printf ("too many pieces: it would be %" G_GINT64_FORMAT
                       " or more, at most %" G_GINT64_FORMAT " may be made; the largest of these",
                       n, search->max_n);

  explain_piece (search, capped, search->least_bytes, &search->least_one);
  g_string_append_printf (search->why, "; ask for larger pieces, or raise the limit on %s",
                          by_request ? "the number of pieces" : "the work of the search");
}

void
cleave_search_explain_least (CleaveSearch *search)
{
  gint64 bound = cleave_search_chunk_bytes (search, 0);
  gboolean is_capped =
      bound < search->least_bytes && (search->is_capped || search->cuts.is_truncated);

  g_string_truncate (search->why, 0);
  if (is_capped && search->max_n == cleave_work_max_pieces (search->work))
    cleave_work_give_up (search->work);
  if (!is_capped)
    explain_piece (search, "the smallest piece", search->least_bytes, &search->least_one);
  else if (cleave_search_fits (search, bound))
    explain_too_many (search);
  else
    {
      explain_piece (search, "the smallest piece", bound, NULL);
      g_string_append_printf (search->why,
                              "; with at most %" G_GINT64_FORMAT
                              " pieces the largest needs %" G_GINT64_FORMAT,
                              search->max_n, search->least_bytes);
    }
}

void
cleave_search_explain (CleaveSearch *search)
{
  if (search->trial != NULL && search->trial->has_best)
    {
      g_string_truncate (search->why, 0);
      cleave_trial_explain (search->trial, search->why);
    }
  if (search->why->len == 0)
    g_string_append (search->why, "no allowed number of pieces meets the limits");
  if (!search->work->gave_up)
    return;
  g_string_append_printf (search->why, "; not found within a search budget of %" G_GINT64_FORMAT,
                          search->work->budget);
  if (search->n_tries > 0)
    g_string_append_printf (search->why, " and %u tried splits", search->n_tries);
}
