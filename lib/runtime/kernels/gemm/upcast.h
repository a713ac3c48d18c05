/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What convolutions and matrix products of 16-bit floats have in common.  Band by band, what is
 * read of the activations becomes floats in scratch, a product of floats makes sums, and these
 * become elements of the result. */

#include "../upcast.h"
#include "plans.h"

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
  CleaveProduct *product;
  const float *packed; /* the weights, for good; NULL: by each run */
  CleavePanels panels;
  gsize at_x, at_y, at_bias, at_packed; /* in scratch */
} CleaveUpcast;

/* A run at work; what is not const is room in scratch. */
typedef struct
{
  const CleaveUpcast *plan;
  const CleaveKernelInstance *instance;
  const float *packed, *bias; /* what the products read; bias may be NULL */
  CleaveElement element;      /* of the result */
  float *x, *y;               /* of a band */
  float *at_bias;             /* of each column */
  float *at_packed;
} CleaveUpcastWork;

/* Bytes of scratch. */
gsize cleave_upcast_lay_out (CleaveUpcast *plan, gint64 n_columns);

CleaveUpcastWork cleave_upcast_begin (const CleaveUpcast *plan,
                                      const CleaveKernelInstance *instance,
                                      gpointer scratch);
/* The weights at `from`. */
void cleave_upcast_pack (CleaveUpcastWork *work, gconstpointer from);
/* The sums of a band, of the x that is there. */
void cleave_upcast_run_band (const CleaveUpcastWork *work, guint band);
/* `n` elements of the result, of the sums from the band's element `at` on: a CleaveFinishLine. */
void cleave_upcast_finish (gconstpointer work, gint64 at, gpointer y, gint64 step, gint64 n);

/* Of each family. */
void cleave_upcast_free (gpointer plan);
gboolean cleave_upcast_reports_progress (gconstpointer plan);
gboolean cleave_upcast_reads (gconstpointer plan, guint operand);
