/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Code that LIBXSMM generates for products, if Cleave was built with LIBXSMM. product.c requests
 * the code when it prepares a product, and uses it for long sums. The code needs AVX2. */

#include "isa.h"
#include "xsmm-config.h"
#include <glib.h>

/* A product for LIBXSMM, which is column-major. In the terms of gemm.h, m is the number of columns
 * and n the number of pixels. LIBXSMM's matrix A contains the weights a, its matrix B the operand
 * x, its matrix C the result y. LIBXSMM keeps the sums of a few pixels in registers over all taps
 * of a call, and adds in the order of gemm.h. */
typedef struct
{
  int m, n, k, lda, ldb, ldc;
  gboolean adds; /* TRUE: the sums begin with the values of y; FALSE: the sums begin with 0 */
} CleaveXsmmShape;

#if CLEAVE_BUILT_WITH_XSMM && defined(CLEAVE_AVX2)
#include <libxsmm.h>

#define CLEAVE_HAS_XSMM TRUE
typedef libxsmm_smmfunction_reducebatch_offs CleaveXsmmKernel;

/* Returns the code for a product; NULL if LIBXSMM has none. The target is AVX2: its code has one
 * fused multiply-add per term for all m, n and k. The code of other targets may add terms
 * differently. LIBXSMM locks 8 MB of memory when it starts, so it is started only if needed. */
static inline CleaveXsmmKernel
cleave_xsmm_make (const CleaveXsmmShape *shape)
{
  float alpha = 1, beta = shape->adds ? 1 : 0;
  int flags = LIBXSMM_GEMM_FLAG_NONE, prefetch = LIBXSMM_GEMM_PREFETCH_NONE;

  libxsmm_init ();
  libxsmm_set_target_archid (LIBXSMM_X86_AVX2);
  return libxsmm_smmdispatch_reducebatch_offs (shape->m, shape->n, shape->k, &shape->lda,
                                               &shape->ldb, &shape->ldc, &alpha, &beta, &flags,
                                               &prefetch);
}
#else
#define CLEAVE_HAS_XSMM FALSE
typedef void (*CleaveXsmmKernel) (const float *a,
                                  const float *b,
                                  float *c,
                                  const unsigned long long *count,
                                  const unsigned long long *a_offset,
                                  const unsigned long long *b_offset);

static inline CleaveXsmmKernel
cleave_xsmm_make (const CleaveXsmmShape *shape)
{
  return NULL;
}
#endif
