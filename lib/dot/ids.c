/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Numbers the objects of a drawing (vertices, edges, subgraphs) in the order in which they are made
 * (ids.h). */

#include "ids.h"

#include <glib.h>

/* The numbers of objects. Named objects have the numbers 2, 4, 6 …, and unnamed objects the numbers
 * 1, 3, 5 …. */
typedef struct
{
  Agraph_t *root;
  GPtrArray *names;   /* names of objects, as strings of cgraph; the object with number n has the
                       * index n / 2 - 1 */
  GHashTable *number; /* maps each name to its number */
  guint64 n_unnamed;
} Ids;

static void *
ids_open (Agraph_t *root, Agdisc_t *discipline)
{
  Ids *ids = g_new0 (Ids, 1);

  ids->root = root;
  ids->names = g_ptr_array_new ();
  ids->number = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return ids;
}

static long
ids_map (void *state, int kind, char *name, IDTYPE *id, int create)
{
  Ids *ids = state;
  guint number;

  if (name == NULL)
    {
      *id = 2 * ids->n_unnamed++ + 1;
      return TRUE;
    }
  number = GPOINTER_TO_UINT (g_hash_table_lookup (ids->number, name));
  if (number == 0 && create)
    {
      g_ptr_array_add (ids->names, agstrdup (ids->root, name));
      number = 2 * ids->names->len;
      g_hash_table_insert (ids->number, g_strdup (name), GUINT_TO_POINTER (number));
    }
  *id = number;
  return number != 0;
}

/* Returns FALSE: no caller may choose the number of an object. cgraph calls this function only when
 * it reads a file with numbers. */
static long
ids_alloc (void *state, int kind, IDTYPE id)
{
  return FALSE;
}

static void
ids_free (void *state, int kind, IDTYPE id)
{
}

static char *
ids_print (void *state, int kind, IDTYPE id)
{
  Ids *ids = state;

  return id % 2 == 0 && id > 0 ? ids->names->pdata[id / 2 - 1] : NULL;
}

static void
ids_close (void *state)
{
  Ids *ids = state;

  g_ptr_array_unref (ids->names);
  g_hash_table_unref (ids->number);
  g_free (ids);
}

static void
ids_register (void *state, int kind, void *object)
{
}

Agiddisc_t cleave_drawing_ids = {
  .open = ids_open,
  .map = ids_map,
  .alloc = ids_alloc,
  .free = ids_free,
  .print = ids_print,
  .close = ids_close,
  .idregister = ids_register,
};
