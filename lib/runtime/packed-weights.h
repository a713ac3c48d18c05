/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

/* Packed weights, made once for a constant (or for the constant that it is a slice of) and shared
 * by all pieces. */
typedef struct _CleaveWeights CleaveWeights;

/* One of them: what it is called, and where it lies. */
typedef struct
{
  char *key;
  gsize n_bytes;
  gpointer memory;
  gboolean owns_memory;
} CleavePackedWeight;

/* A list of them. */
GArray *cleave_packed_weights_new (void);

/* `stored`, unless NULL: what such an object held in the end when the same was asked of it.  It is
 * taken in place of packing, and must outlive this. */
CleaveWeights *cleave_weights_new (const GArray *stored);
/* CleavePackedWeight, in the order in which they were packed. */
const GArray *cleave_weights_get_packed (const CleaveWeights *weights);
void cleave_weights_free (CleaveWeights *weights);
/* No more will be packed of this base: it is not held any longer. */
void cleave_weights_let_go (CleaveWeights *weights, CleaveTensor *base);
gint64 cleave_weights_get_n_bytes (const CleaveWeights *weights);
/* FALSE and the error if there was no memory for some: then no kernel may run. */
gboolean cleave_weights_check (const CleaveWeights *weights, GError **error);

/* The constant that this one is cut out of along that dimension alone, where it begins in it; else
 * the constant itself.  What is packed of it serves all pieces. */
CleaveTensor *cleave_weights_find_base (CleaveTensor *constant, guint dim, gint64 *first);

/* What `pack` makes of `base`, once for each base and key; owned by `weights`.  `pack` writes
 * `n_bytes` bytes.  NULL: there is no memory, as cleave_weights_check() will say. */
gconstpointer
cleave_weights_get (CleaveWeights *weights,
                    CleaveTensor *base,
                    const char *key,
                    gsize n_bytes,
                    void (*pack) (const CleaveTensor *base, gconstpointer data, gpointer to),
                    gconstpointer data);
