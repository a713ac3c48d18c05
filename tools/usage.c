/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints the usage line, the summary and the options of a command. The descriptions of all options
 * begin in one column and are wrapped. */

#include "usage.h"

#include <stdio.h>
#include <string.h>

/* A line has at most this many columns. */
#define WIDTH 100
/* Columns between an option and its description. */
#define GAP 3

/* Returns an option as the help shows it: "  -o, --output=FILE". */
static char *
dup_head (const GOptionEntry *entry)
{
  g_autofree char *letter =
      entry->short_name == 0 ? g_strdup ("") : g_strdup_printf ("-%c, ", entry->short_name);
  gboolean takes_value = entry->arg != G_OPTION_ARG_NONE;

  return g_strconcat ("  ", letter, "--", entry->long_name, takes_value ? "=" : "",
                      takes_value ? entry->arg_description : "", NULL);
}

static guint
count_columns (const char *text)
{
  return (guint) g_utf8_strlen (text, -1);
}

/* Prints a text whose first line begins in the column `indent`. */
static void
print_wrapped (const char *text, guint indent)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  guint column = indent;

  for (guint i = 0; words[i] != NULL; i++)
    {
      guint n = count_columns (words[i]);

      if (i > 0 && column + 1 + n > WIDTH)
        {
          printf ("\n%*s", (int) indent, "");
          column = indent;
        }
      else if (i > 0)
        {
          putchar (' ');
          column++;
        }
      fputs (words[i], stdout);
      column += n;
    }
  putchar ('\n');
}

static void
print_option (const char *head, const char *description, guint indent)
{
  printf ("%s%*s", head, (int) (indent - count_columns (head)), "");
  print_wrapped (description, indent);
}

void
cleave_usage_print (const CleaveArguments *arguments)
{
  static const char *const help = "  -h, --help";
  guint indent = count_columns (help) + GAP;

  for (const GOptionEntry *entry = arguments->entries; entry->long_name != NULL; entry++)
    {
      g_autofree char *head = dup_head (entry);

      indent = MAX (indent, count_columns (head) + GAP);
    }
  printf ("Usage:\n  %s [OPTION…]%s%s\n\n%s\n\nOptions:\n", g_get_prgname (),
          *arguments->what == '\0' ? "" : " ", arguments->what, arguments->summary);
  print_option (help, "print this help", indent);
  for (const GOptionEntry *entry = arguments->entries; entry->long_name != NULL; entry++)
    {
      g_autofree char *head = dup_head (entry);

      print_option (head, entry->description, indent);
    }
}
