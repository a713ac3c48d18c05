/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Formats a number of bytes with a unit, and replaces all numbers of bytes in a text. A size is
 * rounded up, so that a limit of the printed size is large enough. */

#include "sizes.h"

gboolean cleave_sizes_in_bytes = FALSE;

char *
cleave_size_to_text (gint64 n_bytes)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
  gint64 unit = 1, whole, hundredths;
  guint i = 0;

  for (; n_bytes / unit >= 1024 && i + 1 < G_N_ELEMENTS (units); i++)
    unit *= 1024;
  whole = n_bytes / unit;
  hundredths = (n_bytes % unit * 100 + unit - 1) / unit;
  whole += hundredths / 100;
  hundredths %= 100;
  if (hundredths == 0)
    return g_strdup_printf ("%" G_GINT64_FORMAT " %s", whole, units[i]);
  return g_strdup_printf ("%" G_GINT64_FORMAT ".%02" G_GINT64_FORMAT " %s", whole, hundredths,
                          units[i]);
}

char *
cleave_size_to_print (gint64 n_bytes)
{
  return cleave_sizes_in_bytes ? g_strdup_printf ("%" G_GINT64_FORMAT " bytes", n_bytes)
                               : cleave_size_to_text (n_bytes);
}

static gboolean
replace_size (const GMatchInfo *match, GString *text, gpointer data)
{
  g_autofree char *digits = g_match_info_fetch (match, 1);
  g_autofree char *size = cleave_size_to_print (g_ascii_strtoll (digits, NULL, 10));

  g_string_append (text, size);
  return FALSE;
}

char *
cleave_size_replace_all (const char *text)
{
  g_autoptr (GRegex) sizes = g_regex_new ("\\b(\\d{1,18}) bytes\\b", 0, 0, NULL);
  char *replaced = g_regex_replace_eval (sizes, text, -1, 0, 0, replace_size, NULL, NULL);

  if (replaced == NULL)
    replaced = g_strdup (text);
  return replaced;
}
