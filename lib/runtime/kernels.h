/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/op.h"
#include "weights.h"

/* One step of a program as a kernel sees it.  The arena lies where it will lie, so the views are
 * final. */
typedef struct
{
  CleaveCall call;
  CleaveView *operands, *results;
  CleaveTensor **constants; /* for each operand the constant that it is, or NULL */
} CleaveSite;

/* A family of fast kernels.  Where it does not serve a site, the op's own compute runs: the bits
 * are the same. */
typedef struct
{
  /* FALSE: not this site.  All that may fail or allocate happens here; `n_scratch` is in bytes. */
  gboolean (*prepare) (const CleaveSite *site,
                       CleaveWeights *weights,
                       gpointer *state,
                       gsize *n_scratch);
  void (*run) (gconstpointer state, const CleaveSite *site, gpointer scratch);
  void (*free) (gpointer state);
} CleaveKernelFamily;

/* The family that serves a call here, or NULL: its reference kernel. */
const CleaveKernelFamily *cleave_kernel_find (const CleaveCall *call);
/* For tests: whether a level of x86-64 ("v1", "v3", "v4") runs here, and its family. */
gboolean cleave_kernel_level_runs (const char *level);
const CleaveKernelFamily *cleave_kernel_find_at (const CleaveCall *call, const char *level);
