/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

/* Packed weights: copies of constants in the layouts that kernels read. Kernels request them in
 * `prepare`; the program owns them, and lib/saved writes them into a file. Each copy is made once
 * per base constant and layout. All pieces share the copy, even if they use different slices of the
 * constant. Example: eight pieces of a convolution, each with 8 of 64 output channels, share one
 * packed copy of all 64. */
typedef struct _CleaveWeights CleaveWeights;

/* A packed copy: `n_bytes` bytes at `memory`. `key` is a text that names the layout of the copy. */
typedef struct
{
  char *key;
  gsize n_bytes;
  gpointer memory;
  gboolean owns_memory;
} CleavePackedWeight;

/* Packs the constant `base` into the memory `to`. `data` is the argument `data` of
 * cleave_weights_get() or cleave_weights_ask(), passed on unchanged. */
typedef void (*CleavePack) (const CleaveTensor *base, gconstpointer data, gpointer to);

/* Returns an empty GArray of CleavePackedWeight. */
GArray *cleave_packed_weights_new (void);

/* Returns an empty set of packed weights for a program that never runs: cleave_weights_get()
 * returns memory with undefined contents, and packs nothing. */
CleaveWeights *cleave_weights_new_unpacked (void);
/* Returns an empty set of packed weights. `stored` contains the packed copies of a saved program
 * (CleavePackedWeight), which must outlive the set. If kernels request copies in the stored order,
 * they get the stored copies instead of packing. `stored` NULL: each kernel packs its copies. */
CleaveWeights *cleave_weights_new (const GArray *stored);
/* Returns the packed copies (CleavePackedWeight) in the order in which they were packed. */
const GArray *cleave_weights_get_packed (const CleaveWeights *weights);
void cleave_weights_free (CleaveWeights *weights);
/* Drops the reference to base `base`. Call this function when no kernel packs the base any more. */
void cleave_weights_let_go (CleaveWeights *weights, CleaveTensor *base);
gint64 cleave_weights_get_n_bytes (const CleaveWeights *weights);
/* Returns FALSE and sets the error if memory ran out for a packed copy. In this case, no kernel may
 * run. */
gboolean cleave_weights_check (const CleaveWeights *weights, GError **error);

/* If a constant is a slice of another constant along dimension `dim` alone, returns the other
 * constant (the base), and sets `first` to the begin of the slice along `dim`. Otherwise returns
 * the constant itself and sets `first` to 0. Pieces with slices of one base thus share one packed
 * copy. */
CleaveTensor *cleave_weights_find_base (CleaveTensor *constant, guint dim, gint64 *first);

/* Returns `n_bytes` bytes of packed memory, which `weights` owns. The first call for a base and a
 * key calls `pack (base, data, memory)`; later calls return the same memory. Returns NULL if memory
 * ran out; cleave_weights_check() then reports the error. */
gconstpointer cleave_weights_get (CleaveWeights *weights,
                                  CleaveTensor *base,
                                  const char *key,
                                  gsize n_bytes,
                                  CleavePack pack,
                                  gconstpointer data);
/* Returns a fact about the weights of a base, as `n_bytes` bytes that `find` computes. Example:
 * whether all weights fit into 4 bits. A kernel reads the fact in `prepare`, to choose a layout.
 *
 * The first call for a base and a `question` calls `find (base, data, memory)`, unless a saved
 * program stores the fact; later calls return the same memory. `find` is called even if
 * cleave_weights_new_unpacked() made `weights`. If `find` is NULL, returns memory with undefined
 * contents. */
gconstpointer cleave_weights_ask (CleaveWeights *weights,
                                  CleaveTensor *base,
                                  const char *question,
                                  gsize n_bytes,
                                  CleavePack find,
                                  gconstpointer data);
