/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces each range in the texts of --shape, such as seq=1..512, by one extent of the range. The
 * extents of a range have the indices 0 to CLEAVE_N_EXTENTS - 1. The extent with index 0 is the
 * largest. Each later extent is half of the extent before it, and the last extent is the
 * smallest. */

#include "extents.h"

#include "arguments.h"

#include <string.h>

/* Parses "NAME=LOW..HIGH". Sets `name` to the text up to and including the "=". Returns FALSE
 * without an error if the text is no range. */
static gboolean
parse_range (const char *text, char **name, gint64 *low, gint64 *high, GError **error)
{
  const char *equals = strchr (text, '='), *dots = strstr (text, "..");
  g_autofree char *first = NULL;

  if (equals == NULL || dots == NULL || dots < equals)
    return FALSE;
  first = g_strndup (equals + 1, (gsize) (dots - equals - 1));
  if (!cleave_text_to_int ("--shape", first, 1, G_MAXINT64, low, error) ||
      !cleave_text_to_int ("--shape", dots + 2, 1, G_MAXINT64, high, error))
    return FALSE;
  if (*low > *high)
    return cleave_argument_fail (error, "--shape %s: the first number must not be above the second",
                                 text);
  *name = g_strndup (text, (gsize) (equals - text) + 1);
  return TRUE;
}

static gint64
find_extent (gint64 low, gint64 high, guint index)
{
  return index + 1 < CLEAVE_N_EXTENTS ? MAX (high >> index, low) : low;
}

/* `text` is one assignment of --shape, such as "seq=1..512". Adds the assignment to `out`, with one
 * extent in place of the range. `index` selects the extent: 0 is the largest extent, and later
 * extents are smaller (extents.h). */
static gboolean
resolve_one (const char *text, guint index, GString *out, guint *n_changed, GError **error)
{
  g_autofree char *name = NULL;
  GError *mine = NULL;
  gint64 low, high, extent;

  if (!parse_range (text, &name, &low, &high, &mine))
    {
      g_string_append (out, text);
      if (mine != NULL)
        g_propagate_error (error, mine);
      return mine == NULL;
    }
  extent = find_extent (low, high, index);
  *n_changed += index > 0 && extent != find_extent (low, high, index - 1);
  g_string_append_printf (out, "%s%" G_GINT64_FORMAT, name, extent);
  return TRUE;
}

char **
cleave_extents_resolve (char *const *texts, guint index, guint *n_changed, GError **error)
{
  g_autoptr (GPtrArray) resolved = g_ptr_array_new_with_free_func (g_free);

  *n_changed = 0;
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (texts[i], ",", -1);
      g_autoptr (GString) out = g_string_new (NULL);

      for (guint k = 0; parts[k] != NULL; k++)
        {
          g_string_append (out, k > 0 ? "," : "");
          if (!resolve_one (parts[k], index, out, n_changed, error))
            return NULL;
        }
      g_ptr_array_add (resolved, g_strdup (out->str));
    }
  g_ptr_array_add (resolved, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&resolved), FALSE);
}
