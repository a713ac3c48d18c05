/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The common part of convolutions and matrix products of 16-bit floats (upcast-conv.c,
 * upcast-matmul.c). For each band (gemm.h), a run converts the operand elements that the band reads
 * to floats in scratch. It computes the sums with a float product, and converts the sums to
 * elements of the result. */

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

/* The common part of the plans of upcast-conv.c and upcast-matmul.c; the first member of both
 * plans. */
typedef struct
{
  gboolean reports_progress;
  guint weights; /* index of the operand that contains the weights */
  CleaveProduct *product;
  const float *packed; /* packed weights; NULL: each run packs the weights */
  CleavePanels panels;
  gsize at_x, at_y, at_bias, at_packed; /* byte offsets in scratch of the floats of x, the sums, the
                                           bias and the packed weights */
} CleaveUpcast;

/* State of a run. The pointers that are not const point into scratch. */
typedef struct
{
  const CleaveUpcast *plan;
  const CleaveKernelInstance *instance;
  const float *packed, *bias; /* weights and bias that the products read; `bias` NULL: no bias */
  CleaveElement element;      /* element type of the result */
  float *x, *y;               /* floats of x that one band reads, and sums of one band */
  float *at_bias; /* bias, or a row of operand C of a Gemm, as floats: one for each column */
  float *at_packed;
} CleaveUpcastWork;

/* Sets the plan's offsets in scratch. Returns the size of scratch in bytes. */
gsize cleave_upcast_lay_out (CleaveUpcast *plan, gint64 n_columns);

CleaveUpcastWork cleave_upcast_begin (const CleaveUpcast *plan,
                                      const CleaveKernelInstance *instance,
                                      gpointer scratch);
/* Packs the weights at `from` into scratch. */
void cleave_upcast_pack (CleaveUpcastWork *work, gconstpointer from);
/* Computes the sums of a band from the converted x. */
void cleave_upcast_run_band (const CleaveUpcastWork *work, guint band);
/* Converts `n` float sums of a band to the element type of y, and stores them at `y`, `step`
 * elements apart. The first of these sums has index `at` in the band. Has the type
 * CleaveFinishLine, for cleave_pixels_finish(). */
void cleave_upcast_finish (gconstpointer work, gint64 at, gpointer y, gint64 step, gint64 n);

/* Functions for CleaveKernelFamily that the families of upcast convolutions and matrix products
 * share. */
void cleave_upcast_free (gpointer plan);
gboolean cleave_upcast_reports_progress (gconstpointer plan);
gboolean cleave_upcast_reads (gconstpointer plan, guint operand);
