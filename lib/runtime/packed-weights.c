/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Stores the packed copies of each base constant. If a saved program contains packed copies, uses
 * these copies instead of packing again. A base is a constant, or the constant of which another
 * constant is a slice. */

#include "packed-weights.h"

#include <stdlib.h>
#include <string.h>

#include "../ir/memory.h"

/* Alignment of packed weights in bytes. With 64 bytes, a wide load never crosses a cache line. */
#define ALIGNMENT 64

/* The packed copies of one base. The entry holds a reference to the base, so that no other tensor
 * gets the base's address while that address is a key of `entries`. */
typedef struct
{
  CleaveTensor *base;
  GHashTable *packed; /* maps the key of a layout to the memory of the copy in that layout */
} Entry;

struct _CleaveWeights
{
  GHashTable *entries; /* maps a base to its Entry, until cleave_weights_let_go() drops the base */
  GArray *packed; /* CleavePackedWeight: all copies, in the order in which kernels asked for them */
  const GArray *stored; /* CleavePackedWeight: copies from a saved program, in the order in which
                           kernels ask for them; NULL: none */
  gboolean is_unpacked; /* TRUE: no kernel will run, so the memory of packed copies stays unset */
  gint64 n_bytes;
  GError *error; /* error of the first allocation that failed; NULL: none failed */
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  cleave_tensor_unref (entry->base);
  g_hash_table_unref (entry->packed);
  g_free (entry);
}

static void
clear_packed (gpointer data)
{
  CleavePackedWeight *packed = data;

  g_free (packed->key);
  if (packed->owns_memory)
    free (packed->memory);
}

GArray *
cleave_packed_weights_new (void)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (CleavePackedWeight));

  g_array_set_clear_func (list, clear_packed);
  return list;
}

CleaveWeights *
cleave_weights_new (const GArray *stored)
{
  CleaveWeights *weights = g_new0 (CleaveWeights, 1);

  weights->entries = g_hash_table_new_full (NULL, NULL, NULL, entry_free);
  weights->packed = cleave_packed_weights_new ();
  weights->stored = stored;
  return weights;
}

CleaveWeights *
cleave_weights_new_unpacked (void)
{
  CleaveWeights *weights = cleave_weights_new (NULL);

  weights->is_unpacked = TRUE;
  return weights;
}

const GArray *
cleave_weights_get_packed (const CleaveWeights *weights)
{
  return weights->packed;
}

void
cleave_weights_free (CleaveWeights *weights)
{
  if (weights == NULL)
    return;
  g_hash_table_unref (weights->entries);
  g_array_unref (weights->packed);
  g_clear_error (&weights->error);
  g_free (weights);
}

void
cleave_weights_let_go (CleaveWeights *weights, CleaveTensor *base)
{
  g_hash_table_remove (weights->entries, base);
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

static Entry *
find_entry (CleaveWeights *weights, CleaveTensor *base)
{
  Entry *entry = g_hash_table_lookup (weights->entries, base);

  if (entry != NULL)
    return entry;
  entry = g_new0 (Entry, 1);
  entry->base = cleave_tensor_ref (base);
  entry->packed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_insert (weights->entries, base, entry);
  return entry;
}

CleaveTensor *
cleave_weights_find_base (CleaveTensor *constant, guint dim, gint64 *first)
{
  CleaveRange range;
  CleaveTensor *base = cleave_tensor_get_base (constant, &range);
  const CleaveShape *shape = &cleave_tensor_get_type (base)->shape;

  *first = range.dim[dim].begin;
  for (guint d = 0; d < shape->rank; d++)
    if (d != dim && (range.dim[d].begin != 0 || range.dim[d].end != shape->dim[d]))
      {
        *first = 0;
        return constant;
      }
  return base;
}

/* A kernel requests a copy of `n_bytes` bytes with the key `key`. If the next stored copy has this
 * key and this size, returns the memory of the stored copy. Otherwise returns NULL. Also returns
 * NULL if no stored copy is left. */
static gpointer
find_stored (const CleaveWeights *weights, const char *key, gsize n_bytes)
{
  const CleavePackedWeight *next;

  if (weights->stored == NULL || weights->packed->len >= weights->stored->len)
    return NULL;
  next = &g_array_index (weights->stored, CleavePackedWeight, weights->packed->len);
  return next->n_bytes == n_bytes && g_str_equal (next->key, key) ? next->memory : NULL;
}

/* Returns memory for a packed copy, or NULL if memory ran out. `clears` TRUE: sets the memory to 0.
 * `clears` FALSE: does not touch the memory, so that the system provides the pages of a large copy
 * only when they are used. */
static gpointer
take_memory (CleaveWeights *weights, gsize n_bytes, gboolean clears)
{
  gpointer memory = cleave_memory_try ((gint64) n_bytes, ALIGNMENT, "packed weights",
                                       weights->error == NULL ? &weights->error : NULL);

  if (memory == NULL || !clears)
    return memory;
  cleave_memory_populate (memory, n_bytes);
  return memset (memory, 0, MAX (n_bytes, 1));
}

gconstpointer
cleave_weights_ask (CleaveWeights *weights,
                    CleaveTensor *base,
                    const char *question,
                    gsize n_bytes,
                    CleavePack find,
                    gconstpointer data)
{
  Entry *entry = find_entry (weights, base);
  CleavePackedWeight packed = { .memory = g_hash_table_lookup (entry->packed, question) };

  if (packed.memory != NULL)
    return packed.memory;
  packed = (CleavePackedWeight){ g_strdup (question), n_bytes,
                                 find_stored (weights, question, n_bytes), FALSE };
  packed.owns_memory = packed.memory == NULL;
  if (packed.owns_memory)
    packed.memory = take_memory (weights, n_bytes, find != NULL);
  g_array_append_val (weights->packed, packed);
  if (packed.memory == NULL)
    return NULL;
  if (packed.owns_memory && find != NULL)
    find (base, data, packed.memory);
  g_hash_table_insert (entry->packed, g_strdup (question), packed.memory);
  weights->n_bytes += (gint64) n_bytes;
  return packed.memory;
}

gconstpointer
cleave_weights_get (CleaveWeights *weights,
                    CleaveTensor *base,
                    const char *key,
                    gsize n_bytes,
                    CleavePack pack,
                    gconstpointer data)
{
  return cleave_weights_ask (weights, base, key, n_bytes, weights->is_unpacked ? NULL : pack, data);
}
