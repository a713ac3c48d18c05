/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "weights.h"

#include <stdlib.h>
#include <string.h>

#include "../ir/memory.h"

/* Wide loads of packed weights never cross a cache line. */
#define ALIGNMENT 64

typedef struct
{
  CleaveTensor *base;
  char *key;
  gpointer packed;
} Entry;

struct _CleaveWeights
{
  GHashTable *entries; /* a set of Entry */
  gint64 n_bytes;
  GError *error; /* the first for which there was no memory */
};

static guint
entry_hash (gconstpointer data)
{
  const Entry *entry = data;

  return g_direct_hash (entry->base) * 31 + g_str_hash (entry->key);
}

static gboolean
entry_equal (gconstpointer a, gconstpointer b)
{
  const Entry *x = a;
  const Entry *y = b;

  return x->base == y->base && g_str_equal (x->key, y->key);
}

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  cleave_tensor_unref (entry->base);
  g_free (entry->key);
  free (entry->packed);
  g_free (entry);
}

CleaveWeights *
cleave_weights_new (void)
{
  CleaveWeights *weights = g_new0 (CleaveWeights, 1);

  weights->entries = g_hash_table_new_full (entry_hash, entry_equal, entry_free, NULL);
  return weights;
}

void
cleave_weights_free (CleaveWeights *weights)
{
  if (weights == NULL)
    return;
  g_hash_table_unref (weights->entries);
  g_clear_error (&weights->error);
  g_free (weights);
}

gint64
cleave_weights_get_n_bytes (const CleaveWeights *weights)
{
  return weights->n_bytes;
}

gboolean
cleave_weights_check (const CleaveWeights *weights, GError **error)
{
  if (weights->error != NULL && error != NULL)
    *error = g_error_copy (weights->error);
  return weights->error == NULL;
}

gconstpointer
cleave_weights_get (CleaveWeights *weights,
                    CleaveTensor *base,
                    const char *key,
                    gsize n_bytes,
                    void (*pack) (const CleaveTensor *base, gconstpointer data, gpointer to),
                    gconstpointer data)
{
  Entry like = { .base = base, .key = (char *) key };
  Entry *entry = g_hash_table_lookup (weights->entries, &like);
  gpointer packed;

  if (entry != NULL)
    return entry->packed;
  packed = cleave_memory_try ((gint64) n_bytes, ALIGNMENT, "packed weights",
                              weights->error == NULL ? &weights->error : NULL);
  if (packed == NULL)
    return NULL;
  memset (packed, 0, MAX (n_bytes, 1));
  entry = g_new0 (Entry, 1);
  entry->base = cleave_tensor_ref (base);
  entry->key = g_strdup (key);
  entry->packed = packed;
  pack (base, data, entry->packed);
  weights->n_bytes += (gint64) n_bytes;
  g_hash_table_add (weights->entries, entry);
  return entry->packed; /* cppcheck-suppress memleak ; the table owns it */
}
