/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-error.h>
#include <cleave/cleave-split.h>

#include "../../lib/ir/error.h"

/* Converts a tiling to a list of ranges. A tiling is the option of a split that says how to cut: by
 * number of chunks, chunk size, list of sizes, weights, ranges or a search. Later steps read only
 * the ranges. roots.c asks for the ranges of each requested node. */

/* A split has at most this many chunks: far more than a real split needs, and few enough for a list
 * in memory. */
#define CLEAVE_MAX_CHUNKS (1 << 20)

/* Rules for the chunks of one dimension. Chunks end at multiples of `alignment` and have at least
 * `min_chunk` elements. `small_first`: smaller chunks come first. */
typedef struct
{
  gint64 alignment, min_chunk;
  gboolean small_first;
} CleaveChunkRules;

/* Cuts an extent into chunks, and returns the sizes of the chunks (gint64), whose sum is the
 * extent. Returns NULL and sets the error on failure. */
typedef GArray *(*CleaveCutExtent) (const GArray *list,
                                    const CleaveChunkRules *rules,
                                    gint64 extent,
                                    GError **error);

struct _CleaveTiling
{
  char *dims; /* dimensions to cut, such as "H,W"; NULL: `ranges` are given, or a search may cut all
                 dimensions */
  /* function that cuts a dimension; NULL: `ranges` are given, or a search finds them */
  CleaveCutExtent cut;
  const char *what; /* noun for the lists in messages, such as "chunk sizes" */
  GPtrArray *lists; /* GArray of gint64 or double, one for each dimension in `dims` */
  GArray *ranges;   /* CleaveRange: ranges of the pieces that the caller gave; NULL: none */
  gboolean is_search;
  gboolean small_first;
  /* gint64: one number for all dimensions, or one for each dimension */
  GArray *alignments, *min_chunks;
};

/* chunks.c defines the next functions, which cut an extent into chunks. */
GArray *cleave_cut_by_number (const GArray *list,
                              const CleaveChunkRules *rules,
                              gint64 extent,
                              GError **error);
GArray *cleave_cut_by_size (const GArray *list,
                            const CleaveChunkRules *rules,
                            gint64 extent,
                            GError **error);
GArray *cleave_cut_by_sizes (const GArray *list,
                             const CleaveChunkRules *rules,
                             gint64 extent,
                             GError **error);
GArray *cleave_cut_by_weights (const GArray *list,
                               const CleaveChunkRules *rules,
                               gint64 extent,
                               GError **error);
/* Returns FALSE and sets the error unless a chunk that the user gave is a multiple of the alignment
 * and has the minimum size. */
gboolean cleave_chunk_rules_check (const CleaveChunkRules *rules,
                                   const CleaveSpan *span,
                                   gint64 extent,
                                   GError **error);

/* dims.c defines the next functions, which read the dimensions of a tiling. */

/* Returns the name of dimension `d` for messages: its letter, or "dimension 2" if `letters` is
 * NULL. */
char *cleave_dim_dup_name (guint d, const char *letters);
/* Parses a comma-separated list of dimensions into `dims`, in the order of the list. Returns FALSE
 * and sets the error if the list is wrong. */
gboolean cleave_dims_parse (
    const char *list, guint rank, const char *letters, guint *dims, guint *n_dims, GError **error);

/* Sets `rules` to the rules for the chunks of dimension `i` of the `n` listed dimensions. Returns
 * FALSE and sets the error if a rule is wrong. */
gboolean cleave_tiling_get_chunk_rules (
    const CleaveTiling *tiling, guint i, guint n, CleaveChunkRules *rules, GError **error);

/* The splits that a search may choose: the dimensions that it may cut, and the rules for their
 * chunks. */
typedef struct
{
  gboolean may_cut[CLEAVE_MAX_RANK];
  CleaveChunkRules rules[CLEAVE_MAX_RANK];
} CleaveSpace;

/* Sets `space` to the dimensions that a search may cut, and the rules for their chunks. `tiling`
 * comes from cleave_tiling_by_search(). If `tiling` is NULL, the search may cut every dimension.
 * Returns FALSE and sets the error if an option of the tiling is wrong. */
gboolean cleave_tiling_get_space (const CleaveTiling *tiling,
                                  const CleaveShape *shape,
                                  const char *letters,
                                  CleaveSpace *space,
                                  GError **error);
