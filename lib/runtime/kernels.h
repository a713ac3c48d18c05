/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/op.h"
#include "weights.h"

typedef struct _CleaveSite CleaveSite;
typedef struct _CleaveKernelFamily CleaveKernelFamily;

/* A step that is done part by part along with the one before it, as long as what that makes is in
 * the cache. */
typedef struct
{
  const CleaveKernelFamily *family;
  gconstpointer state;
  const CleaveSite *site;
} CleaveFollower;

/* One step of a program as a kernel sees it.  The arena lies where it will lie, so the views are
 * final. */
struct _CleaveSite
{
  CleaveCall call;
  CleaveView *operands, *results;
  CleaveTensor **constants; /* for each operand the constant that it is, or NULL; to prepare only */
  guint n_followers;
  const CleaveFollower *followers; /* in order; their results lie as this one's does */
};

/* A family of fast kernels.  Where it does not serve a site, the op's own compute runs: the bits
 * are the same. */
struct _CleaveKernelFamily
{
  /* FALSE: not this site.  All that may fail or allocate happens here; `n_scratch` is in bytes. */
  gboolean (*prepare) (const CleaveSite *site,
                       CleaveWeights *weights,
                       gpointer *state,
                       gsize *n_scratch);
  void (*run) (gconstpointer state, const CleaveSite *site, gpointer scratch);
  void (*free) (gpointer state);
  /* As run, for the elements of the result that lie in [begin, end), counted in elements from its
   * first.  NULL, for a family that cannot or needs scratch: it does not follow. */
  void (*run_part) (gconstpointer state, const CleaveSite *site, gint64 begin, gint64 end);
  /* Whether run calls cleave_site_made; NULL: never. */
  gboolean (*tells) (gconstpointer state);
  /* Whether run reads this operand, rather than what was packed of it; NULL: it reads all. */
  gboolean (*reads) (gconstpointer state, guint operand);
};

/* To be called by a kernel once for each part of its result, when all elements in [begin, end) of
 * it are there and not read again. */
static inline void
cleave_site_made (const CleaveSite *site, gint64 begin, gint64 end)
{
  for (guint i = 0; i < site->n_followers; i++)
    {
      const CleaveFollower *follower = &site->followers[i];

      follower->family->run_part (follower->state, follower->site, begin, end);
    }
}

/* The family that serves a call here, or NULL: its reference kernel. */
const CleaveKernelFamily *cleave_kernel_find (const CleaveCall *call);
/* For tests: whether a level of x86-64 ("v1", "v3", "v4") runs here, and its family. */
gboolean cleave_kernel_level_runs (const char *level);
const CleaveKernelFamily *cleave_kernel_find_at (const CleaveCall *call, const char *level);
