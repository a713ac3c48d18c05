/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

/* Packed weights: copies of constants in the layout that a kernel wants. Each is made once for a
 * constant and shared by all pieces, even if they use slices of the constant. */
typedef struct _CleaveWeights CleaveWeights;

/* A packed copy, with its key and address. */
typedef struct
{
  char *key;
  gsize n_bytes;
  gpointer memory;
  gboolean owns_memory;
} CleavePackedWeight;

/* Returns an empty GArray of CleavePackedWeight. */
GArray *cleave_packed_weights_new (void);

/* `stored`, unless NULL, has the packed copies of an earlier object that was asked for the same
 * ones, as a saved program has. They are used instead of packing, and must outlive this object. */
CleaveWeights *cleave_weights_new (const GArray *stored);
/* Returns the packed copies (CleavePackedWeight) in the order in which they were made. */
const GArray *cleave_weights_get_packed (const CleaveWeights *weights);
void cleave_weights_free (CleaveWeights *weights);
/* Releases a base: nothing more will be packed from it. */
void cleave_weights_let_go (CleaveWeights *weights, CleaveTensor *base);
gint64 cleave_weights_get_n_bytes (const CleaveWeights *weights);
/* Returns FALSE and sets the error if memory ran out for some copy. No kernel may run then. */
gboolean cleave_weights_check (const CleaveWeights *weights, GError **error);

/* Returns the constant from which this one is cut along dimension `dim` alone, and sets `first` to
 * its begin there. Returns the constant itself if there is none. All pieces share copies packed
 * from the base. */
CleaveTensor *cleave_weights_find_base (CleaveTensor *constant, guint dim, gint64 *first);

/* Returns the result of `pack` on `base`, which writes `n_bytes` bytes, once for each base and key.
 * `weights` owns it. NULL: memory ran out, and cleave_weights_check() reports that. */
gconstpointer
cleave_weights_get (CleaveWeights *weights,
                    CleaveTensor *base,
                    const char *key,
                    gsize n_bytes,
                    void (*pack) (const CleaveTensor *base, gconstpointer data, gpointer to),
                    gconstpointer data);
