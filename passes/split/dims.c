/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Parses the dimensions that a user wrote, such as "H,W" or "-1", and lists the dimensions that a
 * tiling may cut. */

#include "options.h"

#include <string.h>

char *
cleave_dim_dup_name (guint d, const char *letters)
{
  return letters != NULL && d < strlen (letters) ? g_strdup_printf ("%c", letters[d])
                                                 : g_strdup_printf ("dimension %u", d);
}

static gboolean
fail_dim (const char *word, guint rank, const char *letters, GError **error)
{
  const char *meant =
      letters != NULL && strlen (word) == 1 ? strchr (letters, g_ascii_toupper (*word)) : NULL;
  g_autofree char *hint =
      meant != NULL ? g_strdup_printf ("; did you mean '%c'?", *meant)
      : letters == NULL && g_ascii_isalpha (*word)
          ? g_strdup ("; its layout is not known, so a number must name a dimension")
          : g_strdup ("");

  return cleave_fail (error, CLEAVE_ERROR_OPTION,
                      "dimension must be between -%u and %u%s%s, not '%s'%s", rank, rank - 1,
                      letters != NULL ? " or a letter of " : "", letters != NULL ? letters : "",
                      word, hint);
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
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "a scalar has no dimension '%s'", word);
  if (!g_ascii_string_to_signed (word, 10, -(gint64) rank, (gint64) rank - 1, &index, NULL))
    return fail_dim (word, rank, letters, error);
  *dim = (guint) (index < 0 ? index + rank : index);
  return TRUE;
}

gboolean
cleave_dims_parse (
    const char *list, guint rank, const char *letters, guint *dims, guint *n_dims, GError **error)
{
  g_auto (GStrv) words = g_strsplit (list != NULL ? list : "", ",", -1);
  guint n = g_strv_length (words);

  if (n == 0)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "no dimension is listed");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = NULL;

      if (i == CLEAVE_MAX_RANK)
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "more than %d dimensions are listed",
                            CLEAVE_MAX_RANK);
      if (!parse_dim (g_strstrip (words[i]), rank, letters, &dims[i], error))
        return FALSE;
      name = cleave_dim_dup_name (dims[i], letters);
      for (guint j = 0; j < i; j++)
        if (dims[j] == dims[i])
          return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s is listed twice in '%s'", name, list);
    }
  *n_dims = n;
  return TRUE;
}

gboolean
cleave_tiling_get_space (const CleaveTiling *tiling,
                         const CleaveShape *shape,
                         const char *letters,
                         CleaveSpace *space,
                         GError **error)
{
  guint dims[CLEAVE_MAX_RANK], n = shape->rank;

  *space = (CleaveSpace){ 0 };
  for (guint d = 0; d < n; d++)
    dims[d] = d;
  if (tiling != NULL && tiling->dims != NULL &&
      !cleave_dims_parse (tiling->dims, shape->rank, letters, dims, &n, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      CleaveChunkRules *rules = &space->rules[dims[i]];

      *rules = (CleaveChunkRules){ 1, 1, FALSE };
      space->may_cut[dims[i]] = TRUE;
      if (tiling != NULL && !cleave_tiling_get_chunk_rules (tiling, i, n, rules, error))
        return FALSE;
    }
  return TRUE;
}
