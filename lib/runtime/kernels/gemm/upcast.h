/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What convolutions and matrix products of bytes and of 16-bit floats have in common.  Band by
 * band, what is read of the activations becomes floats in scratch, products of floats make sums,
 * and these become elements of the result.
 *
 * Floats hold whole numbers up to 2^24.  Where a sum of bytes could pass that, what is added up is
 * cut into parts that cannot, each a product of its own, and whole numbers add up the parts. */

#include "../exact.h"
#include "../finish.h"
#include "plans.h"

#define cleave_upcast_make_products CLEAVE_LEVELLED (cleave_upcast_make_products)
#define cleave_upcast_lay_out CLEAVE_LEVELLED (cleave_upcast_lay_out)
#define cleave_upcast_begin CLEAVE_LEVELLED (cleave_upcast_begin)
#define cleave_upcast_pack CLEAVE_LEVELLED (cleave_upcast_pack)
#define cleave_upcast_run_band CLEAVE_LEVELLED (cleave_upcast_run_band)
#define cleave_upcast_finish CLEAVE_LEVELLED (cleave_upcast_finish)
#define cleave_upcast_free CLEAVE_LEVELLED (cleave_upcast_free)
#define cleave_upcast_reports_progress CLEAVE_LEVELLED (cleave_upcast_reports_progress)
#define cleave_upcast_reads CLEAVE_LEVELLED (cleave_upcast_reads)

/* What is made once; the plan of each kind begins with this. */
typedef struct
{
  gboolean reports_progress;
  guint weights; /* the operand */
  gint64 n_parts;
  CleaveProduct **products; /* of each part */
  const float *packed;      /* the weights, for good; NULL: by each run */
  CleavePanels panels;
  gsize at_x, at_y, at_sums, at_bias, at_scale, at_zeros, at_packed; /* in scratch */
} CleaveUpcast;

/* A run at work; what is not const is room in scratch. */
typedef struct
{
  const CleaveUpcast *plan;
  const CleaveKernelInstance *instance;
  const float *packed, *bias; /* what the products read; bias may be NULL */
  CleaveFinish finish;
  float *x, *y; /* of a band */
  gint32 *sums;
  gpointer at_bias; /* of each column, as are the next two */
  float *at_scale, *at_zeros, *at_packed;
} CleaveUpcastWork;

/* The operand is absent or a constant. */
static inline gboolean
cleave_instance_knows (const CleaveKernelInstance *instance, guint operand)
{
  return !cleave_call_has (&instance->call, operand) || instance->constants[operand] != NULL;
}

/* The product that adds up `part`, whose weights are panels from the packed column `first` on. */
typedef CleaveProduct *(*CleaveMakePart) (const CleaveKernelInstance *instance,
                                          gconstpointer plan,
                                          gint64 first,
                                          const CleaveSpan *part);

/* Cuts [0, n) into the parts; FALSE: there is no code for one of them. */
gboolean cleave_upcast_make_products (CleaveUpcast *plan,
                                      const CleaveKernelInstance *instance,
                                      gint64 first,
                                      gint64 n,
                                      CleaveMakePart make);
/* Bytes of scratch. */
gsize cleave_upcast_lay_out (CleaveUpcast *plan, gint64 n_columns);

CleaveUpcastWork cleave_upcast_begin (const CleaveUpcast *plan,
                                      const CleaveKernelInstance *instance,
                                      gpointer scratch);
/* The weights at `from`, from which `zeros` are taken away unless it is NULL. */
void cleave_upcast_pack (CleaveUpcastWork *work, gconstpointer from, const float *zeros);
/* The sums of a band, of the x that is there. */
void cleave_upcast_run_band (const CleaveUpcastWork *work, guint band);
/* `n` elements of the result, of the sums from the band's element `at` on: a CleaveFinishLine. */
void cleave_upcast_finish (gconstpointer work, gint64 at, gpointer y, gint64 step, gint64 n);

/* Of each family. */
void cleave_upcast_free (gpointer plan);
gboolean cleave_upcast_reports_progress (gconstpointer plan);
gboolean cleave_upcast_reads (gconstpointer plan, guint operand);
