/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Assigns unique names to values: the printed name of the value, with a suffix such as "-2" if
 * another value has this name. */

#include "names.h"

struct _CleavePartitionNames
{
  GHashTable *of_value; /* maps a CleaveResult to its name; owns the names */
  GHashTable *taken;    /* set of all names in use; owns the names */
};

CleavePartitionNames *
cleave_partition_names_new (void)
{
  CleavePartitionNames *names = g_new (CleavePartitionNames, 1);

  names->of_value = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  names->taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return names;
}

void
cleave_partition_names_free (CleavePartitionNames *names)
{
  g_hash_table_unref (names->of_value);
  g_hash_table_unref (names->taken);
  g_free (names);
}

void
cleave_partition_names_reserve (CleavePartitionNames *names,
                                const CleaveResult *value,
                                const char *name)
{
  g_autofree char *own = cleave_result_dup_name (value);

  if (g_str_equal (own, name) && !g_hash_table_contains (names->taken, name))
    g_hash_table_insert (names->of_value, (gpointer) value, g_strdup (name));
  g_hash_table_add (names->taken, g_strdup (name));
}

const char *
cleave_partition_names_get (CleavePartitionNames *names, const CleaveResult *value)
{
  char *name = g_hash_table_lookup (names->of_value, value);
  g_autofree char *own = NULL;

  if (name != NULL)
    return name;
  own = cleave_result_dup_name (value);
  name = g_strdup (own);
  for (guint number = 2; g_hash_table_contains (names->taken, name); number++)
    {
      g_free (name);
      name = g_strdup_printf ("%s-%u", own, number);
    }
  g_hash_table_add (names->taken, g_strdup (name));
  g_hash_table_insert (names->of_value, (gpointer) value, name);
  return name;
}
