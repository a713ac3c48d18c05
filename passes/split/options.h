/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-error.h>
#include <cleave/cleave-split.h>

#include "../../lib/ir/error.h"

/* Far above what anyone wants, far below what fills the memory. */
#define CLEAVE_MAX_CHUNKS (1 << 20)

/* What the chunks of a dimension must be like. */
typedef struct
{
  gint64 alignment, min_chunk;
  gboolean small_first;
} CleaveGrain;

/* An extent becomes sizes that add up to it; NULL with the error. */
typedef GArray *(*CleaveCutExtent) (const GArray *list,
                                    const CleaveGrain *grain,
                                    gint64 extent,
                                    GError **error);

struct _CleaveTiling
{
  char *dims;          /* NULL: the ranges are given, or a search may cut them all */
  CleaveCutExtent cut; /* NULL: the ranges are given, or searched for */
  const char *what;    /* what a list holds, for messages */
  GPtrArray *lists;    /* a GArray of gint64 or double for each listed dimension */
  GArray *ranges;      /* CleaveRange */
  gboolean is_search;
  gboolean small_first;
  GArray *alignments, *min_chunks; /* gint64: one for all, or one for each dimension */
};

/* chunks.c */
GArray *
cleave_cut_by_number (const GArray *list, const CleaveGrain *grain, gint64 extent, GError **error);
GArray *
cleave_cut_by_size (const GArray *list, const CleaveGrain *grain, gint64 extent, GError **error);
GArray *
cleave_cut_by_sizes (const GArray *list, const CleaveGrain *grain, gint64 extent, GError **error);
GArray *
cleave_cut_by_weights (const GArray *list, const CleaveGrain *grain, gint64 extent, GError **error);
/* Sizes that were given must keep to alignment and minimum by themselves. */
gboolean cleave_grain_check (const CleaveGrain *grain,
                             const CleaveSpan *span,
                             gint64 extent,
                             GError **error);

/* dims.c */

/* "H" or "dimension 2". */
char *cleave_dim_dup_name (guint d, const char *letters);
/* The listed dimensions in their order. */
gboolean cleave_dims_parse (
    const char *list, guint rank, const char *letters, guint *dims, guint *n_dims, GError **error);

/* What the chunks of the listed dimension `i` of `n` must be like. */
gboolean cleave_tiling_get_grain (
    const CleaveTiling *tiling, guint i, guint n, CleaveGrain *grain, GError **error);

/* Where a search may cut. */
typedef struct
{
  gboolean may_cut[CLEAVE_MAX_RANK];
  CleaveGrain grain[CLEAVE_MAX_RANK];
} CleaveSpace;

/* Of an option that is a search, or of none, which may cut everywhere. */
gboolean cleave_tiling_get_space (const CleaveTiling *tiling,
                                  const CleaveShape *shape,
                                  const char *letters,
                                  CleaveSpace *space,
                                  GError **error);
