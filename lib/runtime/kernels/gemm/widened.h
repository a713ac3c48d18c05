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

#define cleave_widened_make_products CLEAVE_LEVELLED (cleave_widened_make_products)
#define cleave_widened_lay_out CLEAVE_LEVELLED (cleave_widened_lay_out)
#define cleave_widened_begin CLEAVE_LEVELLED (cleave_widened_begin)
#define cleave_widened_pack CLEAVE_LEVELLED (cleave_widened_pack)
#define cleave_widened_run_band CLEAVE_LEVELLED (cleave_widened_run_band)
#define cleave_widened_finish CLEAVE_LEVELLED (cleave_widened_finish)
#define cleave_widened_free CLEAVE_LEVELLED (cleave_widened_free)
#define cleave_widened_tells CLEAVE_LEVELLED (cleave_widened_tells)
#define cleave_widened_reads CLEAVE_LEVELLED (cleave_widened_reads)

/* What is made once; the plan of each kind begins with this. */
typedef struct
{
  gboolean tells;
  guint weights; /* the operand */
  gint64 n_parts;
  CleaveProduct **products; /* of each part */
  const float *packed;      /* the weights, for good; NULL: by each run */
  CleavePanels panels;
  gsize at_x, at_y, at_sums, at_bias, at_scale, at_zeros, at_packed; /* in scratch */
} CleaveWidened;

/* A run at work; what is not const is room in scratch. */
typedef struct
{
  const CleaveWidened *plan;
  const CleaveSite *site;
  const float *packed, *bias; /* what the products read; bias may be NULL */
  CleaveFinish finish;
  float *x, *y; /* of a band */
  gint32 *sums;
  gpointer at_bias; /* of each column, as are the next two */
  float *at_scale, *at_zeros, *at_packed;
} CleaveWidenedWork;

/* The operand is absent or a constant. */
static inline gboolean
cleave_site_knows (const CleaveSite *site, guint operand)
{
  return !cleave_call_has (&site->call, operand) || site->constants[operand] != NULL;
}

/* The product that adds up `part`, whose weights are panels from the packed column `first` on. */
typedef CleaveProduct *(*CleaveMakePart) (const CleaveSite *site,
                                          gconstpointer plan,
                                          gint64 first,
                                          const CleaveSpan *part);

/* Cuts [0, n) into the parts; FALSE: there is no code for one of them. */
gboolean cleave_widened_make_products (
    CleaveWidened *plan, const CleaveSite *site, gint64 first, gint64 n, CleaveMakePart make);
/* Bytes of scratch. */
gsize cleave_widened_lay_out (CleaveWidened *plan, gint64 n_columns);

CleaveWidenedWork
cleave_widened_begin (const CleaveWidened *plan, const CleaveSite *site, gpointer scratch);
/* The weights at `from`, from which `zeros` are taken away unless it is NULL. */
void cleave_widened_pack (CleaveWidenedWork *work, gconstpointer from, const float *zeros);
/* The sums of a band, of the x that is there. */
void cleave_widened_run_band (const CleaveWidenedWork *work, guint band);
/* `n` elements of the result, of the sums from the band's element `at` on: a CleaveFinishLine. */
void cleave_widened_finish (gconstpointer work, gint64 at, gpointer y, gint64 step, gint64 n);

/* Of each family. */
void cleave_widened_free (gpointer plan);
gboolean cleave_widened_tells (gconstpointer plan);
gboolean cleave_widened_reads (gconstpointer plan, guint operand);
